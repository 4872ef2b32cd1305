#!/usr/bin/env python3
"""Runs ``disciplines.cc`` in all settings that tests compare with, and writes the results.

    benches/ns3/disciplines.py

``tests/oracles/ns3-disciplines.jsonl`` has one line a run; each names the program by its hash, and
a test fails when the program has changed since. Takes a minute with Debian's ns-3.37.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import peers  # noqa: E402  (beside the folder of this program)

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


def main() -> None:
    """Runs them all."""
    program = peers.ns3_program("disciplines")
    digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    lines = []
    for one in settings():
        flags = [f"--{key}={value}" for key, value in one.items()]
        lines.append({**peers.printed([str(program), *flags]), "program": digest})
        print(json.dumps(lines[-1]), file=sys.stderr)
    RESULTS.write_text("".join(json.dumps(line) + "\n" for line in lines))


if __name__ == "__main__":
    main()
