"""The table of answer times in docs/measurements/performance.md is that of its figures."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "captures"))

import answer_times

from airtcp.pages.marked import put

FOUND = [answer_times.Timed(**one) for one in json.loads(answer_times.FIGURES.read_text("utf-8"))]


def test_the_table_is_of_the_figures() -> None:
    page = answer_times.PAGE.read_text("utf-8")
    table = answer_times.table(FOUND)
    assert put(page, "answer-times", table) == page, "tests/captures/answer_times.py --write"


def test_no_answer_came_late() -> None:
    assert not [one.name for one in FOUND if one.is_late]


def test_every_form_of_log_was_timed() -> None:
    timed = {one.name for one in FOUND}
    assert {path.name for path in answer_times.SEEDS.iterdir()} <= timed
