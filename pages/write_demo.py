"""Writes the demonstration's results into README.md and the tutorial, and its picture.

    make demo-docs                   # runs the demonstration, then writes
    python pages/write_demo.py        # only the pages, from docs/start/demo.json

The results are kept in docs/start/demo.json with the digests of their runs, so that a test can
check whether the table is that of the run.
"""

import argparse
import hashlib
import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airtcp._core import engine_version
from airtcp.comparison.ranking.places import UNAVAILABLE
from airtcp.pages.demonstration import Story, tell
from airtcp.pages.demonstration.page import helps_table, write_story
from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[1]
README, TUTORIAL = ROOT / "README.md", ROOT / "docs" / "start" / "tutorial.md"
DATA = ROOT / "docs" / "start" / "demo.json"
PICTURE = ROOT / "docs" / "images" / "demo.png"
ASKER = "my-machine"
_ROWS = 6


def as_data(story: Story) -> dict[str, Any]:
    """README.md's data of a demonstration, and its provenance."""
    assert story.other
    assert story.other_observed
    table = helps_table(story.link)
    baseline = [cell for cell in story.link.finished if not cell.key.remedy]
    return {
        "engine": engine_version,
        "can": ASKER,
        "scenario": story.link.scenario.name,
        "digests": {str(cell.key.seed): cell.summary["digest"] for cell in baseline},
        "seeds": len(story.link.seeds),
        "headline": story.link.verdict[0],
        "wrong": story.observed.wrong,
        "seed": story.observed.run.summary["seed"],
        "other": [story.other_observed.wrong, story.other.verdict[0]],
        "columns": list(table.columns),
        "rows": [list(row) for row in table.rows if row[-1] != UNAVAILABLE][:_ROWS],
        "picture": picture_digest(),
    }


def picture_digest() -> str:
    """SHA-256 of the picture, which ties it to the data of its run."""
    return hashlib.sha256(PICTURE.read_bytes()).hexdigest()


def answer(data: Mapping[str, Any]) -> str:
    """The first sentence, as README.md quotes it."""
    other = " ".join(data["other"])
    return (
        f"> **What is wrong.** {data['wrong']}\n>\n> **What helps.** **{data['headline']}**\n>\n"
        f"> A signal that fades has another answer. {other}"
    )


def table(data: Mapping[str, Any]) -> str:
    """The remedies that help, in Markdown."""
    lines = ["| " + " | ".join(data["columns"]) + " |", "|---|" + "---:|" * 4 + "---|"]
    lines += ["| " + " | ".join(cell or "-" for cell in row) + " |" for row in data["rows"]]
    return "\n".join(lines)


def written(text: str, data: Mapping[str, Any]) -> str:
    """README.md, as it must be after the run."""
    return put(put(text, "demo-answer", answer(data)), "demo", table(data))


def tutorial(text: str, data: Mapping[str, Any]) -> str:
    """The tutorial, as it must be after the run."""
    lines = [data["wrong"], data["headline"]]
    return put(text, "demo-answer", "\n".join(["```", *lines, "```"]))


def main() -> None:
    """Runs the demonstration if a folder is given, keeps the data, and writes the pages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="where the demonstration goes")
    folder = parser.parse_args().folder
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        story = tell(folder, lambda done, words: print(f"{done:.0%} {words}", file=sys.stderr),
                     can=ASKER)  # fmt: skip
        write_story(folder, story, png=True)
        shutil.copy(folder / "link.png", PICTURE)
        DATA.write_text(json.dumps(as_data(story), indent=1, ensure_ascii=False) + "\n", "utf-8")
    data = json.loads(DATA.read_text("utf-8"))
    README.write_text(written(README.read_text("utf-8"), data), encoding="utf-8")
    TUTORIAL.write_text(tutorial(TUTORIAL.read_text("utf-8"), data), encoding="utf-8")
    stamp(ROOT, "demo-answer", "demo")


if __name__ == "__main__":
    main()
