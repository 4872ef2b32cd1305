"""Runs the shipped studies and writes their tables and figures into studies.md and others.

    make studies-docs  # runs all of studies/, then writes the pages

Runs that are finished in the folder are not run again.
"""

import argparse
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from airtcp.comparison.grid import GridResult, load_grid
from airtcp.comparison.grid_run import run_grid
from airtcp.pages.grid import effect_table, score_table, write_study
from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "docs" / "measurements"
IMAGES = ROOT / "docs" / "images"


@dataclass(frozen=True)
class Shown:
    """The page's part for a study."""

    table: Callable[[GridResult], str]
    figure: str | None = None
    """The figure of its report that the page has, under the study's name."""
    page: str = "studies.md"
    """The page that shows it."""
    study: str = ""
    """The study's name, where it is not the table's: one with several tables runs once."""
    metric: str = "goodput"


STUDIES = {
    "then-and-now": Shown(effect_table, "effects"),
    "classifiers": Shown(score_table, "scores"),
    "rto-factor": Shown(effect_table),
    "wifi-today": Shown(effect_table, "effects", "wifi-today.md"),
    "cellular-today": Shown(effect_table, "effects", "cellular-today.md"),
    "cellular-today-delay": Shown(
        effect_table, None, "cellular-today.md", "cellular-today", "delay-p95"
    ),
    "today": Shown(effect_table, "effects", "today.md"),
    "today-rpm": Shown(effect_table, None, "today.md", "today", "rpm"),
    "today-call": Shown(effect_table, None, "today.md", "today", "call"),
}


def study_of(name: str) -> str:
    """The study that a table is of."""
    return STUDIES[name].study or name


def study_file(name: str) -> Path:
    """The shipped study of a table."""
    return ROOT / "studies" / f"{study_of(name)}.toml"


def write(name: str, folder: Path, seeds: int | None) -> None:
    """Runs a study, and writes its table and its figure into the page.

    Raises:
        RunError: a run could not be finished.
        OSError: a file cannot be written.
    """
    shown = STUDIES[name]
    result = run_grid(load_grid(study_file(name)), seeds, folder, metric=shown.metric)
    write_study(result, folder, f"airtcp study {study_of(name)}", png=True)
    if figure := shown.figure:
        shutil.copy(folder / f"{figure}.png", IMAGES / f"{name}.png")
    page = HERE / shown.page
    text = put(page.read_text("utf-8"), name, shown.table(result).rstrip("\n"))
    page.write_text(text, encoding="utf-8")


def main() -> None:
    """Runs the studies, and writes the pages."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path, help="where finished runs and reports go")
    parser.add_argument("--only", choices=STUDIES, nargs="+", help="these; the others stay")
    parser.add_argument("--seeds", type=int, help="in place of the studies' own numbers")
    wanted = parser.parse_args()
    for name in wanted.only or STUDIES:
        write(name, wanted.out / study_of(name), wanted.seeds)
    stamp(ROOT, *(wanted.only or STUDIES))


if __name__ == "__main__":
    main()
