"""The captures of another stack in docs/measurements/diagnose.md are of its program, and judged."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "captures"))

from answers import KINDS, judged
from cases import halves
from other_stack import CASES, digest

FOUND: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "docs" / "measurements" / "diagnose.json").read_text("utf-8")
)


def test_they_are_of_this_program() -> None:
    assert FOUND["other_stack"]["program"] == digest(), "tests/captures/other_stack.py --json"
    for half in ("development", "kept"):
        listed = [one["case"] for one in FOUND["other_stack"][half]]
        assert listed == [one.name for one in CASES if one.half == half]


@pytest.mark.parametrize("half", [0, 1], ids=["development", "kept"])
def test_kinds_with_one_capture_a_half_have_another(half: int) -> None:
    """Those of the ends and the radio; the others differ by link and congestion control."""
    name = ("development", "kept")[half]
    alone = {
        kind for kind, count in Counter(one.kind for one in halves()[half]).items() if count < 2
    }
    other = [one.kind for one in CASES if one.half == name]
    assert len(other) == len(set(other)) == 7
    assert set(other) <= alone | {"MTU hole"}


def test_sentences_are_judged_as_written() -> None:
    for half in ("development", "kept"):
        for one in FOUND["other_stack"][half]:
            verdict = judged(one["sentence"], KINDS[one["kind"]])
            assert one["names_it"]["right"] == int(verdict.names_it), one["case"]
            assert one["not_wrong"]["right"] == int(not verdict.is_wrong), one["case"]
