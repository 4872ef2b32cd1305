"""Paper 2's upload on real packets: kernel senders, an emulated 802.11b, and a gateway in the path.

    python benches/gateway_upload.py            # prints the table
    python benches/gateway_upload.py --write    # and writes it into docs/real.md

    mobile's kernel ── 802.11b and the wired part, emulated ── router with the gateway ── wired host

The gateway stands behind the wired part of the emulated link, so that acknowledgments are held
before they cross it and not behind it. Retries at the mobile are unlimited in every run. Beside
the runs: the same network simulated, and the same with the agent inside the emulated network, where
the paper has it. It needs root and iptables or nft; a run during which the machine did not keep up
is repeated.
"""

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import airtcp
from airtcp.net import find_program
from airtcp.report.marked import put

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "real-gateway-upload.json"
PAGE = ROOT / "docs" / "real.md"
SCENARIO = ROOT / "papers" / "delay-injection" / "upload.toml"
SETTINGS = {
    "wlan.retry_limit": "unlimited",
    "wired.delay": "20 ms",
    "wlan.loss.lost": "15",
}
AGENT = "delay-injection:inf-retry=0"
ATTEMPTS = 4
#: Floors of the sender's timer: Linux's own, under which no spike of this radio is longer than the
#: timer, and one that lets the timer be what the round trips make of it, as ns-2's does.
FLOORS_MS = (200, 20)
#: Bounds wide enough for the paper's own delays.
WIDE = """[hold]
longest = "10 s"
of_round_trip = 1000.0
of_timeout = 1.0
budget = "1 h"
span = "1 h"
"""
#: The router and what runs on it, in the namespace at the far end of the link.
ROUTER = """set -e
ip link add gw1 type veth peer name h0
unshare -n sleep 600 & host=$!
until [ "$(readlink /proc/$host/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.01; done
ip link set h0 netns $host
ip addr add 10.99.0.1/24 dev gw1; ip link set gw1 up
nsenter -t $host -n sh -ec 'ip link set lo up; ip addr add 10.99.0.2/24 dev h0
  ip link set h0 up; ip route add default via 10.99.0.1'
echo 1 > /proc/sys/net/ipv4/ip_forward
{gateway}
nsenter -t $host -n {python} -c "$(cat {folder}/receive.py)" {folder}
if [ -e {folder}/gateway.pid ]; then
  kill -TERM "$(cat {folder}/gateway.pid)"
  while [ ! -s {folder}/report.json ]; do sleep 0.05; done
fi
sleep 600
"""
GATEWAY = """{program} gateway {agent} --mobile link0 --wired gw1 {words} --state {folder} \
 --config {folder}/gateway.toml --report {folder}/report.json 2> {folder}/gateway.log &
echo $! > {folder}/gateway.pid
until grep -q 'the gateway runs' {folder}/gateway.log; do sleep 0.05; done
"""
RECEIVE = """
import socket, sys, time
listener = socket.create_server(("10.99.0.2", 5001))
open(sys.argv[1] + "/ready", "w").close()
connection, _ = listener.accept()
got, begun = 0, time.monotonic()
while block := connection.recv(1 << 16):
    got += len(block)
open(sys.argv[1] + "/got.new", "w").write(f"{got} {time.monotonic() - begun}")
import os
os.rename(sys.argv[1] + "/got.new", sys.argv[1] + "/got")
"""
SEND = """
import os, socket, sys, time
folder, seconds, floor_ms = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
open("/proc/sys/net/ipv4/tcp_rto_min_us", "w").write(str(1000 * floor_ms))
open("/proc/sys/net/ipv4/tcp_congestion_control", "w").write("reno")
open("/proc/sys/net/ipv4/tcp_no_metrics_save", "w").write("1")
while not os.path.exists(folder + "/ready"):
    time.sleep(0.02)
connection = socket.socket()
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 524)
connection.connect(("10.99.0.2", 5001))
connection.settimeout(seconds)
until, block = time.monotonic() + seconds, bytes(4096)
while time.monotonic() < until:
    try:
        connection.send(block)
    except TimeoutError:
        break
wanted = ("TcpRetransSegs", "TcpExtTCPTimeouts", "TcpExtTCPLossUndo", "TcpExtTCPSpuriousRTOs",
          "TcpExtTCPDSACKRecv")
counts = {}
for line in open("/proc/net/netstat").readlines() + open("/proc/net/snmp").readlines():
    words = line.split()
    head = words[0].rstrip(":")
    if words[1].lstrip("-").isdigit():
        counts.update({head + name: int(value) for name, value in zip(names, words[1:])})
    else:
        names = words[1:]
import json
open(folder + "/sender.json", "w").write(json.dumps({name: counts.get(name, 0) for name in wanted}))
connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\\1\\0\\0\\0\\0\\0\\0\\0")
connection.shutdown(socket.SHUT_WR)
until = time.monotonic() + 20
while not os.path.exists(folder + "/got") and time.monotonic() < until:
    time.sleep(0.05)
time.sleep(0.5)
"""


