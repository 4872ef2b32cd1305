"""The judge of instruction counts: failures, bounds, and the parser of callgrind's output."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

SOURCE = Path(__file__).parents[2] / "benches" / "instructions.py"


@pytest.fixture(scope="module")
def instructions() -> ModuleType:
    # A script's neighbours are found in its folder.
    sys.path.insert(0, str(SOURCE.parent))
    try:
        return importlib.import_module("instructions")
    finally:
        sys.path.remove(str(SOURCE.parent))


@pytest.mark.parametrize(
    ("now", "passes", "says"),
    [
        (1019.0, True, "held"),
        (1021.0, False, "FAILS: over 2% more"),
        (981.0, True, "held"),
        (979.0, True, "run with --record"),
    ],
)
def test_fails_where_a_count_grew_by_more_than_two_per_cent(
    instructions: ModuleType, now: float, passes: bool, says: str
) -> None:
    judged, (line,) = instructions.judge({"a pipe": 1000.0}, {"a pipe": now})
    assert judged is passes
    assert says in line


def test_one_that_grew_fails_all(instructions: ModuleType) -> None:
    recorded = {"a": 1000.0, "b": 1000.0}
    judged, _ = instructions.judge(recorded, {"a": 1100.0, "b": 900.0})
    assert not judged


def test_a_run_that_nobody_recorded_fails(instructions: ModuleType) -> None:
    judged, (line,) = instructions.judge({}, {"a new pipe": 1.0})
    assert not judged
    assert "--record" in line


def test_costs_are_of_the_place_of_a_line_and_not_of_what_it_calls(
    instructions: ModuleType, tmp_path: Path
) -> None:
    # As valgrind 3.19 writes it: names once, then their numbers; after `calls=` the callee's cost.
    profile = tmp_path / "callgrind.out"
    profile.write_text(
        "events: Ir\n\n"
        "fl=(1) /a/crates/tcp/src/sender/mod.rs\nfn=(1) poll\n10 5\n+1 7\n"
        "fi=(2) /rustc/59807616/library/core/src/option.rs\n90 2\n"
        "fe=(1)\n12 1\n"
        "cfi=(3) /a/crates/link/src/pipe/mod.rs\ncfn=(2) push\ncalls=4 30\n13 400\n14 1\n"
        "fl=(3)\nfn=(2)\n30 100\n* 300\n"
        "totals: 416\n"
    )
    assert dict(instructions.parts.spent(profile)) == {
        "tcp/sender": 14,
        "Rust's library, inlined": 2,
        "link/pipe": 400,
    }


def test_every_recorded_run_is_one_that_is_counted(instructions: ModuleType) -> None:
    record = json.loads(instructions.RECORD.read_text())
    names = [name for run in instructions.COUNTS for name in run.names]
    assert list(record["instructions_a_packet"]) == names


@pytest.mark.parametrize(
    ("segment", "slot", "passes"),
    [
        (1000.0, 1500.0, True),  # more data a slot
        (1500.0, 1000.0, True),  # less data a slot
        (1030.0, 1030.0, False),  # the same data, dearer
        (1010.0, 1010.0, True),
    ],
)
def test_a_cell_takes_more_where_both_of_its_counts_grew(
    instructions: ModuleType, segment: float, slot: float, passes: bool
) -> None:
    recorded = {"LTE, a segment": 1000.0, "LTE, a slot": 1000.0}
    judged, lines = instructions.judge(recorded, {"LTE, a segment": segment, "LTE, a slot": slot})
    assert judged is passes
    assert ("carries another load" in "".join(lines)) is (passes and max(segment, slot) > 1020)
