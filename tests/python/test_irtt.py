"""`airtcp run --irtt`: read by airtcp's own reader, and compared with what irtt itself writes."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import airtcp
from airtcp.cli.commands import app
from airtcp.core.recordings.log import read_ping
from airtcp.core.recordings.recording import read_recording
from test_import_programs import HOST, free_port, output, served

SETTINGS = {
    "duration": "20 s",
    "link.loss": {"model": "iid", "rate": 0.05, "direction": "both"},
}
ASKED = ["run", "lossy-pipe", "--under-load", "ping"]
ASKED += ["--set", "duration=20 s", "--set", "link.loss.rate=0.05"]
ASKED += ["--set", "link.loss.direction=both"]


def written(path: Path) -> Path:
    told = CliRunner().invoke(app, [*ASKED, "--irtt", str(path)])
    assert told.exit_code == 0, told.output
    assert f"wrote {path}" in told.output
    return path


@pytest.fixture(scope="module")
def pings() -> Any:
    """The same run's own table."""
    settings = {**SETTINGS, "flows.under_load": ["ping"]}
    return airtcp.run("lossy-pipe", settings=settings, pings=True).pings


@pytest.mark.parametrize("name", ["x.json", "x.json.gz", "x.csv"])
def test_airtcp_reads_back_the_runs_round_trips(tmp_path: Path, name: str, pings: Any) -> None:
    log = read_ping(written(tmp_path / name))
    answered = pings.drop_nulls("answered_s")
    expected = (answered["answered_s"] - answered["sent_s"]).to_numpy()
    assert np.asarray(log.answered) == pytest.approx(expected, abs=1e-8)
    assert len(expected) > 100
    assert len(pings) - len(expected) > 5
    assert log.interval_s == pytest.approx(0.1, rel=0.01)


def test_each_way_has_its_delays_and_losses(tmp_path: Path, pings: Any) -> None:
    path = written(tmp_path / "x.json")
    trips = json.loads(path.read_text())["round_trips"]
    words = [trip["lost"] for trip in trips]
    assert words.count("true_up") == (pings["lost"] == "request").sum() > 0
    assert words.count("true_down") == (pings["lost"] == "answer").sum() > 0
    for trip in trips:
        assert ("rtt" in trip["delay"]) is (trip["lost"] == "false")
        if trip["delay"]:
            assert trip["delay"]["rtt"] == trip["delay"]["send"] + trip["delay"]["receive"]
    assert set(read_recording(path).delays) == {"up", "down"}


def test_statistics_are_of_the_round_trips(tmp_path: Path) -> None:
    document = json.loads(written(tmp_path / "x.json").read_text())
    stats, trips = document["stats"], document["round_trips"]
    rtts = [trip["delay"]["rtt"] for trip in trips if trip["delay"]]
    assert stats["rtt"]["n"] == stats["packets_received"] == len(rtts)
    assert stats["packets_sent"] == len(trips)
    assert stats["rtt"]["mean"] == pytest.approx(np.mean(rtts))
    assert stats["rtt"]["stddev"] == pytest.approx(np.std(rtts, ddof=1))
    lost = 1 - len(rtts) / len(trips)
    assert stats["packet_loss_percent"] == pytest.approx(100 * lost)


def test_the_table_has_a_row_for_each_ping(tmp_path: Path, pings: Any) -> None:
    rows = list(csv.DictReader(written(tmp_path / "x.csv").read_text().splitlines()))
    assert [int(row["seqno"]) for row in rows] == pings["number"].to_list()[: len(rows)]
    assert {row["lost"] for row in rows} == {"false", "true_up", "true_down"}
    assert all(bool(row["rtt_ns"]) is (row["lost"] == "false") for row in rows)


def test_a_run_without_pings_is_refused_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    told = CliRunner().invoke(app, ["run", "lossy-pipe", "--irtt", str(path)])
    assert told.exit_code == 2
    assert "add --under-load ping" in " ".join(told.output.split())
    assert not path.exists()


def paths_of(value: Any, before: str = "") -> set[str]:
    """The names of every field, with the fields around it."""
    if isinstance(value, list):
        return set().union(*(paths_of(one, f"{before}[]") for one in value))
    if isinstance(value, dict):
        return set().union(*(paths_of(one, f"{before}.{key}") for key, one in value.items()))
    return {f"{before}: {'number' if isinstance(value, int | float) else type(value).__name__}"}


@pytest.mark.needs("irtt")
def test_every_field_is_one_that_irtt_writes(tmp_path: Path) -> None:
    at, path = f"{HOST}:{free_port()}", tmp_path / "irtt.json"
    with served("irtt", "server", "-b", at, ready="starting"):
        output("irtt", "client", "-i", "20ms", "-d", "1s", "-o", str(path), at)
    theirs = paths_of(json.loads(path.read_text()))
    ours = paths_of(json.loads(written(tmp_path / "ours.json").read_text()))
    assert len(ours) > 60
    assert ours <= theirs, sorted(ours - theirs)
