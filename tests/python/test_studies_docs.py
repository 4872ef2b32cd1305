"""Every table of a shipped study has the rows and columns of the study's file."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from airtcp.comparison.grid import load_grid

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs" / "measurements"
FINDINGS: dict[str, Any] = runpy.run_path(str(ROOT / "pages" / "write_findings.py"))
WRITER: dict[str, Any] = runpy.run_path(str(ROOT / "pages" / "write_studies.py"))


def _rows(page: str, name: str) -> list[list[str]]:
    """The cells of a table of a page, without the line below its heading."""
    text = (DOCS / page).read_text("utf-8")
    table = text.split(f"<!-- {name}: begin -->\n")[1].split(f"<!-- {name}: end -->")[0]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in [lines[0], *lines[2:]]]


@pytest.mark.parametrize("name", WRITER["STUDIES"])
def test_a_table_is_of_the_whole_study(name: str) -> None:
    grid = load_grid(WRITER["study_file"](name))
    heading, *rows = _rows(WRITER["STUDIES"][name].page, name)
    cells = [f"{link.name}, {stack.name}" for link in grid.links for stack in grid.stacks]
    if heading[0] == "remedy":
        assert heading[1:] == cells
        assert [row[0] for row in rows] == ["*baseline*", *grid.remedies]
        assert {len(row) for row in rows} == {len(heading)}
    else:
        assert [f"{row[0]}, {row[1]}, {row[2]}" for row in rows] == [
            f"{cell}, {remedy}" for cell in cells for remedy in grid.remedies
        ]


def test_a_finding_is_a_sentence_of_its_tables() -> None:
    for (page, mark), sentences in FINDINGS["findings"]().items():
        text = (DOCS / page).read_text("utf-8")
        listed = text.split(f"<!-- {mark}: begin -->\n")[1].split(f"<!-- {mark}: end -->")[0]
        assert listed.splitlines() == [f"- {one}" for one in sentences]


def test_a_finding_that_a_cell_contradicts_is_refused() -> None:
    finding = {
        "page": "today.md",
        "text": "split-tcp helps on a satellite ({0})",
        "cells": [
            {
                "table": "today",
                "remedies": ["split-tcp"],
                "links": ["satellite, Linux"],
                "holds": "gain",
            }
        ],
    }
    with pytest.raises(ValueError, match="split-tcp on satellite, Linux has -"):
        FINDINGS["sentence"](finding)
    finding["cells"][0]["holds"] = "loss"
    assert FINDINGS["sentence"](finding).startswith("split-tcp helps on a satellite (-")


def test_effects_are_read_with_their_intervals() -> None:
    effect = FINDINGS["Effect"]
    assert FINDINGS["effect"]("(+0.2 ± 0.5 %)") == effect(0.2, 0.5)
    assert FINDINGS["effect"]("-97.0 %") == effect(-97.0, 0.0)
    assert FINDINGS["effect"]("the same") == effect(0.0, 0.0)
    assert FINDINGS["effect"]("n/a") is None
    assert FINDINGS["effect"]("3 % of 1730") == effect(3.0, 0.0, is_share=True)
    with pytest.raises(ValueError, match="no effect"):
        FINDINGS["effect"]("2.18 Mbit/s")
