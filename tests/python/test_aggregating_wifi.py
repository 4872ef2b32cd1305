"""All features work on 802.11n, ac and ax: remedies, probes, pictures, records, answers."""

import json
from pathlib import Path

import polars as pl
import pytest

import airtcp
from airtcp.pages.plot.pictures import PICTURES
from test_cli import airtcp_command

WIFI = """
duration = "400 ms"
topology = "wlan"
[wlan]
standard = "{standard}"
mcs = 4
loss.rate = 0.1
[wired]
delay = "3 ms"
[flows]
direction = ["up", "down"]
count = 2
"""
STANDARDS = ("802.11n", "802.11ac", "802.11ax")
PROBES = ["aggregate", "block_ack_window", "airtime", "rate", "mode", "mac_retries"]
# They have no place on such a link, and why.
NO_PLACE = {
    "autorate": 'set topology = "pipe"',
    "dynamic-arq": 'wlan.standard = "802.11b"',
    "fast-open": "no two hosts open one after another here",
    "fec": 'set topology = "pipe"',
    "freeze-tcp": "wlan.outage",
    "hand-off-acks": "wlan.outage",
    "rto-deviation": 'tcp.rtt_estimation = "rfc6298"',
}


def wifi(folder: Path, standard: str = "802.11ax") -> Path:
    """A scenario file: an upload and a download."""
    file = folder / "wifi.toml"
    file.write_text(WIFI.format(standard=standard))
    return file


@pytest.mark.parametrize("standard", STANDARDS)
def test_probes_and_frames_tell_of_aggregates(standard: str) -> None:
    run = airtcp.run(WIFI.format(standard=standard), probes=PROBES, air=True)
    samples = run.samples
    for probe in PROBES:
        column = next(name for name in samples.columns if name.startswith(probe))
        assert samples[column].max() > 0, probe
    data = run.frames.filter(pl.col("frame") == "data")
    assert data["mpdus"].max() > 10
    assert data["damaged"].sum() > 0
    answered = run.frames.filter(pl.col("frame") == "block-ack")
    assert len(answered) > 10
    # Each station's airtime is its frames', the answers to them, and the pauses between.
    spent = (data["end_s"] - data["start_s"]).sum()
    per_flow = samples.group_by("flow").agg(pl.col("airtime_s").max())["airtime_s"].sum()
    assert per_flow == pytest.approx(spent, rel=0.25)


@pytest.mark.parametrize("name", sorted(remedy["name"] for remedy in airtcp.remedies()))
def test_each_remedy_runs_or_says_why_not(name: str) -> None:
    scenario = WIFI.format(standard="802.11ax")
    if name not in NO_PLACE:
        settings = {"duration": "150 ms"}
        summary = airtcp.run(scenario, settings=settings, remedies=[name]).summary
        assert summary["goodput_bps"] > 1e5
        return
    with pytest.raises(airtcp.AirtcpError, match=NO_PLACE[name].replace(".", r"\.")):
        airtcp.run(scenario, remedies=[name])


@pytest.mark.parametrize("kind", sorted(set(PICTURES) - {"retries", "fading"}))
def test_pictures_are_drawn(kind: str, tmp_path: Path) -> None:
    picture = tmp_path / f"{kind}.png"
    done = airtcp_command(
        *("run", wifi(tmp_path), "--picture", f"{kind}={picture}"),
        *(("--remedy", "delay-injection") if kind == "injection" else ()),
    )
    assert done.exit_code == 0, done.stderr
    assert picture.stat().st_size > 5_000


def test_a_run_is_written_as_segments_and_events(tmp_path: Path) -> None:
    segments, events = tmp_path / "run.pcapng", tmp_path / "run.qlog"
    done = airtcp_command("run", wifi(tmp_path), "--pcap", segments, "--qlog", events)
    assert done.exit_code == 0, done.stderr
    lines = events.read_bytes().split(b"\x1e")
    assert sum(1 for line in lines if line.strip() and json.loads(line)) > 500
    assert segments.stat().st_size > 100_000


def test_a_loss_is_the_radios_where_its_retries_were_in_vain() -> None:
    lossy = WIFI.format(standard="802.11ax").replace("0.1", "0.3") + "[tcp]\nprofile = 'sack'\n"
    once = airtcp.run(lossy, settings={"wlan.retry_limit": 1, "duration": "2 s"}).summary
    assert sum(flow["segments_lost_link"] for flow in once["flows"]) > 20
    always = airtcp.run(lossy, settings={"wlan.retry_limit": "unlimited", "duration": "2 s"})
    assert sum(flow["segments_lost_link"] for flow in always.summary["flows"]) == 0


def test_remedies_are_compared_and_ranked(tmp_path: Path) -> None:
    done = airtcp_command(
        *("compare", wifi(tmp_path), "--seeds", "3", "--max-seeds", "3", "--can", "all"),
        *("--remedy", "bbr", "--remedy", "split-tcp"),
    )
    assert done.exit_code == 0, done.stderr
    assert "split-tcp" in done.stdout


def test_the_wire_does_not_throttle_what_says_nothing_of_it() -> None:
    alone = (
        'duration = "500 ms"\ntopology = "wlan"\nflows.kind = "udp"\nwlan.standard = "802.11ac"\n'
    )
    wide = {"wlan.channel_width": "80 MHz", "wlan.spatial_streams": 2, "wlan.mcs": 8}
    assert airtcp.run(alone, settings=wide).summary["goodput_bps"] > 400e6
