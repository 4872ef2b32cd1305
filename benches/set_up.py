#!/usr/bin/env python3
"""Measures a study cell's overhead on top of its simulation, in processor time.

    .venv/bin/python benches/set_up.py

The overhead is listed by layer. Each run ends after 1 ms, before the handshake's first segment
has arrived. The core without Python: `cargo run --release -p airtcp-throughput --bin set-up`.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from airtcp import _core
from airtcp.comparison.comparison_plan import comparison_plan
from airtcp.comparison.execute import execute
from airtcp.core.loading import load_scenario

CELLS, ROUNDS = 4000, 5
SHORT = {"duration": "1 ms"}


def least(work: Callable[[], object]) -> float:
    """Microseconds a cell on the processor, of the best round: other work only adds to it."""
    spent = []
    for _ in range(ROUNDS):
        began = time.process_time()
        work()
        spent.append(1e6 * (time.process_time() - began) / CELLS)
    return min(spent)


def main() -> None:
    """Prints a line for each."""
    scenario = load_scenario("lossy-pipe", SHORT)
    seeds = [(scenario, seed) for seed in range(CELLS)]
    plan = comparison_plan("lossy-pipe", ["sack"], CELLS // 2, SHORT).plan

    def stored() -> None:
        with tempfile.TemporaryDirectory() as folder:
            execute(plan, out=Path(folder), jobs=1)

    for what, work in (
        ("run, from Python", lambda: _core.run_many(seeds, 1)),
        (
            "and its summary as JSON",
            lambda: [result.summary() for result in _core.run_many(seeds, 1)],
        ),
        ("run as a cell of a plan", lambda: execute(plan, jobs=1)),
        ("and stored", stored),
    ):
        print(f"{least(work):6.1f} us  {what}")


if __name__ == "__main__":
    main()
