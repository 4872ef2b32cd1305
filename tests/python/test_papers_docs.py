"""The papers' page and their READMEs show the run that docs/measurements/papers.json holds."""

import json
import os
import runpy
from pathlib import Path

import pytest

from airtcp.papers import load_papers

ROOT = Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- readings: begin -->", "<!-- readings: end -->"


def test_every_table_is_of_the_run_whose_data_are_kept():
    writer = runpy.run_path(str(ROOT / "pages" / "write_papers.py"))
    run = json.loads((ROOT / "docs" / "measurements" / "papers.json").read_text("utf-8"))
    assert not run["quick"]
    for path, text in writer["written"](run).items():
        assert path.read_text("utf-8") == text, f"{path}: make papers-docs writes it"


def test_pictures_are_of_the_run_whose_data_are_kept():
    writer = runpy.run_path(str(ROOT / "pages" / "write_papers.py"))
    run = json.loads((ROOT / "docs" / "measurements" / "papers.json").read_text("utf-8"))
    assert run["pictures"] == writer["picture_digests"](run), "make papers-docs writes them"


@pytest.mark.parametrize("paper", load_papers(ROOT / "papers"), ids=lambda paper: paper.name)
def test_the_readme_of_a_paper_lists_every_reading(paper):
    """`AIRTCP_WRITE_DOCS=1` writes the table into the paper's README.md."""
    assert paper.file.readings
    lines = ["| what is open | admitted | default | why | source |", "|---|---|---|---|---|"]
    for point in paper.file.readings:
        admitted = "; ".join(point.names)
        lines.append(
            f"| {point.open} | {admitted} | {point.default} | {point.why} | {point.source} |"
        )
    table = "\n".join(lines)
    path = paper.folder / "README.md"
    text = path.read_text(encoding="utf-8")
    assert BEGIN in text, f"{path}: no place for the table: {BEGIN}"
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    expected = f"{before}{BEGIN}\n{table}\n{END}{after}"
    if os.environ.get("AIRTCP_WRITE_DOCS"):
        path.write_text(expected, encoding="utf-8")
    assert text == expected, "AIRTCP_WRITE_DOCS=1 pytest tests/python/test_papers_docs.py writes it"
