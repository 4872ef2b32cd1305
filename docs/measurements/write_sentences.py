"""Writes docs/measurements/sentences.md: first sentences over many links and askers, judged.

python benches/sentences.py --out out/sentences  # runs, and resumes after a kill
python docs/measurements/write_sentences.py out/sentences  # with the runs' results
python docs/measurements/write_sentences.py  # the page from sentences.json alone
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from airtcp._core import engine_version
from airtcp.report.marked import put
from airtcp.report.provenance import stamp

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE, DATA = HERE / "sentences.md", HERE / "sentences.json"
JUDGEMENTS = ("right", "undecided", "wrong")


def collected(folder: Path) -> dict[str, Any]:
    """The judged sentences of a folder that benches/sentences.py filled."""
    rows = []
    for path in sorted(folder.glob("*-*.json")):
        rows += json.loads(path.read_text("utf-8"))
    return {"engine": engine_version, "rows": rows}


def counts(rows: Sequence[Mapping[str, Any]]) -> str:
    """The number of each judgement."""
    links = len({row["link"] for row in rows})
    numbers = [f"{sum(row['judged'] == one for row in rows)} {one}" for one in JUDGEMENTS]
    return f"{len(rows)} first sentences on {links} links: {', '.join(numbers)}."


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """A row for each sentence."""
    lines = ["| link | asker | first sentence | judged | in truth |", "|---|---|---|---|---|"]
    for row in rows:
        why = row["why"].removeprefix("best in truth: ")
        cells = (row["link"], row["asker"], row["sentence"], row["judged"], why)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def wrong_ones(rows: Sequence[Mapping[str, Any]]) -> str:
    """The sentences that are wrong, with the reason."""
    wrong = [row for row in rows if row["judged"] == "wrong"]
    if not wrong:
        return "None is wrong."
    return "\n".join(f"- {row['link']}, {row['asker']}: {row['why']}." for row in wrong)


def written(text: str, data: Mapping[str, Any]) -> str:
    """The page as it must be with these data."""
    rows = data["rows"]
    marks = (("counts", counts(rows)), ("wrong", wrong_ones(rows)), ("sentences", table(rows)))
    for mark, block in marks:
        text = put(text, mark, block)
    return text


def main() -> None:
    """Collects a folder if one is given, and writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="what benches/sentences.py filled")
    folder = parser.parse_args().folder
    if folder:
        text = json.dumps(collected(folder), indent=1, ensure_ascii=False)
        DATA.write_text(text + "\n", encoding="utf-8")
    data = json.loads(DATA.read_text("utf-8"))
    PAGE.write_text(written(PAGE.read_text("utf-8"), data), encoding="utf-8")
    if folder:
        stamp(ROOT, "counts", "wrong", "sentences")


if __name__ == "__main__":
    main()