@dataclass(frozen=True)
class Way:
    """A way to have the agent, or none."""

    name: str
    agent: str = ""
    """Within the emulated link."""
    words: str = ""
    """The gateway's, if there is one."""
    bounds: str = ""


def emulated(seed: int, seconds: float, floor_ms: int, way: Way) -> dict[str, Any]:
    """One upload, repeated while the machine does not keep up; the last attempt says so."""
    for _ in range(ATTEMPTS):
        run = attempt(seed, seconds, floor_ms, way)
        if run["in_time"]:
            break
    return run


def attempt(seed: int, seconds: float, floor_ms: int, way: Way) -> dict[str, Any]:
    """One attempt at an upload."""
    with tempfile.TemporaryDirectory(prefix="airtcp-upload-") as name:
        folder = Path(name)
        (folder / "receive.py").write_text(RECEIVE)
        (folder / "send.py").write_text(SEND)
        settings = f'timer_floor = "{floor_ms} ms"\n{way.bounds}'
        (folder / "gateway.toml").write_text(settings)
        program = find_program()
        gateway = GATEWAY.format(program=program, agent=AGENT, words=way.words, folder=name)
        (folder / "router.sh").write_text(
            ROUTER.format(gateway=gateway if way.words else "", python=sys.executable, folder=name)
        )
        call = [program, "emulate", str(SCENARIO), "--seed", str(seed), "--record"]
        call += [str(folder / "record")]
        for key, value in SETTINGS.items():
            call += ["--set", f"{key}={value}"]
        if way.agent:
            call += ["--remedy", way.agent]
        call += ["--server", f"sh {folder}/router.sh", "--"]
        call += [sys.executable, str(folder / "send.py"), name, str(seconds)]
        call.append(str(floor_ms))
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        if not (folder / "got").exists():
            log = folder / "gateway.log"
            more = log.read_text() if log.exists() else ""
            raise SystemExit(f"{call}: {done.stderr}{done.stdout}{more}")
        got, took = (folder / "got").read_text().split()
        summary = json.loads((folder / "record" / "summary.json").read_text())
        report = folder / "report.json"
        return {
            "goodput_bps": int(got) * 8 / float(took),
            "in_time": "did not keep up" not in done.stderr,
            "late": summary.get("lateness", {}),
            "sender": json.loads((folder / "sender.json").read_text()),
            "report": json.loads(report.read_text()) if report.exists() else None,
        }


def simulated(
    seeds: Sequence[int], seconds: float, floor_ms: int, remedy: str
) -> list[dict[str, Any]]:
    """The same in virtual time, with a Linux sender of Reno's."""
    settings: dict[str, Any] = {
        **SETTINGS,
        "duration": f"{seconds} s",
        "tcp.profile": "linux-reno",
        "tcp.mss": 512,
        "tcp.min_rto": f"{floor_ms} ms",
    }
    rows = []
    for seed in seeds:
        summary = airtcp.run(SCENARIO, seed, settings, [remedy] if remedy else []).summary
        rows.append(
            {
                "goodput_bps": summary["goodput_bps"],
                "timeouts": sum(flow["timeouts"] for flow in summary["flows"]),
                "spurious_timeouts": sum(flow["timeouts_spurious"] for flow in summary["flows"]),
                "retransmissions": sum(flow["segments_retransmitted"] for flow in summary["flows"]),
            }
        )
    return rows


