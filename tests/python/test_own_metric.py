"""User-defined metrics, in Python and by module and function."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import airtcp
from airtcp.cli.commands import app
from airtcp.comparison.metrics import METRICS, Metric
from airtcp.comparison.own_metric import metric_of
from airtcp.core.summary import RunSummary

SETTINGS = {"duration": "2 s", "link.loss.rate": 0.01}
STUDY = """
remedies = ["bbr"]
seeds = 2
metric = "mine:megabytes"
stack = [{ name = "Linux" }]
link = [{ name = "pipe", scenario = "lossy-pipe", settings = { duration = "2 s" } }]
"""
MODULE = "def megabytes(run):\n    return run['goodput_bps'] * run['duration_s'] / 8e6\n"


def megabytes(run: RunSummary) -> float:
    return run["goodput_bps"] * run["duration_s"] / 8e6


def test_a_function_of_the_run_decides() -> None:
    compared = airtcp.compare("lossy-pipe", ["bbr"], 2, SETTINGS, metric=megabytes)
    by, goodput = compared.decisive["bbr"], compared.compared("goodput")["bbr"]
    assert compared.metric == "megabytes"
    assert by.mean == pytest.approx(goodput.mean * 2.0 / 8e6)
    assert "megabytes" in compared.verdict[0]


def test_a_metric_says_its_unit_and_which_way_is_better() -> None:
    lost = Metric("lost", "segments lost", False, lambda run: 1.0, lambda value: f"{value} lost")
    compared = airtcp.compare("lossy-pipe", ["bbr"], 2, SETTINGS, metric=lost)
    assert METRICS[compared.metric].show(2.0) == "2.0 lost"


def test_two_functions_of_one_name_are_two_metrics() -> None:
    first, second = (lambda run: 1.0), (lambda run: 2.0)
    assert metric_of(first).name != metric_of(second).name
    assert metric_of(first) is metric_of(first)


def test_a_function_that_fails_says_where() -> None:
    def broken(run: RunSummary) -> float:
        return run["no_such_field"]  # type: ignore[typeddict-item, no-any-return]

    with pytest.raises(airtcp.RunError, match='metric "broken": KeyError'):
        airtcp.compare("lossy-pipe", ["bbr"], 2, SETTINGS, metric=broken).verdict  # noqa: B018
    with pytest.raises(airtcp.ScenarioError, match="no_such_module cannot be imported"):
        metric_of("no_such_module:f")
    with pytest.raises(airtcp.ScenarioError, match="expected a function of a run's summary"):
        metric_of("math:pi")


def test_a_study_names_a_function_and_a_scenario_that_comes_along(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MODULE)
    file = tmp_path / "study.toml"
    file.write_text(STUDY)
    result = airtcp.study.run(file)
    (entry,) = result.entries
    assert entry.difference is not None
    assert entry.difference.baseline_mean == pytest.approx(result.baselines["pipe", "Linux"])
    told = CliRunner().invoke(app, ["study", str(file)])
    assert told.exit_code == 0, told.output
    assert f"| {result.baselines['pipe', 'Linux']:.4g} |" in told.output
    file.write_text(STUDY.replace("mine:megabytes", "mine:gigabytes"))
    with pytest.raises(airtcp.ScenarioError, match=r"study\.toml: metric .*'gigabytes'"):
        airtcp.study.run(file)


def test_a_scenario_that_could_mean_either_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lossy-pipe").write_text("")
    file = tmp_path / "study.toml"
    file.write_text(STUDY.replace('metric = "mine:megabytes"\n', ""))
    with pytest.raises(airtcp.ScenarioError, match=r'say "\./lossy-pipe" for the file'):
        airtcp.study.run(file)


def test_the_command_line_takes_a_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ours.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    command = ["compare", "lossy-pipe", "--remedy", "bbr", "--seeds", "2", "--no-harm"]
    command += ["--no-horizon", "--set", "duration=1 s", "--metric", "ours:megabytes"]
    told = CliRunner().invoke(app, command)
    assert told.exit_code == 0, told.output
    assert "megabytes" in told.output
