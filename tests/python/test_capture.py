"""Findings in a capture, compared with the simulator's knowledge of the same transfer."""

import json
import re
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import airtcp
from airtcp import _core
from airtcp.diagnosis.read import read_capture

STOPS = {
    "link.stops.process": "periodic",
    "link.stops.every": "3 s",
    "link.stops.length": "800 ms",
}


class Seen:
    """A simulated transfer, its capture at the sender, and the findings in it."""

    def __init__(self, scenario: str, folder: Path, seed: int = 1, **settings: str) -> None:
        loaded = airtcp.load_scenario(scenario, settings=settings)
        self.path = folder / "run.pcapng"
        run = airtcp.Run(loaded, _core.run(loaded, seed, pcap=self.path))
        (self.truth,) = run.summary["flows"]
        self.capture = _core.read_capture(self.path)
        self.summary: dict[str, Any] = json.loads(self.capture.summary())
        self.flow = self.summary["flow"]
        self.labels = pl.DataFrame(self.capture.labels())

    def count(self, **columns: str) -> int:
        """How many labels have these values."""
        same = [pl.col(name) == value for name, value in columns.items()]
        return self.labels.filter(*same).height


@pytest.mark.parametrize("profile", ["newreno", "sack", "linux-reno", "linux"])
def test_retransmissions_timeouts_and_needs(lossy: str, tmp_path: Path, profile: str) -> None:
    seen = Seen(lossy, tmp_path, **{"tcp.profile": profile, "link.loss.rate": "0.01"})
    assert seen.flow["view"] == "sender"
    assert seen.labels.height == seen.truth["segments_retransmitted"] > 10
    assert seen.flow["timeouts"] == seen.truth["timeouts"]
    assert seen.flow["timeouts_spurious"] == seen.truth["timeouts_spurious"]
    # Nothing is late here: every retransmission repairs a loss. The last ones have no answer yet.
    assert seen.count(verdict="needless") == 0
    assert seen.count(verdict="needed") >= 0.9 * seen.labels.height
    assert seen.flow["shares"]["application"] < 0.05
    assert sum(seen.flow["shares"].values()) == pytest.approx(1)


def test_the_radios_losses_and_the_queues(lossy: str, tmp_path: Path) -> None:
    radio = Seen(lossy, tmp_path, **{"tcp.profile": "linux", "link.loss.rate": "0.01"})
    assert radio.count(loss="radio") >= 0.95 * radio.labels.height
    queue = Seen(
        lossy,
        tmp_path,
        **{
            "tcp.profile": "linux-reno",
            "link.loss.rate": "0",
            "link.queue.packets": "40",
            "duration": "60 s",
        },
    )
    assert queue.labels.height >= 5
    assert queue.count(loss="tail-drop") >= 0.95 * queue.labels.height
    assert queue.flow["shows_tail_drop"]
    # 40 packets of 1500 bytes.
    assert queue.flow["longest_queue_bytes"] == pytest.approx(40 * 1500, rel=0.1)
    assert queue.flow["shares"]["link"] > 0.5


def test_stops_and_what_they_trigger(lossy: str, tmp_path: Path) -> None:
    seen = Seen(
        lossy,
        tmp_path,
        **{"tcp.profile": "linux", "link.loss.rate": "0", "duration": "20 s", **STOPS},
    )
    assert seen.truth["timeouts_spurious"] > 0
    assert seen.flow["timeouts"] == seen.truth["timeouts"]
    assert seen.flow["timeouts_spurious"] == seen.truth["timeouts_spurious"]
    assert seen.count(trigger="timeout", cause="delay-spike") == seen.truth["timeouts_spurious"]
    stops = pl.DataFrame(seen.capture.stops())
    lengths = (stops["end_ns"] - stops["start_ns"]) / 1e9
    assert 5 <= stops.height <= 7
    assert lengths.median() == pytest.approx(0.8, abs=0.1)
    assert seen.flow["shares"]["held"] == pytest.approx(0.8 / 3, abs=0.06)