WAYS = (
    Way("as it is"),
    Way("agent within the link", agent=AGENT),
    Way("gateway, observe", words="--observe", bounds=WIDE),
    Way("gateway, default bounds", words="--apply"),
    Way("gateway, the paper's delays", words="--apply", bounds=WIDE),
)


def table(run: dict[str, Any]) -> str:
    """The page's table."""
    lines = [
        f"Kernel {run['kernel']}, {run['seeds']} seeds of {run['seconds']:g} s: means.",
        "",
        "| timer's floor | | goodput, Mbit/s | timeouts | undone | segments retransmitted "
        "| ACKs delayed | by, ms | timeouts forecast: as it is, with | runs in time |",
        "|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for floor, ways in run["floors"].items():
        for name, rows in ways["simulated"].items():
            lines.append(
                f"| {floor} ms | simulated, {name} | {mean(rows, 'goodput_bps') / 1e6:.3f} "
                f"| {mean(rows, 'timeouts'):.1f} | {mean(rows, 'spurious_timeouts'):.1f} "
                f"| {mean(rows, 'retransmissions'):.1f} | | | | |"
            )
        lines += [kernel_line(floor, name, rows) for name, rows in ways["kernel"].items()]
    return "\n".join(lines)


def kernel_line(floor: str, name: str, rows: Sequence[dict[str, Any]]) -> str:
    """The line of one way on the kernel."""
    senders = [row["sender"] for row in rows]
    undone = fmean(one["TcpExtTCPLossUndo"] + one["TcpExtTCPSpuriousRTOs"] for one in senders)
    reports = [row["report"] for row in rows if row["report"]]
    expected = [one["expected"] for one in reports if one["expected"]]
    delayed, held, forecast = "", "", ""
    if reports:
        count = sum(one["did"]["delayed"] for one in reports)
        delayed = f"{count / len(reports):.0f}"
        held = f"{sum(one['did']['held_ns'] for one in reports) / max(count, 1) / 1e6:.1f}"
    if expected:
        now, then = (mean(expected, f"timeouts_{when}") for when in ("now", "with"))
        forecast = f"{now:.1f}, {then:.1f}"
    in_time = sum(row["in_time"] for row in rows)
    return (
        f"| {floor} ms | kernel, {name} | {mean(rows, 'goodput_bps') / 1e6:.3f} "
        f"| {mean(senders, 'TcpExtTCPTimeouts'):.1f} | {undone:.1f} "
        f"| {mean(senders, 'TcpRetransSegs'):.1f} | {delayed} | {held} | {forecast} "
        f"| {in_time} of {len(rows)} |"
    )


def mean(rows: Sequence[dict[str, Any]], key: str) -> float:
    """The mean of a column."""
    return fmean(row[key] for row in rows)


def main() -> None:
    """Measures, prints, and writes if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write docs/real.md's table")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=20.0)
    arguments = parser.parse_args()
    seeds = range(1, arguments.seeds + 1)
    seconds = arguments.seconds
    run: dict[str, Any] = {
        "kernel": platform.release(),
        "seeds": arguments.seeds,
        "seconds": seconds,
        "floors": {
            str(floor): {
                "simulated": {
                    "as it is": simulated(seeds, seconds, floor, ""),
                    "with delay injection": simulated(seeds, seconds, floor, AGENT),
                },
                "kernel": {way.name: [] for way in WAYS},
            }
            for floor in FLOORS_MS
        },
    }
    # By turns, so that what else the machine does meets all alike.
    for seed in seeds:
        for floor in FLOORS_MS:
            for way in WAYS:
                row = emulated(seed, seconds, floor, way)
                run["floors"][str(floor)]["kernel"][way.name].append(row)
                print(seed, floor, way.name, row, file=sys.stderr, flush=True)
    print(table(run))
    if arguments.write:
        DATA.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
        text = put(PAGE.read_text("utf-8"), "gateway-upload", table(run))
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
