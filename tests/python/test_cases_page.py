"""docs/guides/cases.md: every symptom's first sentence still comes out, and the page is theirs."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "captures"))

import write_cases
from symptoms import GROUPS, Symptom, symptoms

from airtcp.pages.marked import put

FOUND: dict[str, Any] = json.loads(write_cases.FOUND.read_text("utf-8"))


def test_the_page_is_of_what_was_found() -> None:
    page = write_cases.PAGE.read_text("utf-8")
    assert list(FOUND) == [one.name for one in symptoms()]
    table = write_cases.written(symptoms(), FOUND)
    assert put(page, "cases", table) == page, "python tests/captures/write_cases.py --page"


def test_every_picture_is_of_a_symptom() -> None:
    names = [one.name for one in symptoms()]
    assert len(names) == len(set(names)) == sum(map(len, GROUPS.values()))
    assert {path.stem for path in write_cases.IMAGES.iterdir()} <= set(names)
    without = {one.name for one in symptoms() if one.sockets or not one.is_drawn}
    assert {path.stem for path in write_cases.IMAGES.iterdir()} == set(names) - without


@pytest.mark.parametrize("symptom", symptoms(), ids=lambda one: one.name)
def test_the_first_sentence_names_the_fault(symptom: Symptom) -> None:
    answer, written = write_cases.answer(symptom), FOUND[symptom.name]
    assert symptom.names in answer["sentence"]
    # Remedies are tried by the program alone: the page's sentence begins as this one does.
    kept = "seen" if "seen" in answer else "sentence"
    assert answer[kept] == written[kept], "python tests/captures/write_cases.py"
    assert symptom.names in written["sentence"]


def test_what_helps_is_said_for_most() -> None:
    without = [name for name, one in FOUND.items() if not one["helps"]]
    assert len(without) < len(FOUND) / 2, without
