#!/usr/bin/env python3
"""Runs ``disciplines.cc`` in all settings that tests compare with, and writes the results.

    benches/ns3/disciplines.py

``tests/oracles/ns3-disciplines.jsonl`` has one line a run; each names the program by its hash, and
a test fails when the program has changed since. Takes a minute with Debian's ns-3.37.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import peers  # noqa: E402  (in the parent folder)

SOURCE = HERE / "disciplines.cc"
RESULTS = HERE.parent.parent / "tests" / "oracles" / "ns3-disciplines.jsonl"

DISCIPLINES = ("codel", "fq-codel", "pie", "cobalt")
SEEDS = range(1, 6)
"""Seeds of PIE and of Cobalt's BLUE, which are random; the others are deterministic."""


def settings() -> Iterator[dict[str, Any]]:
    """Datagrams at half as much again as the link's rate and a twentieth, and one transfer."""
    for discipline in DISCIPLINES:
        for seed in SEEDS if discipline in ("pie", "cobalt") else (1,):
            for rate in (10.5, 12, 15):
                yield {"discipline": discipline, "traffic": "udp", "rate": rate, "seed": seed}
            for delay in (10, 25, 50):
                yield {"discipline": discipline, "traffic": "tcp", "delay": delay, "seed": seed}


if __name__ == "__main__":
    peers.write_ns3_runs(SOURCE, settings(), RESULTS)
