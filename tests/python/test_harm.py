"""Harm of a remedy to a flow without it, and metrics other than goodput in studies."""

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import airtcp
from airtcp.cli.commands import app
from airtcp.comparison.grid import load_grid
from airtcp.comparison.grid_run import run_grid
from airtcp.comparison.statistics import Outcome
from airtcp.core.catalogue import BASELINE
from airtcp.pages.grid import effect_table

RUNNER = CliRunner()
SETTINGS = {"duration": "10 s", "link.loss.rate": 0.001}


def test_who_sends_less_leaves_an_unchanged_flow_more() -> None:
    """A window of four segments is 0.93 Mbit/s at 50 ms: the other gets the rest of 10."""
    compared = airtcp.compare(
        "lossy-pipe", ["max-window:segments=4"], 3, {"duration": "10 s"}, metric="harm"
    )
    (alone,) = (run["flows"][-1]["goodput_bps"] for run in compared.competing[BASELINE][:1])
    for run in compared.competing["max-window:segments=4"]:
        meek, unchanged = run["flows"]
        assert meek["goodput_bps"] <= 4 * 1448 * 8 / 0.05
        assert unchanged["goodput_bps"] > 1.3 * alone
    assert compared.harm["max-window:segments=4"].outcome is Outcome.HIGHER
    assert "raises goodput of a competing flow" in compared.verdict[0]


def test_who_takes_more_costs_an_unchanged_flow_its_share() -> None:
    """Reno against CUBIC on a long fat pipe gets less than against Reno (Ha et al. 2008, §4.3)."""
    settings = {
        "duration": "60 s",
        "link.rate": "50 Mbit/s",
        "link.delay": "50 ms",
        "link.queue.packets": 200,
        "tcp.congestion_control": "reno",
    }
    compared = airtcp.compare("lossy-pipe", ["cubic"], 5, settings, harm=True)
    harm = compared.harm["cubic"]
    assert harm.outcome is Outcome.LOWER
    assert any(line.startswith("A competing flow without it gets") for line in compared.verdict)
    assert compared.table["harm_percent"].to_list() == [None, harm.mean_percent]


def test_no_harm_is_left_unsaid() -> None:
    """Harm is listed for every remedy that causes it; the best one's has a separate line."""
    compared = airtcp.compare(
        "wlan-upload", ["yeah", "bbr-v3", "vegas"], 3, {"duration": "8 s"}, harm=True
    )
    assert compared.best == "yeah"
    harmful = [name for name, one in compared.candidates.items() if one.harms_others_much]
    assert harmful == ["bbr-v3"]
    said = next(line for line in compared.verdict if line.startswith("bbr-v3 raises goodput"))
    assert "; a competing flow without it gets " in said
    assert said.endswith(" less than when no flow has it (95 %, n=3).")
    assert all("competing flow" not in line for line in compared.verdict if "vegas" in line)


def test_the_unchanged_flow_is_unchanged() -> None:
    scenario = (
        airtcp.load_scenario("lossy-pipe").with_unchanged_flow().with_remedies("min-rto:min=9s")
    )
    first, last = airtcp.run(scenario.with_remedies("max-window:segments=2")).summary["flows"]
    assert first["rto_ms"] >= 9000 > last["rto_ms"]
    assert first["cwnd_bytes"] < last["cwnd_bytes"]


def test_a_remedy_that_changes_nothing_costs_nothing() -> None:
    compared = airtcp.compare("lossy-pipe", ["dupack-threshold:segments=3"], 2, SETTINGS, harm=True)
    assert compared.harm["dupack-threshold:segments=3"].outcome is Outcome.IDENTICAL


def test_several_flows_keep_their_number() -> None:
    """The last of them is the unchanged one; the baseline runs as it does anyway."""
    scenario = airtcp.load_scenario("dumbbell")
    assert len(airtcp.run(scenario.with_unchanged_flow()).summary["flows"]) == 10


def test_what_has_no_end_to_be_at_is_not_measured(wlan_file: Path, tmp_path: Path) -> None:
    compared = airtcp.compare(wlan_file, ["inf-retry", "sack"], 2, harm=True, out=tmp_path)
    assert set(compared.harm) == {"sack"}
    assert set(compared.not_competing) == {"inf-retry"}
    page = compared.report(tmp_path).read_text()
    assert "goodput of a competing flow</th>" in page
    kept = pl.read_parquet(tmp_path / "cells" / "*.parquet")
    assert sorted(kept["flows"].to_list()) == [1] * 6 + [2] * 4


def test_round_trips_are_no_bottleneck() -> None:
    compared = airtcp.compare("ping", ["sack"], 2, {"duration": "2 s"}, harm=True)
    assert not compared.harm
    assert "no bottleneck" in compared.not_competing["sack"]
    with pytest.raises(airtcp.RunError, match="no bottleneck"):
        airtcp.compare("ping", ["sack"], 2, {"duration": "2 s"}, metric="harm")


def test_the_terminal_has_a_column_for_it() -> None:
    command = ["compare", "lossy-pipe", "--remedy", "max-window:segments=4", "--seeds", "2"]
    settings = [f"--set={key}={value}" for key, value in SETTINGS.items()]
    shown = RUNNER.invoke(app, [*command, *settings])
    assert shown.exit_code == 0, shown.output
    assert "competing flow" in shown.output
    told = RUNNER.invoke(app, [*command, *settings, "--no-harm", "--json"])
    (_, row) = json.loads(told.output)["remedies"]
    assert row["harm_percent"] is None


STUDY = """
remedies = ["max-window:segments=4", "inf-retry"]
stack = [{ name = "Linux" }]
link = [{ name = "pipe", scenario = "lossy-pipe.toml" }]
"""


@pytest.mark.parametrize(
    ("metric", "unit", "sign"), [("rtt-p95", " ms", "-"), ("harm", "bit/s", "+")]
)
def test_a_study_compares_what_it_is_told(
    tmp_path: Path, metric: str, unit: str, sign: str
) -> None:
    shipped = Path(__file__).resolve().parents[2] / "scenarios" / "lossy-pipe.toml"
    (tmp_path / "lossy-pipe.toml").write_text(
        shipped.read_text().replace('duration = "120 s"', 'duration = "10 s"')
    )
    file = tmp_path / "study.toml"
    file.write_text(STUDY)
    result = run_grid(load_grid(file), 3, metric=metric)
    meek, elsewhere = result.entries
    assert meek.difference is not None
    assert elsewhere.difference is None
    assert elsewhere.refusal
    table = effect_table(result)
    assert unit in table
    assert f"| {sign}" in table
    command = ["study", str(file), "--seeds", "2", "--metric", metric, "--out", str(tmp_path / "o")]
    told = RUNNER.invoke(app, command)
    assert told.exit_code == 0, told.output
    assert (
        airtcp.comparison.metrics.METRICS[metric].label
        in (tmp_path / "o" / "index.html").read_text()
    )


def test_a_metric_that_a_study_has_not(tmp_path: Path) -> None:
    told = RUNNER.invoke(app, ["study", "classifiers", "--seeds", "1", "--metric", "nonsense"])
    assert told.exit_code == 2
    assert "expected one of goodput" in told.output
