"""Paper 2's upload on real packets: kernel senders, an emulated 802.11b, and a gateway in the path.

    python benches/gateway_upload.py            # prints the table
    python benches/gateway_upload.py --write    # and writes it into docs/measurements/real.md

    mobile's kernel ── 802.11b and the wired part, emulated ── router with the gateway ── wired host

The gateway is after the wired part of the emulated link, so that acknowledgments are held before
they cross it. Retries at the mobile are unlimited in every run. The runs are compared with the same
network simulated, and with the agent inside the emulated network, as in the paper. In the paper's
setting Linux has no needless timeout; in two others it has some: with a window of four segments, as
small stacks have it, its timer is hardly longer than the minimum round trip. It needs root and
nft; a run during which the machine did not keep up is repeated.
"""

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import airtcp
from airtcp.core.net import find_program
from airtcp.pages.marked import put

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "measurements" / "real-gateway-upload.json"
PAGE = ROOT / "docs" / "measurements" / "real.md"
SCENARIO = ROOT / "papers" / "delay-injection" / "upload.toml"
SETTINGS = {"wlan.retry_limit": "unlimited", "wired.delay": "20 ms"}
AGENT = "delay-injection:inf-retry=0"
ATTEMPTS = 4
#: Bounds wide enough for the paper's delays.
WIDE = """[hold]
longest = "10 s"
of_round_trip = 1000.0
of_timeout = 1.0
budget = "1 h"
span = "1 h"
"""
#: The router and its programs, in the namespace at the far end of the link.
#: Linux's bytes for timestamps in each segment.
STAMPS = 12
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
nsenter -t $host -n {python} -c "$(cat {folder}/receive.py)" {folder} {window}
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
if int(sys.argv[2]):
    # The kernel advertises about the requested size: half of the doubled buffer.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, int(sys.argv[2]))
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
folder, seconds, floor_ms, mss = sys.argv[1], float(sys.argv[2]), *map(int, sys.argv[3:])
open("/proc/sys/net/ipv4/tcp_rto_min_us", "w").write(str(1000 * floor_ms))
open("/proc/sys/net/ipv4/tcp_congestion_control", "w").write("reno")
open("/proc/sys/net/ipv4/tcp_no_metrics_save", "w").write("1")
while not os.path.exists(folder + "/ready"):
    time.sleep(0.02)
connection = socket.socket()
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, mss)
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
class Setting:
    """A radio and a sender."""

    damaged: int
    """Frames of each hundred."""
    mss: int
    """Bytes of data in a segment."""
    window: int
    """Maximum number of segments in flight; 0 for no limit."""
    floor_ms: int
    """The floor of the sender's timer; Linux's default is 200."""

    def __str__(self) -> str:
        """Its name on the page."""
        window = f"a window of {self.window}" if self.window else "no bound on the window"
        return (
            f"{self.damaged} of 100 frames damaged, segments of {self.mss} bytes, {window}, "
            f"timer's floor {self.floor_ms} ms"
        )


#: The paper's setting with Linux's timer; then two in which Linux has needless timeouts as it is.
SETS = (
    Setting(damaged=15, mss=512, window=0, floor_ms=200),
    Setting(damaged=15, mss=1448, window=4, floor_ms=20),
    Setting(damaged=40, mss=1448, window=4, floor_ms=200),
)


@dataclass(frozen=True)
class Way:
    """A deployment of the agent; both fields are empty without it."""

    name: str
    agent: str = ""
    """Within the emulated link."""
    words: str = ""
    """The gateway's, if there is one."""
    bounds: str = ""


def emulated(seed: int, seconds: float, setting: Setting, way: Way) -> dict[str, Any]:
    """One upload, repeated while the machine does not keep up; the last one is marked so."""
    for _ in range(ATTEMPTS):
        run = attempt(seed, seconds, setting, way)
        if run["in_time"]:
            break
    return run


def attempt(seed: int, seconds: float, setting: Setting, way: Way) -> dict[str, Any]:
    """One attempt at an upload."""
    with tempfile.TemporaryDirectory(prefix="airtcp-upload-") as name:
        folder = Path(name)
        (folder / "receive.py").write_text(RECEIVE)
        (folder / "send.py").write_text(SEND)
        settings = f'timer_floor = "{setting.floor_ms} ms"\n{way.bounds}'
        (folder / "gateway.toml").write_text(settings)
        program = find_program()
        gateway = GATEWAY.format(program=program, agent=AGENT, words=way.words, folder=name)
        router = ROUTER.format(
            gateway=gateway if way.words else "",
            python=sys.executable,
            folder=name,
            window=setting.window * setting.mss,
        )
        (folder / "router.sh").write_text(router)
        call = [program, "emulate", str(SCENARIO), "--seed", str(seed), "--record"]
        call += [str(folder / "record")]
        for key, value in {**SETTINGS, "wlan.loss.lost": setting.damaged}.items():
            call += ["--set", f"{key}={value}"]
        if way.agent:
            call += ["--remedy", way.agent]
        call += ["--server", f"sh {folder}/router.sh", "--"]
        call += [sys.executable, str(folder / "send.py"), name, str(seconds)]
        call += [str(setting.floor_ms), str(setting.mss + STAMPS)]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        if not (folder / "got").exists():
            log = folder / "gateway.log"
            more = log.read_text() if log.exists() else ""
            raise SystemExit(f"{call}: {done.stderr}{done.stdout}{more}")
        got, took = (folder / "got").read_text().split()
        report = folder / "report.json"
        return {
            "goodput_bps": int(got) * 8 / float(took),
            "in_time": "did not keep up" not in done.stderr,
            "sender": json.loads((folder / "sender.json").read_text()),
            "report": kept(json.loads(report.read_text())) if report.exists() else None,
        }


