"""Runs the shipped studies and writes their tables and figures into studies.md and others.

    make studies-docs  # runs all of studies/, then writes the page
    python docs/measurements/write_studies.py  # the page from studies.json alone

The results are kept in studies.json, so that a test can tell whether a table is that of the
run, and whether a study has changed since.
"""

import argparse
import hashlib
import json
import shutil
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from airtcp._core import engine_version
from airtcp.report.grid import effect_table, score_table, write_study
from airtcp.report.marked import put
from airtcp.report.provenance import stamp
from airtcp.study.grid import Entry, Grid, GridResult, load_grid, run_grid

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "docs" / "measurements"
DATA = HERE / "studies.json"
IMAGES = ROOT / "docs" / "images"


@dataclass(frozen=True)
class Shown:
    """What the page shows of a study."""

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


def ran(name: str, folder: Path, seeds: int | None) -> dict[str, Any]:
    """Runs a study, puts its figure beside the page's, and returns its results as data.

    Raises:
        RunError: a run could not be finished.
        OSError: the folder cannot be written.
    """
    shown = STUDIES[name]
    result = run_grid(load_grid(study_file(name)), seeds, folder, metric=shown.metric)
    write_study(result, folder, f"airtcp study {study_of(name)}", png=True)
    # A refusal names its scenario by the path that it has here.
    kept = json.loads(json.dumps(as_data(result)).replace(f"{ROOT}/", ""))
    kept["study"] = _study_digest(name)
    kept["engine"] = engine_version
    if figure := shown.figure:
        shutil.copy(folder / f"{figure}.png", IMAGES / f"{name}.png")
        kept["figure"] = _digest(IMAGES / f"{name}.png")
    return kept


def as_data(result: GridResult) -> dict[str, Any]:
    """The results of a study, less what its file says."""
    return {
        "metric": result.metric,
        "seeds": result.seeds,
        "baselines": [[*where, value] for where, value in result.baselines.items()],
        "entries": msgspec.to_builtins(result.entries),
    }


def as_result(kept: Mapping[str, Any], grid: Grid) -> GridResult:
    """The results of a study from data."""
    return GridResult(
        grid,
        kept["seeds"],
        msgspec.convert(kept["entries"], tuple[Entry, ...]),
        {(link, stack): value for link, stack, value in kept["baselines"]},
        kept["metric"],
    )


def lines_of(data: Mapping[str, Any]) -> str:
    """The data as JSON, a line for each result: a change shows what has changed."""
    tables = []
    for name, kept in data.items():
        fields = []
        for key, value in kept.items():
            text = json.dumps(value, ensure_ascii=False)
            if isinstance(value, list):
                rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in value)
                text = f"[\n{rows}\n]"
            fields.append(f"{json.dumps(key)}: {text}")
        tables.append(f"{json.dumps(name)}: {{\n" + ",\n".join(fields) + "\n}")
    return "{\n" + ",\n".join(tables) + "\n}\n"


def written(data: Mapping[str, Any]) -> dict[Path, str]:
    """The pages with the tables of the data."""
    pages: dict[Path, str] = {}
    for name, shown in STUDIES.items():
        page = HERE / shown.page
        text = pages.get(page) or page.read_text("utf-8")
        result = as_result(data[name], load_grid(study_file(name)))
        pages[page] = put(text, name, shown.table(result).rstrip("\n"))
    return pages


def outdated(data: Mapping[str, Any]) -> list[str]:
    """Files that are not, or no longer, those of the data."""
    wrong = [name for name in STUDIES if data[name]["study"] != _study_digest(name)]
    figures = {name: IMAGES / f"{name}.png" for name in STUDIES if STUDIES[name].figure}
    return [
        *(f"studies/{name}.toml" for name in wrong),
        *(path.name for name, path in figures.items() if data[name]["figure"] != _digest(path)),
    ]


def _study_digest(name: str) -> str:
    """SHA-256 of what a study asks for: its comments may change."""
    asked = tomllib.loads(study_file(name).read_text("utf-8"))
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> None:
    """Runs the studies where a folder is given, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path, nargs="?", help="where finished runs and reports go")
    parser.add_argument("--only", choices=STUDIES, nargs="+", help="these; the others stay")
    parser.add_argument("--seeds", type=int, help="in place of the studies' own numbers")
    wanted = parser.parse_args()
    data = json.loads(DATA.read_text("utf-8")) if DATA.exists() else {}
    if wanted.out:
        for name in wanted.only or STUDIES:
            data[name] = ran(name, wanted.out / study_of(name), wanted.seeds)
    DATA.write_text(lines_of(data), encoding="utf-8")
    for page, text in written(data).items():
        page.write_text(text, encoding="utf-8")
    if wanted.out:
        stamp(ROOT, *(wanted.only or STUDIES))


if __name__ == "__main__":
    main()
