"""studies.md and others show the runs whose results docs/measurements/studies.json holds."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from airtcp.study.grid import load_grid, run_grid

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs" / "measurements"
WRITER = runpy.run_path(str(DOCS / "write_studies.py"))
DATA: dict[str, Any] = json.loads((DOCS / "studies.json").read_text("utf-8"))


def test_every_table_is_of_the_runs_whose_data_are_kept() -> None:
    for page, text in WRITER["written"](DATA).items():
        assert page.read_text("utf-8") == text, f"{page}: make studies-docs writes it"


def test_studies_and_figures_are_those_of_the_data() -> None:
    assert WRITER["outdated"](DATA) == [], "make studies-docs runs the studies again"


@pytest.mark.parametrize("name", WRITER["STUDIES"])
def test_the_data_are_of_whole_studies(name: str) -> None:
    grid = load_grid(WRITER["study_file"](name))
    kept = DATA[name]
    assert kept["seeds"] == grid.seeds
    assert [(one["link"], one["stack"], one["remedy"]) for one in kept["entries"]] == [
        (link.name, stack.name, remedy)
        for link in grid.links
        for stack in grid.stacks
        for remedy in grid.remedies
    ]


def test_no_path_of_the_machine_is_kept() -> None:
    refusals = [one["refusal"] for study in DATA.values() for one in study["entries"]]
    assert any("scenarios/ping.toml" in refusal for refusal in refusals)
    assert not [refusal for refusal in refusals if '"/' in refusal]


def test_results_survive_as_data(tmp_path: Path) -> None:
    """A study with a refusal and a difference, through JSON and back."""
    file = tmp_path / "small.toml"
    file.write_text(
        'seeds = 2\nremedies = ["sack", "inf-retry"]\n'
        '[[stack]]\nname = "NewReno"\nsettings = { "tcp.profile" = "newreno" }\n'
        f'[[link]]\nname = "pipe"\nscenario = "{ROOT}/scenarios/lossy-pipe.toml"\n'
        'settings = { duration = "2 s" }\n'
    )
    result = run_grid(load_grid(file))
    kept = json.loads(json.dumps(WRITER["as_data"](result)))
    assert WRITER["as_result"](kept, result.grid) == result
    assert result.entries[1].refusal
