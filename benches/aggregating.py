#!/usr/bin/env python3
"""Counts the instructions of a delivered packet over aggregating Wi-Fi, here and in ns-3.

    benches/aggregating.py

TCP uploads by one and by twenty stations over 802.11n at 65 Mbit/s, as `tests/oracles` compares
their goodput. Callgrind counts instructions inside both event loops, independently of other load
on the machine. Debian's ns-3 is built with -O2 and without assertions.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import instructions
import parts
import peers

SECONDS = 3
SEGMENTS = 300
"""Of all flows together in flight: less than a queue holds."""

SCENARIO = """
duration = "{seconds} s"
topology = "wlan"
[wlan]
standard = "802.11n"
mcs = 7
spatial_streams = 1
channel_width = "20 MHz"
guard_interval = "800 ns"
scheduler = "fifo"
queue.packets = 500
collision_heard = "energy"
[wlan.aggregation]
window = 64
[wired]
rate = "1 Gbit/s"
delay = "10 ms"
queue.packets = 10000
[flows]
count = {stations}
direction = "up"
start_spread = "50 ms"
[tcp]
profile = "sack"
initial_window = 10
max_window = {segments}
min_rto = "200 ms"
window_growth = "acknowledgments"
delayed_ack = {{ segments = 2, timeout = "100 ms" }}
"""


def counted(function: str, command: list[str]) -> tuple[float, dict[str, Any]]:
    """Instructions per delivered packet, and the program's output."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        valgrind = ["valgrind", "--tool=callgrind", "--quiet", f"--toggle-collect={function}"]
        result = peers.printed([*valgrind, f"--callgrind-out-file={out}", *command])
        total = parts.spent(out).total()
    if total == 0:
        raise SystemExit(f"aggregating: nothing was counted: is {function} still its name?")
    return total / float(result["delivered_packets"]), result


def ours(binaries: Path, stations: int, folder: Path) -> tuple[float, dict[str, Any]]:
    """The same for this engine."""
    scenario = folder / "aggregating.toml"
    settings = {"seconds": SECONDS, "stations": stations, "segments": SEGMENTS // stations}
    scenario.write_text(SCENARIO.format_map(settings))
    command = [str(binaries / "lossy-pipe"), f"--scenario={scenario}"]
    return counted(instructions.FUNCTION, command)


def theirs(program: Path, stations: int) -> tuple[float, dict[str, Any]]:
    """The same for ns-3."""
    flags = {"stations": stations, "segments": SEGMENTS // stations, "seconds": SECONDS}
    common = ["--traffic=tcp", "--direction=up"]
    command = [str(program), *common, *(f"--{key}={value}" for key, value in flags.items())]
    return counted("ns3::Simulator::Run()", command)


def main() -> None:
    """Prints a row for each number of stations."""
    binaries = instructions.build(peers.ROOT)
    program = peers.ns3_program("wlan_aggregating")
    print("| stations | airtcp | ns-3.37 | ratio | goodput, Mbit/s | ns-3.37 |")
    print("|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for stations in (1, 20):
            own, run = ours(binaries, stations, Path(folder))
            other, peer = theirs(program, stations)
            goodputs = [each["goodput_bps"] / 1e6 for each in (run, peer)]
            print(
                f"| {stations} | {own:,.0f} | {other:,.0f} | {other / own:.0f} | "
                f"{goodputs[0]:.1f} | {goodputs[1]:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    try:
        main()
    except (instructions.AbsentError, peers.AbsentError) as reason:
        sys.exit(f"aggregating: SKIPPED: {reason}")
    except (subprocess.CalledProcessError, json.JSONDecodeError) as reason:
        sys.exit(f"aggregating: {reason}")
