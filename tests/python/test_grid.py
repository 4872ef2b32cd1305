"""`airtcp study`: remedies on several links and stacks."""

import gc
import json
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from airtcp.cli.commands import app
from airtcp.comparison import grid_run
from airtcp.comparison.cells import Cell
from airtcp.comparison.execute import Results, execute
from airtcp.comparison.grid import Setting, StudyError, load_grid, text_of
from airtcp.comparison.grid_run import run_grid
from airtcp.comparison.plan import Plan
from airtcp.pages.grid import effect_table, score_table

ROOT = Path(__file__).resolve().parents[2]
RUNNER = CliRunner()
STUDY = """
name = "small"
seeds = 3
remedies = ["newzag", "oracle", "dynamic-arq"]

[[stack]]
name = "SACK"
settings = { "tcp.profile" = "sack" }

[[link]]
name = "radio"
scenario = "SCENARIO"
settings = { duration = "20 s", "link.loss.rate" = 0.01 }
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(STUDY.replace("SCENARIO", str(ROOT / "scenarios" / "lossy-pipe.toml")))
    return path


def test_the_oracle_is_always_right_and_the_rest_is_scored(study: Path) -> None:
    result = run_grid(load_grid(study))
    newzag, oracle, arq = result.entries
    assert oracle.radio_events > 20
    assert oracle.radio_right == 1
    assert newzag.radio_right is not None
    assert newzag.radio_right < 1
    assert oracle.difference is not None
    assert oracle.difference.mean > 0
    assert arq.difference is None
    assert "arq" in arq.refusal.lower()
    assert text_of(arq) == "n/a"
    assert "| oracle | 100 % of" in score_table(result)
    assert effect_table(result).count("\n") == 6


def test_finished_runs_are_not_computed_twice(study: Path, tmp_path: Path) -> None:
    first = run_grid(load_grid(study), out=tmp_path / "out")
    seen: list[int] = []
    again = run_grid(
        load_grid(study), out=tmp_path / "out", progress=lambda done, *_: seen.append(done)
    )
    assert again.table().equals(first.table())
    assert seen[0] == 9


def test_a_study_in_batches_is_the_same_and_has_one_batch_in_memory(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four stacks in batches of nine cells: one at a time is planned, and its cells are let go."""
    grid = load_grid(study)
    stacks = (Setting(name, {"tcp.profile": name}) for name in ("sack", "reno", "linux", "newreno"))
    grid = replace(grid, stacks=tuple(stacks))
    whole = run_grid(grid)
    monkeypatch.setattr(grid_run, "BATCH_CELLS", 9)
    batches: list[int] = []
    cells: list[weakref.ref[Cell]] = []

    def run_batch(plan: Plan, **rest: Any) -> Results:
        gc.collect()
        assert not [cell for cell in cells if cell() is not None]
        results = execute(plan, **rest)
        batches.append(len(plan))
        cells.extend(map(weakref.ref, results.values()))
        return results

    monkeypatch.setattr(grid_run, "execute", run_batch)
    reported: list[tuple[int, int]] = []
    assert run_grid(grid, progress=lambda *told: reported.append(told[:2])) == whole
    assert batches == [9, 9, 9, 9]
    assert {cells for _, cells in reported} == {36}
    assert reported == sorted(reported)
    assert reported[-1] == (36, 36)


def test_the_command_writes_tables_and_figures(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ["study", str(study), "--seeds", "2", "--out", str(out), "--json"]
    result = RUNNER.invoke(app, [*command, "--png"])
    assert result.exit_code == 0, result.output
    start = result.output.index("{")
    assert len(json.loads(result.output[start:])["entries"]) == 3
    names = {path.name for path in out.iterdir()}
    assert {
        "index.html",
        "study.csv",
        "study.md",
        "effects.png",
        "effects.svg",
        "scores.png",
    } <= names


@pytest.mark.parametrize(
    "path", sorted((ROOT / "studies").glob("*.toml")), ids=lambda one: one.stem
)
def test_shipped_studies_run(path: Path) -> None:
    grid = load_grid(path)
    # Each cell runs, for a shorter time than the study asks for.
    links = (replace(link, settings={**link.settings, "duration": "2 s"}) for link in grid.links)
    grid = replace(grid, links=tuple(links))
    result = run_grid(grid, seeds=1)
    assert len(result.entries) == len(grid.links) * len(grid.stacks) * len(grid.remedies)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("seeds = 3", "seeds = 0"), "seeds = 0: expected a number from 1"),
        (('name = "small"', 'title = "small"'), "unknown key 'title'"),
        (("[[stack]]", "[[stacks]]"), "unknown key 'stacks'"),
        (('name = "radio"\n', ""), "a [[link]] has no name"),
        (('remedies = ["newzag", "oracle", "dynamic-arq"]', ""), "remedies: expected a list"),
    ],
)
def test_errors_name_key_and_expectation(
    study: Path, change: tuple[str, str], expected: str
) -> None:
    study.write_text(study.read_text().replace(*change))
    with pytest.raises(StudyError, match=None) as error:
        load_grid(study)
    assert expected in str(error.value)
