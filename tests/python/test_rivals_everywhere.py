"""docs/measurements/rivals.md has every rival on every shipped scenario."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from airtcp.core.shipped import shipped

ROOT = Path(__file__).resolve().parents[2]
WRITER = runpy.run_path(str(ROOT / "pages" / "write_rivals_everywhere.py"))
DATA: dict[str, Any] = json.loads(WRITER["DATA"].read_text("utf-8"))


def test_the_page_is_of_the_data() -> None:
    page = WRITER["PAGE"].read_text("utf-8")
    assert WRITER["written"](page, DATA) == page, (
        "python pages/write_rivals_everywhere.py writes it"
    )


def test_every_scenario_has_every_rival() -> None:
    assert list(DATA["rows"]) == list(shipped("scenarios"))
    for row in DATA["rows"].values():
        assert list(row) == ["", *WRITER["RIVALS"]]


@pytest.mark.parametrize(("scenario", "remedy"), [("lossy-pipe", "yeah"), ("ping", "abc")])
def test_a_run_gives_the_tables_figures(scenario: str, remedy: str) -> None:
    assert WRITER["outcome"](scenario, remedy) == DATA["rows"][scenario][remedy]


def test_a_change_is_a_share_or_a_factor() -> None:
    shown = [WRITER["change"](value, 100.0) for value in (50.0, 99.9, 150.0, 200.0, None)]
    assert shown == ["-50 %", "0 %", "+50 %", "2.0 times", "n/a"]
    assert WRITER["change"](1.0, None) == "n/a"
