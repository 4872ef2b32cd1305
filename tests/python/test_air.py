"""The tables of the air, the pictures drawn of them, and the message when there is nothing."""

from pathlib import Path

import polars as pl
import pytest

import airtcp
from airtcp.pages.plot.pictures import PICTURES
from test_cli import airtcp_command

UPLOAD = """
duration = "2 s"
topology = "wlan"
flows = { count = 4, direction = "up" }
[wlan]
loss = { model = "block", lost = 20, of = 100 }
"""
RADIO = """
duration = "2 s"
topology = "wlan"
flows.count = 3
[wlan.radio]
fading = "independent"
distance_m = 60
transmit_power_dbm = 10
"""
SIFS_S = 10e-6


@pytest.fixture(scope="module")
def upload() -> airtcp.Run:
    """An upload whose acknowledgments are delayed."""
    return airtcp.run(UPLOAD, remedies=["delay-injection"], air=True)


def test_frames_overlap_only_when_they_collide(upload: airtcp.Run) -> None:
    frames = upload.frames.sort("start_s")
    before = frames["end_s"].cum_max().shift(1, fill_value=0.0)
    overlapping = frames.filter(frames["start_s"] < before - 1e-9)
    assert len(overlapping) > 5
    assert set(overlapping["fate"]) == {"collided"}


def test_each_data_frame_that_is_received_is_acknowledged_after_sifs(upload: airtcp.Run) -> None:
    received = upload.frames.filter((pl.col("frame") == "data") & (pl.col("fate") == "received"))
    acks = upload.frames.filter(pl.col("frame") == "ack")
    # The run may end between the two.
    assert 0 <= len(received) - len(acks) <= 1
    for data, ack in zip(received["end_s"], acks["start_s"], strict=False):
        assert ack - data == pytest.approx(SIFS_S, abs=1e-9)


def test_what_was_damaged_is_sent_again_or_given_up(upload: airtcp.Run) -> None:
    damaged = upload.frames.filter(pl.col("fate") == "damaged")
    assert len(damaged) > 10
    assert upload.frames["attempt"].max() > 10, "with unlimited retries, a block of 20 is sat out"


def test_judged_acknowledgments_are_consistent(upload: airtcp.Run) -> None:
    judged = upload.agents.filter(pl.col("event") == "ack-judged")
    assert len(judged) > 100
    spikes = judged.filter(pl.col("spike"))
    assert len(spikes) > 0
    assert (spikes["path_delay_ms"] > spikes["threshold_ms"].shift(1, fill_value=0.0)).sum() > 0
    assert (judged["held_ms"] >= 0).all()


@pytest.mark.parametrize("kind", PICTURES)
def test_every_picture_is_drawn(kind: str, tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(RADIO if kind in {"fading", "retries"} else UPLOAD)
    remedy = "dynamic-arq" if kind == "retries" else "delay-injection"
    picture = tmp_path / f"{kind}.png"
    done = airtcp_command("run", scenario, "--remedy", remedy, "--picture", f"{kind}={picture}")
    assert done.exit_code == 0, done.stderr
    assert picture.stat().st_size > 10_000


def test_tables_are_written(tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(UPLOAD)
    frames, agents = tmp_path / "frames.csv", tmp_path / "agents.parquet"
    done = airtcp_command("run", scenario, "--frames", frames, "--agents", agents)
    assert done.exit_code == 0, done.stderr
    assert len(pl.read_csv(frames)) > 1000
    assert "path_delay_ms" in pl.read_parquet(agents).columns


@pytest.mark.parametrize(
    ("picture", "said"),
    [
        ("channel=x.png", "a scenario with a medium"),
        ("fading=x.png", "the scenario has no radio"),
        ("injection=x.png", "the remedy delay-injection"),
        ("retries=x.png", "give the remedy dynamic-arq"),
        ("spectrum=x.png", "KIND one of timeline, channel, fading, injection, retries"),
        ("channel", "expected KIND=FILE"),
        ("channel=x.jpeg", "expected a name ending in .png or .svg or .pdf"),
    ],
)
def test_a_picture_of_nothing_is_refused(
    picture: str, said: str, lossy_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = airtcp_command("run", lossy_file, "--picture", picture)
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())
    assert not list(tmp_path.glob("x.*"))


def test_round_trips_of_a_cell_are_a_link_for_another_scenario(tmp_path: Path) -> None:
    log = tmp_path / "cell.csv"
    cell = Path(__file__).resolve().parents[2] / "scenarios" / "cell.toml"
    done = airtcp_command("run", cell, "--set", "duration=20 s", "--seed", "2", "--rtt-log", log)
    assert done.exit_code == 0, done.stderr
    replay = tmp_path / "replay.toml"
    replay.write_text('duration = "20 s"\ntcp.max_window = 10\nlink.rtt_log.path = "cell.csv"\n')
    summary = airtcp.run(replay).summary
    recorded = pl.read_csv(log)["rtt_ms"]
    assert len(recorded) > 100
    # In order: a short round trip after a long one does not show.
    least = summary["flows"][0]["min_rtt_ms"]
    assert least is not None
    assert min(recorded) <= least <= max(recorded)
