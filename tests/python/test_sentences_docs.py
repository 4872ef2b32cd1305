"""docs/measurements/sentences.md shows the sentences that sentences.json holds."""

import json
import runpy
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs" / "measurements"
WRITER = runpy.run_path(str(ROOT / "pages" / "write_sentences.py"))
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


def test_a_page_of_a_new_run_has_the_counts_before() -> None:
    row = {"link": "a", "asker": "all", "sentence": "x", "judged": "right", "why": "", "seeds": 5}
    data = {
        "engine": "1",
        "cpu_s": 1800.0,
        "before": {"engine": "0", "counts": WRITER["numbers"](DATA["rows"])},
        "rows": [{**row, "truth_seeds": 20}],
        "horizons": [
            {
                "link": "a",
                "remedy": "pacing",
                "stated": 331.0,
                "gains": {"10 s": [447.0, 2.0], "20 s": [331.0, 2.0], "80 s": [86.0, 1.0]},
                "is_said": True,
            }
        ],
        "kernel": [
            {"name": "6.12", "link": "a", "remedy": "bbr", "stated": 5.0, "gain": None}
            | {"half": None, "why_not": "QEMU is missing"}
        ],
    }
    page = WRITER["written"]((DOCS / "sentences.md").read_text("utf-8"), data)
    before = data["before"]["counts"]["right"]  # type: ignore[index]
    assert f"| right | {before} | 1 |" in page
    assert "30 min of processor time" in page
    assert "| +447.0 ± 2.0 % | +331.0 ± 2.0 % | +86.0 ± 1.0 % | yes |" in page
    assert "not tried: QEMU is missing" in page
