#!/usr/bin/env python3
"""Runs ``lte_cell.cc`` in all settings that tests compare with, and writes the results.

    .venv/bin/python benches/ns3/lte_cell.py

``tests/oracles/ns3-lte.jsonl`` has one line a run; each names the program by its hash, and a test
fails when the program has changed since. Takes ten minutes on one core with Debian's ns-3.37.

A user who walks meets the same channel in both programs, millisecond by millisecond: the gains are
recorded from airtcp's Rayleigh fading, whose spectrum its own tests compare with Jakes'. At 3 km/h
and 1.8 GHz it has a Doppler frequency of 5 Hz. The six resource blocks of 1.4 MHz fade together, as
they do in the Extended Pedestrian A channel (TS 36.104 annex B.2), whose delays spread over 43 ns.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from airtcp import _core

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import peers  # noqa: E402  (in the parent folder)

SOURCE = HERE / "lte_cell.cc"
RESULTS = HERE.parent.parent / "tests" / "oracles" / "ns3-lte.jsonl"

SEGMENTS = {6: 200, 100: 600}
"""Segments in flight over all flows: more than a round trip holds, so that blocks are full. Groups
of resource blocks divide both carriers; of 25 and 50 ns-3 leaves the last ones unused."""

WALKING_SEGMENTS = 60
WALK_S = 20
SEED = 1
FADING = """
duration = "{seconds} s"
topology = "cell"
[cell]
standard = "lte"
bandwidth_mhz = 1.4
subbands = 1
[cell.radio]
fading = "jakes"
path_loss_exponent = 0
loss_at_1_m_db = 0
transmit_power_dbm = 0
noise_dbm = 0
[flows]
count = {users}
kind = "ping"
"""


def gains(users: int, seconds: float) -> np.ndarray:
    """Gain of each user in each millisecond, a row a millisecond; mean 1."""
    scenario = _core.Scenario.parse(FADING.format(users=users, seconds=seconds))
    run = _core.run(scenario, SEED, probes=["snr"], probe_interval_s=0.001)
    samples = pl.DataFrame(run.samples()).pivot(on="flow", index="time_s", values="snr_db")
    ratios: np.ndarray = 10 ** (samples.sort("time_s").drop("time_s").to_numpy() / 10)
    # Samples begin with the second millisecond.
    return np.vstack([ratios[:1], ratios])


def standing() -> Iterator[dict[str, Any]]:
    """Signals without errors: one and five users, both modes and directions, two carriers."""
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


def by_signal() -> Iterator[dict[str, Any]]:
    """A user at rest, at each ratio of signal to noise."""
    for direction in ("down", "up"):
        for whole_db in range(-8, 32):
            yield {
                "blocks": 6,
                "users": 1,
                "mode": "um",
                "direction": direction,
                "segments": WALKING_SEGMENTS,
                "warm-up": 1,
                "seconds": 1,
                "snr": whole_db + 0.5,
            }


def walking(folder: Path) -> Iterator[dict[str, Any]]:
    """One and five users who walk, at three mean signals; and light traffic of one."""
    for users in (1, 5):
        file = folder / f"gains-{users}.txt"
        np.savetxt(file, gains(users, WALK_S + 0.1), fmt="%.6g")
        for mode in ("am", "um"):
            for direction in ("down", "up"):
                common = {
                    "blocks": 6,
                    "users": users,
                    "mode": mode,
                    "direction": direction,
                    "segments": WALKING_SEGMENTS // users,
                    "warm-up": 0,
                    "seconds": WALK_S,
                }
                for snr in (8, 15, 25):
                    yield common | {"fading": file, "snr": snr}
                if users == 1:
                    yield common | {"fading": file, "snr": 15, "traffic": "light"}
                    yield common | {"traffic": "light"}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        settings = [*standing(), *by_signal(), *walking(Path(made))]
        peers.write_ns3_runs(SOURCE, settings, RESULTS)