def kept(report: dict[str, Any]) -> dict[str, Any]:
    """The fields of a gateway's report that the table needs."""
    did = {key: report["did"][key] for key in ("delayed", "held_ns", "longest_ns")}
    return {"did": did, "expected": report["expected"]}


def simulated(
    seeds: Sequence[int], seconds: float, setting: Setting, remedy: str
) -> list[dict[str, Any]]:
    """The same in virtual time, with a Linux sender of Reno's."""
    settings: dict[str, Any] = {
        **SETTINGS,
        "duration": f"{seconds} s",
        "wlan.loss.lost": setting.damaged,
        "tcp.profile": "linux-reno",
        "tcp.mss": setting.mss,
        "tcp.min_rto": f"{setting.floor_ms} ms",
    }
    if setting.window:
        settings["tcp.max_window"] = setting.window
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
        f"Kernel {run['kernel']}, {run['seeds']} seeds of {run['seconds']:g} s: means, and of the "
        "goodput the standard error.",
    ]
    for number, ways in enumerate(run["settings"]):
        lines += [
            "",
            f"{chr(ord('A') + number)}. {ways['name'].capitalize()}:",
            "",
            "| | goodput, Mbit/s | timeouts | needless | segments retransmitted | ACKs delayed "
            "| by, ms | timeouts forecast: as it is, with | runs in time |",
            "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
        ]
        for name, rows in ways["simulated"].items():
            lines.append(
                f"| simulated, {name} | {goodput(rows)} "
                f"| {mean(rows, 'timeouts'):.1f} | {mean(rows, 'spurious_timeouts'):.1f} "
                f"| {mean(rows, 'retransmissions'):.1f} | | | | |"
            )
        lines += [kernel_line(name, rows) for name, rows in ways["kernel"].items()]
    return "\n".join(lines)


def kernel_line(name: str, rows: Sequence[dict[str, Any]]) -> str:
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
        f"| kernel, {name} | {goodput(rows)} "
        f"| {mean(senders, 'TcpExtTCPTimeouts'):.1f} | {undone:.1f} "
        f"| {mean(senders, 'TcpRetransSegs'):.1f} | {delayed} | {held} | {forecast} "
        f"| {in_time} of {len(rows)} |"
    )


def goodput(rows: Sequence[dict[str, Any]]) -> str:
    """Mean and standard error in Mbit/s."""
    values = [row["goodput_bps"] / 1e6 for row in rows]
    error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return f"{fmean(values):.3f} ± {error:.3f}"


def mean(rows: Sequence[dict[str, Any]], key: str) -> float:
    """The mean of a column."""
    return fmean(row[key] for row in rows)


def main() -> None:
    """Measures, prints, and writes the table with `--write`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the table into its page")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--jobs", type=int, default=len(WAYS), help="uploads side by side")
    arguments = parser.parse_args()
    seeds = range(1, arguments.seeds + 1)
    seconds = arguments.seconds
    run: dict[str, Any] = {
        "kernel": platform.release(),
        "seeds": arguments.seeds,
        "seconds": seconds,
        "settings": [
            {
                **asdict(setting),
                "name": str(setting),
                "simulated": {
                    "as it is": simulated(seeds, seconds, setting, ""),
                    "with delay injection": simulated(seeds, seconds, setting, AGENT),
                },
                "kernel": {way.name: [] for way in WAYS},
            }
            for setting in SETS
        ],
    }
    # All variants of a seed together, so that other load on the machine affects all alike.
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for seed in seeds:
            for setting, found in zip(SETS, run["settings"], strict=True):
                runs = [pool.submit(emulated, seed, seconds, setting, way) for way in WAYS]
                for way, one in zip(WAYS, runs, strict=True):
                    found["kernel"][way.name].append(one.result())
                    print(seed, setting, way.name, one.result(), file=sys.stderr, flush=True)
    print(table(run))
    if arguments.write:
        DATA.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
        text = put(PAGE.read_text("utf-8"), "gateway-upload", table(run))
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
