"""docs/measurements/sentences.md shows the sentences that sentences.json beside it holds."""

import json
import runpy
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs" / "measurements"
WRITER = runpy.run_path(str(DOCS / "write_sentences.py"))
DATA: dict[str, Any] = json.loads((DOCS / "sentences.json").read_text("utf-8"))


def test_the_page_is_of_the_data() -> None:
    page = (DOCS / "sentences.md").read_text("utf-8")
    assert WRITER["written"](page, DATA) == page, "write_sentences.py writes it"


def test_every_link_has_every_asker() -> None:
    asked = {(row["link"], row["asker"]) for row in DATA["rows"]}
    links = {link for link, _ in asked}
    assert len(links) >= 40
    assert asked == {
        (link, asker) for link in links for asker in ("my-machine", "server", "access-point", "all")
    }
    assert {row["judged"] for row in DATA["rows"]} <= set(WRITER["JUDGEMENTS"])
