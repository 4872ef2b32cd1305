"""README.md and the tutorial show the demonstration whose results docs/start/demo.json holds."""

import json
import runpy
from pathlib import Path
from typing import Any

from airtcp import run

ROOT = Path(__file__).resolve().parents[2]
WRITER = runpy.run_path(str(ROOT / "pages" / "write_demo.py"))
DATA: dict[str, Any] = json.loads((ROOT / "docs" / "start" / "demo.json").read_text("utf-8"))


def test_answer_and_table_are_of_the_run_whose_data_are_kept() -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    assert WRITER["written"](page, DATA) == page, "make demo-docs writes it"


def test_the_tutorial_quotes_the_same_answer() -> None:
    page = (ROOT / "docs" / "start" / "tutorial.md").read_text("utf-8")
    assert WRITER["tutorial"](page, DATA) == page, "make demo-docs writes it"


def test_the_picture_is_of_that_run() -> None:
    assert DATA["picture"] == WRITER["picture_digest"](), "make demo-docs draws it"


def test_the_run_would_be_the_same_today() -> None:
    """README.md is the first that anybody reads: it may not be of another engine."""
    for seed, digest in DATA["digests"].items():
        summary = run(DATA["scenario"], int(seed)).summary
        assert summary["digest"] == digest, "the engine has changed: make demo-docs"