def test_frames_fit_together(lossy: str, tmp_path: Path) -> None:
    seen = Seen(lossy, tmp_path, **{"tcp.profile": "sack"})
    segments, acks = pl.DataFrame(seen.capture.segments()), pl.DataFrame(seen.capture.acks())
    flows = pl.DataFrame(seen.capture.flows())
    assert flows.height == 1
    assert acks["ack"].max() == acks["delivered"].max()
    assert 0 <= segments["end"].max() - acks["ack"].max() < 100_000, "what is under way at the end"
    assert segments.filter(pl.col("attempt") > 0).height == seen.labels.height
    assert set(seen.labels["packet"]) == set(segments.filter(pl.col("attempt") > 0)["packet"])
    assert segments["lost"].sum() == seen.count(verdict="needed")
    # 25 ms each way, and 1.2 ms for the packet itself, which the handshake does not have.
    data = segments.filter(pl.col("end") - pl.col("start") > 1)
    assert data["rtt_ns"].min() == pytest.approx(51.2e6, rel=0.01)
    hazard = pl.DataFrame(seen.capture.hazard())
    assert hazard["lost"].sum() <= seen.labels.height


@pytest.mark.needs("tshark")
def test_comments_stand_on_the_packets_that_are_labelled(lossy: str, tmp_path: Path) -> None:
    seen = Seen(lossy, tmp_path, **{"tcp.profile": "sack"})
    out = tmp_path / "annotated.pcapng"
    seen.capture.annotate(out)
    command = ["tshark", "-n", "-r", str(out), "-Y", "frame.comment"]
    command += ["-T", "fields", "-e", "frame.number", "-e", "frame.comment"]
    listing = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    rows = [line.split("\t", 1) for line in listing.stdout.splitlines()]
    assert [int(number) for number, _ in rows] == seen.labels["packet"].to_list()
    for (_, comment), trigger in zip(rows, seen.labels["trigger"], strict=True):
        assert comment.startswith("airtcp: retransmission")
        assert f"by {trigger}" in comment


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    empty = tmp_path / "empty.pcap"
    empty.write_bytes(b"")
    with pytest.raises(_core.CaptureError, match=r"empty\.pcap: the capture is empty"):
        _core.read_capture(empty)
    with pytest.raises(_core.CaptureError, match="No such file"):
        _core.read_capture(tmp_path / "absent.pcap")
    with pytest.raises(_core.CaptureError, match='view = "side": expected sender, receiver'):
        _core.read_capture(empty, view="side")


def test_progress_is_told_and_interrupts(lossy: str, tmp_path: Path) -> None:
    seen = Seen(lossy, tmp_path)
    with pytest.raises(_core.CaptureError, match="flow = 9: expected a number"):
        _core.read_capture(seen.path, 9)
    short = json.loads(_core.read_capture(seen.path, packets=1000).summary())
    assert short["flow"]["cut_after_ns"] > 0


def test_a_flow_without_room_for_its_packets_says_which_part_is_diagnosed(
    lossy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Seen(lossy, tmp_path).path
    whole = read_capture(path, None, None)
    assert whole.warnings == ()
    of_core = _core.read_capture
    monkeypatch.setattr(_core, "read_capture", partial(of_core, packets=1000))
    cut = read_capture(path, None, None)
    (said,) = cut.warnings
    found = re.search(r"the first (\S+) s of the (\S+) s of flow 1 are diagnosed", said)
    assert found is not None, said
    part, all_of_it = (float(one) for one in found.groups())
    assert 0 < part < all_of_it
    assert cut.tables.segments.time_ns.max() / 1e9 == pytest.approx(part, abs=0.2)
    # Every time of the rest is given in a form that editcap takes.
    assert re.search(rf"editcap -A 1970-01-01T00:00:0\dZ {path} rest\.pcap", said)
