"""The papers' page and their READMEs show the run that docs/measurements/papers.json holds."""

import json
import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_table_is_of_the_run_whose_data_are_kept():
    writer = runpy.run_path(str(ROOT / "docs" / "measurements" / "write_papers.py"))
    run = json.loads((ROOT / "docs" / "measurements" / "papers.json").read_text("utf-8"))
    assert not run["quick"]
    for path, text in writer["written"](run).items():
        assert path.read_text("utf-8") == text, f"{path}: make papers-docs writes it"


def test_pictures_are_of_the_run_whose_data_are_kept():
    writer = runpy.run_path(str(ROOT / "docs" / "measurements" / "write_papers.py"))
    run = json.loads((ROOT / "docs" / "measurements" / "papers.json").read_text("utf-8"))
    assert run["pictures"] == writer["picture_digests"](run), "make papers-docs writes them"
