#!/usr/bin/env python3
"""Measures the processor time from the last run of a comparison to its page, part by part.

    benches/report_time.py            the parts
    benches/report_time.py --write    and the table in docs/measurements/performance.md

Every remedy that applies is compared on five seeds of the far laptop, for two seconds each, which
are run before. Then processes write the report: each loads the program that draws, makes two runs
for the timeline, computes statistics and tables, and draws. The figure is that of the process with
the least, since other work on a machine only adds to it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import scale_page

MARK = "report-time"
SEEDS = 5
SETTINGS = {"duration": "2 s"}
ROUNDS = 3
AIM_S = 1.0
PARTS = {
    "import": "loading the program that draws",
    "run": "two runs with probes for the timeline",
    "drawn": "drawing",
    "write_page": "the page from its template",
    "rest": "statistics, tables and sentences",
}


def parts(folder: Path) -> dict[str, float]:
    """Processor time of each part in this process, in seconds, and the number of remedies."""
    import airtcp

    compared = airtcp.compare("far-laptop", ["all"], SEEDS, SETTINGS, out=folder)
    spent: dict[str, float] = {}
    began = time.process_time()
    from airtcp.pages import comparison

    spent["import"] = time.process_time() - began
    for name in ("run", "drawn", "write_page"):
        setattr(comparison, name, timed(getattr(comparison, name), name, spent))
    began = time.process_time()
    comparison.write_report(compared, folder / "report")
    whole = time.process_time() - began
    spent["rest"] = whole - sum(spent[name] for name in ("run", "drawn", "write_page"))
    return spent | {"remedies": len(compared.remedies) - 1}


def timed(work: Callable[..., Any], name: str, spent: dict[str, float]) -> Callable[..., Any]:
    """Adds the processor time of its calls."""

    @wraps(work)
    def call(*given: Any, **named: Any) -> Any:
        began = time.process_time()
        try:
            return work(*given, **named)
        finally:
            spent[name] = spent.get(name, 0.0) + time.process_time() - began

    return call


def table(figures: dict[str, Any]) -> str:
    """The page's table of the figures."""
    spent = {name: figures["parts"][name] for name in PARTS}
    whole = sum(spent.values())
    held = "held" if whole <= AIM_S else "MISSED"
    return "\n".join(
        [
            f"| part, of {figures['remedies']:.0f} remedies | processor time |",
            "|---|---:|",
            *(f"| {PARTS[name]} | {spent[name]:.2f} s |" for name in PARTS),
            f"| all; target: at most {AIM_S:g} s: {held} | {whole:.2f} s |",
        ]
    )


def main() -> None:
    """Measures, prints, and writes with `--write`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the table into its page")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.folder:
        print(json.dumps(parts(arguments.folder)))
        return
    with tempfile.TemporaryDirectory() as name:
        found = []
        for _ in range(1 + ROUNDS):
            command = [sys.executable, __file__, "--folder", name]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            found.append(json.loads(done.stdout.splitlines()[-1]))
    # The first one made the runs.
    least = min(found[1:], key=lambda one: sum(one[name] for name in PARTS))
    remedies = least.pop("remedies")
    figures = {"parts": least, "remedies": remedies, "processor": scale_page.processor()}
    text = table(figures)
    print(text)
    if arguments.write:
        scale_page.write(MARK, figures, text)


if __name__ == "__main__":
    main()
