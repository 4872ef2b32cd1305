#!/usr/bin/env python3
"""Measures each congestion control's time per packet on the lossy pipe, relative to NewReno.

Run it with the project's Python: ``.venv/bin/python benches/controls.py``.
NewReno has SACK. All take turns, so that other load on the machine affects all alike; the median
ratio is shown.
"""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path

from airtcp import _core

SCENARIO = Path(__file__).resolve().parents[1] / "scenarios" / "lossy-pipe.toml"
REPETITIONS = 7
SECONDS = 600
REFERENCE = "sack"
# The name, the profile, and remedies on top.
STACKS = {
    "newreno": ("newreno", ""),
    "sack": ("sack", ""),
    "sack+cubic": ("sack", "cubic"),
    "sack+cubic+hystart-plus-plus": ("sack", "cubic+hystart-plus-plus"),
    "sack+westwood": ("sack", "westwood"),
    "sack+veno": ("sack", "veno"),
    "sack+jersey": ("sack", "jersey"),
    "sack+bbr": ("sack", "bbr"),
    "sack+bbr-v3": ("sack", "bbr-v3"),
    "sack+pacing": ("sack", "pacing"),
    "sack+newzag": ("sack", "newzag"),
    "sack+rack-tlp": ("sack", "rack-tlp"),
    "sack+rack-tlp+prr": ("sack", "rack-tlp+prr"),
    "sack+eifel+f-rto+dsack-undo": ("sack", "eifel+f-rto+dsack-undo"),
    "linux-2.4": ("linux-2.4", ""),
    "linux": ("linux", ""),
    "linux-reno": ("linux-reno", ""),
    "linux-bbr": ("linux-bbr", ""),
}


def nanoseconds_a_packet(scenario: _core.Scenario, seed: int) -> float:
    """Of one run, a packet being a segment sent."""
    start = time.perf_counter_ns()
    result = _core.run(scenario, seed)
    took = time.perf_counter_ns() - start
    (flow,) = json.loads(result.summary())["flows"]
    return took / float(flow["segments_sent"])


def main() -> None:
    """Prints a table in Markdown."""
    print("| stack | no loss | 1 % loss |")
    print("|---|---:|---:|")
    columns = []
    for loss in ("0", "0.01"):
        scenarios = {}
        for name, (profile, remedies) in STACKS.items():
            settings = [
                ("tcp.profile", profile),
                ("link.loss.rate", loss),
                ("duration", f"{SECONDS} s"),
            ]
            scenario = _core.Scenario.load(SCENARIO, settings)
            scenarios[name] = scenario.with_remedies(remedies) if remedies else scenario
        ratios: dict[str, list[float]] = {name: [] for name in STACKS}
        for seed in range(1, REPETITIONS + 1):
            times = {
                name: nanoseconds_a_packet(scenario, seed) for name, scenario in scenarios.items()
            }
            for name, took in times.items():
                ratios[name].append(took / times[REFERENCE])
        columns.append({name: statistics.median(values) for name, values in ratios.items()})
    for name in STACKS:
        print(f"| {name} | {columns[0][name]:.2f} | {columns[1][name]:.2f} |")


if __name__ == "__main__":
    main()
