#!/usr/bin/env python3
"""Runs ``lte_cell.cc`` in all settings that tests compare with, and writes the results.

    benches/ns3/lte_cell.py

``tests/oracles/ns3-lte.jsonl`` has one line a run; each names the program by its hash, and a test
fails when the program has changed since. Takes a minute on one core with Debian's ns-3.37.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import peers  # noqa: E402  (in the parent folder)

SOURCE = HERE / "lte_cell.cc"
RESULTS = HERE.parent.parent / "tests" / "oracles" / "ns3-lte.jsonl"

SEGMENTS = {6: 200, 100: 600}
"""Segments in flight over all flows: more than a round trip holds, so that blocks are full. Groups
of resource blocks divide both carriers; of 25 and 50 ns-3 leaves the last ones unused."""


def settings() -> Iterator[dict[str, Any]]:
    """One and five users, both modes of RLC and directions, two carriers; pings over idle ones."""
    for blocks, segments in SEGMENTS.items():
        for users in (1, 5):
            for mode in ("am", "um"):
                for direction in ("down", "up"):
                    yield {
                        "blocks": blocks,
                        "users": users,
                        "mode": mode,
                        "direction": direction,
                        "segments": segments // users,
                        "warm-up": 1,
                        "seconds": 3 if blocks < 100 else 1,
                    }
        yield {"blocks": blocks, "mode": "um", "traffic": "ping", "warm-up": 1, "seconds": 4}


if __name__ == "__main__":
    peers.write_ns3_runs(SOURCE, settings(), RESULTS)
