"""`airtcp run --flent`: read by airtcp's own reader, and by flent where it is installed."""

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import airtcp
from airtcp.cli.commands import app

SETTINGS = ["--set", "duration=4 s"]


def written(path: Path, *arguments: str) -> dict[str, Any]:
    command = ["run", *arguments, *SETTINGS, "--flent", str(path)]
    told = CliRunner().invoke(app, command)
    assert told.exit_code == 0, told.output
    document: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return document


def test_rates_and_round_trips_are_the_runs(tmp_path: Path) -> None:
    path = tmp_path / "run.flent.gz"
    document = written(path, "satellite-upload")
    run = airtcp.run("satellite-upload", settings={"duration": "4 s"}, rtts=True)
    rates = document["results"]["TCP upload"]
    assert len(rates) == len(document["x_values"]) == 20
    delivered = sum(rates) * 0.2e6 / 8
    assert delivered == pytest.approx(run.summary["goodput_bps"] * 4 / 8, rel=0.02)
    raw = [one["val"] for one in document["raw_values"]["Ping (ms) ICMP"]]
    assert raw == run.rtts["rtt_ms"].to_list()
    means = [one for one in document["results"]["Ping (ms) ICMP"] if one is not None]
    assert min(raw) <= min(means) <= max(means) <= max(raw)
    again = tmp_path / "again.flent.gz"
    written(again, "satellite-upload")
    assert again.read_bytes() == path.read_bytes()


def test_several_flows_have_a_series_each_and_their_sum(tmp_path: Path) -> None:
    document = written(tmp_path / "run.flent.gz", "household")
    results = document["results"]
    assert document["metadata"]["NAME"] == "tcp_ndown"
    each = [results[f"TCP download::{flow}"] for flow in (1, 2, 3, 4)]
    assert results["TCP download sum"] == pytest.approx(
        [sum(one) for one in zip(*each, strict=True)]
    )


def test_airtcp_reads_it_back(tmp_path: Path) -> None:
    path = tmp_path / "run.flent.gz"
    written(path, "lossy-pipe")
    told = CliRunner().invoke(app, ["import", str(path), "-o", str(tmp_path / "link.toml")])
    assert told.exit_code == 0, told.output
    assert "flent" in told.output


def test_flent_reads_it(tmp_path: Path) -> None:
    resultset = pytest.importorskip("flent.resultset", reason="pip install flent")
    path = tmp_path / "run.flent.gz"
    document = written(path, "lossy-pipe")
    loaded = resultset.load(str(path))
    assert list(loaded.x_values) == document["x_values"]
    assert set(loaded.series_names) == set(document["results"])


def test_another_ending_is_refused(tmp_path: Path) -> None:
    told = CliRunner().invoke(app, ["run", "lossy-pipe", "--flent", str(tmp_path / "run.csv")])
    assert told.exit_code == 2
    assert "expected a name ending in .gz" in told.output


def test_missing_values_are_no_losses_and_no_fault(tmp_path: Path) -> None:
    """NaN, which Python's json writes, null series, and a ping that began late or ended early."""
    document = written(tmp_path / "run.flent.gz", "lossy-pipe")
    ping = "Ping (ms) ICMP"

    def read(**changed: object) -> str:
        path = tmp_path / "changed.flent"
        path.write_text(json.dumps(document | changed))
        told = CliRunner().invoke(app, ["import", str(path), "-o", str(tmp_path / "link.toml")])
        assert told.exit_code == 0, told.output
        return " ".join(told.output.split())

    probes = len(document["raw_values"][ping])
    raw = list(document["raw_values"][ping])
    raw[7] = raw[7] | {"val": math.nan}
    assert f"{probes} probes, 1 lost" in read(raw_values={ping: raw})
    steps = document["results"][ping]
    late = [None, None, *steps[2:5], None, *steps[6:-1], None]
    said = read(raw_values=None, results=document["results"] | {ping: late})
    assert f"{len(steps) - 3} probes, 1 lost" in said
    assert "3 empty steps" in said
    named = [{"n": '"NaN" and \\ NaN'}]
    assert "lost" in read(raw_values=None, results=document["results"] | {"x": None}, notes=named)
