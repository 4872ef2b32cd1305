"""The judge of instruction counts: what fails, what is held, and what is read from callgrind."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

SOURCE = Path(__file__).parents[2] / "benches" / "instructions.py"


@pytest.fixture(scope="module")
def instructions() -> ModuleType:
    spec = importlib.util.spec_from_file_location("instructions", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["instructions"] = module
    spec.loader.exec_module(module)
    return module


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


def test_reads_the_sum_that_callgrind_writes(instructions: ModuleType) -> None:
    # The last lines of a file by valgrind 3.19.
    assert instructions.instructions_in("fn=(12)\n1 2\n\ntotals: 353000123\n") == 353_000_123


def test_says_so_where_callgrind_counted_nothing(instructions: ModuleType) -> None:
    with pytest.raises(SystemExit, match="counted nothing"):
        instructions.instructions_in("events: Ir\n\ntotals: 0\n")


def test_every_recorded_run_is_one_that_is_counted(instructions: ModuleType) -> None:
    record = json.loads(instructions.RECORD.read_text())
    assert list(record["instructions_a_packet"]) == [run.name for run in instructions.COUNTS]
