#!/usr/bin/env python3
"""Measures a cell of 200 stations and 2000 flows: processor time a simulated second, and memory.

    benches/many_stations.py            prints the table, with a smaller cell for comparison
    benches/many_stations.py --write    and writes it into docs/measurements/performance.md

The scenario is `crowded-cell` with 802.11ax: flows share the stations, every second station
uploads, and the others download. A process runs each cell, twice for two durations: their
difference is without the set-up. The time is that of the process with the least, since other work
on a machine only adds to it. Memory is the growth of the peak resident set by a run.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any

import scale_page

MARK = "many-stations"
CELLS = ((20, 200), (200, 2000))
SHORT_S, LONG_S = 2, 10
ROUNDS = 5


@dataclass(frozen=True)
class Cell:
    """A cell that was run."""

    stations: int
    flows: int
    segments: float
    """Segments sent a simulated second."""
    cpu_s: float
    """Processor time a simulated second, in seconds."""
    set_up_s: float
    """The rest, before and after."""
    peak_mb: float


def run(stations: int, flows: int, seconds: int) -> tuple[float, int, float]:
    """Processor time of a run in this process, its segments, and its memory in megabytes."""
    from airtcp import _core
    from airtcp.core.loading import load_scenario

    settings = {
        "wlan.standard": "802.11ax",
        "wlan.stations": stations,
        "flows.count": flows,
        "duration": f"{seconds} s",
    }
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    result = _core.run(load_scenario("crowded-cell", settings), 1)
    spent = time.process_time() - began
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    sent = sum(flow["segments_sent"] for flow in json.loads(result.summary())["flows"])
    return spent, sent, peak


def measured(stations: int, flows: int) -> Cell:
    """Runs a cell in processes."""

    def least(seconds: int) -> tuple[float, int, float]:
        found = []
        for _ in range(ROUNDS):
            words = (str(stations), str(flows), str(seconds))
            command = [sys.executable, __file__, "--run", *words]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            found.append(json.loads(done.stdout))
        spent, sent, peak = min(found)
        return spent, sent, peak

    short, long = least(SHORT_S), least(LONG_S)
    more = LONG_S - SHORT_S
    each_s = (long[0] - short[0]) / more
    set_up_s = max(short[0] - SHORT_S * each_s, 0.0)
    return Cell(stations, flows, (long[1] - short[1]) / more, each_s, set_up_s, long[2])


def table(figures: dict[str, Any]) -> str:
    """The page's table of the figures: a row for each cell."""
    cells = [Cell(**one) for one in figures["cells"]]
    return "\n".join(
        [
            "| stations | flows | segments a second | processor time a simulated second "
            "| set-up | memory |",
            "|---:|---:|---:|---:|---:|---:|",
            *(
                f"| {one.stations} | {one.flows:,} | {one.segments:,.0f} | {one.cpu_s:.3f} s "
                f"| {one.set_up_s:.2f} s | {one.peak_mb:.0f} MB |"
                for one in cells
            ),
        ]
    )


def main() -> None:
    """Measures, prints, and writes with `--write`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the table into its page")
    parser.add_argument("--run", type=int, nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        print(json.dumps(run(*arguments.run)))
        return
    figures = {
        "cells": [asdict(measured(stations, flows)) for stations, flows in CELLS],
        "processor": scale_page.processor(),
    }
    text = table(figures)
    print(text)
    if arguments.write:
        scale_page.write(MARK, figures, text)


if __name__ == "__main__":
    main()
