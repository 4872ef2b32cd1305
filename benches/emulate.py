"""Measures how fast and how punctual the emulator is: rates, round trips, its share of a core.

    python benches/emulate.py               # prints the table
    python benches/emulate.py --write       # and writes it into docs/measurements/real.md

Needs iperf3, ping and network namespaces; run it on an otherwise idle machine. The emulator is one
thread: its share of a core includes the kernel's work on its behalf, which is the TCP of the hosts
that receive its packets.
"""

import argparse
import json
import os
import platform
import re
import runpy
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from airtcp.core.net import find_program

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "measurements" / "real-speed.json"
PAGE = ROOT / "docs" / "measurements" / "real.md"
SECONDS = 10
TICKS = os.sysconf("SC_CLK_TCK")
#: The server may not listen yet.
IPERF = (
    "until iperf3 -c $AIRTCP_SERVER -n 1K >/dev/null 2>&1; do sleep 0.05; done; "
    "iperf3 -c $AIRTCP_SERVER -t {seconds} -O 1 {more} -J"
)

#: Name, scenario, settings, iperf3's options.
LINKS = (
    (
        "pipe, 1 Gbit/s, 5 ms",
        "lossy-pipe",
        ("link.rate=1 Gbit/s", "link.delay=5 ms", "link.queue.packets=2000"),
        "",
    ),
    (
        "pipe, 10 Gbit/s, 0.1 ms",
        "lossy-pipe",
        ("link.rate=10 Gbit/s", "link.delay=100 us", "link.queue.packets=5000"),
        "",
    ),
    ("802.11b, upload", "wlan-upload", (), ""),
    (
        "802.11a, 54 Mbit/s, upload",
        "wlan-upload",
        ("wlan.standard=802.11a", "wlan.rate=54 Mbit/s", "wlan.basic_rate=6 Mbit/s"),
        "",
    ),
    ("cell, download", "cell", (), "-R"),
    ("ARQ, download", "arq-download", ("flows.count=1",), "-R"),
)


@dataclass
class Speed:
    """Measurements over one link."""

    link: str
    mbps: float
    packets_per_s: float
    core_share: float
    late: str


def emulate(
    scenario: str, settings: tuple[str, ...], server: str | None, command: str
) -> tuple[str, str, float]:
    """Runs a command over a link: its output, the summary, the emulator's share of a core."""
    call = [find_program(), "emulate", str(ROOT / "scenarios" / f"{scenario}.toml")]
    for setting in settings:
        call += ["--set", setting]
    call += ["--server", server or "true", "--", "sh", "-c", command]
    begun = time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as summary:
        process = subprocess.Popen(call, stdout=out, stderr=summary)
        ticks = 0
        while process.poll() is None:
            # Of this process only: its children are counted elsewhere.
            stat = Path(f"/proc/{process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
            ticks = int(stat[11]) + int(stat[12])
            time.sleep(0.05)
        elapsed = time.monotonic() - begun
        out.seek(0)
        summary.seek(0)
        if process.returncode:
            raise SystemExit(f"{call}: {summary.read()}{out.read()}")
        return out.read(), summary.read(), ticks / TICKS / elapsed


def speed(name: str, scenario: str, settings: tuple[str, ...], more: str) -> Speed:
    """Bulk TCP over a link, Reno and CUBIC being as the machine has them."""
    command = IPERF.format(seconds=SECONDS, more=more)
    out, summary, share = emulate(scenario, settings, "iperf3 -s >/dev/null", command)
    result = json.loads(out[out.index("{") :])["end"]["sum_received"]
    counts = re.search(r"up (\d+) of \d+ packets, down (\d+) of", summary)
    late = re.search(r"late by (.*)", summary)
    assert counts, summary
    assert late, summary
    packets = sum(int(count) for count in counts.groups()) / (SECONDS + 1)
    return Speed(name, result["bits_per_second"] / 1e6, packets, share, late[1])


def round_trip() -> str:
    """A ping over 25 ms each way, as ping summarizes it."""
    out, _, _ = emulate("lossy-pipe", (), None, "ping -q -c 100 -i 0.05 $AIRTCP_SERVER")
    found = re.search(r"rtt (min/avg/max/mdev) = (\S+) ms", out)
    assert found, out
    return found[2]


def table(run: dict[str, Any]) -> str:
    """The page's table."""
    lines = [
        "| link | goodput, Mbit/s | packets/s, both ways | of a core | packets left |",
        "|---|---:|---:|---:|---|",
    ]
    lines += [
        f"| {one['link']} | {one['mbps']:.2f} | {one['packets_per_s']:,.0f} "
        f"| {100 * one['core_share']:.0f} % | {one['late']} late |"
        for one in run["links"]
    ]
    low, mean, high, deviation = run["ping"].split("/")
    text = (
        f"Kernel {run['kernel']}, {run['cores']} cores. A ping over 25 ms each way takes {mean} ms "
        f"(at least {low}, at most {high}, mean deviation {deviation}) in a hundred."
    )
    return text + "\n\n" + "\n".join(lines)


def main() -> None:
    """Measures, prints, and writes the table with `--write`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the table into its page")
    arguments = parser.parse_args()
    run: dict[str, Any] = {
        "kernel": platform.release(),
        "cores": os.cpu_count(),
        "ping": round_trip(),
        "links": [],
    }
    for link in LINKS:
        found = speed(*link)
        print(found, file=sys.stderr, flush=True)
        run["links"].append(asdict(found))
    print(table(run))
    if arguments.write:
        DATA.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
        put = runpy.run_path(str(ROOT / "pages" / "write_real.py"))["put"]
        PAGE.write_text(put(PAGE.read_text("utf-8"), "speed", table(run)), encoding="utf-8")


if __name__ == "__main__":
    main()
