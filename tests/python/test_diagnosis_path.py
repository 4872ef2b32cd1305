"""A path that changes: its phases by the round trip without a queue, and no phase by a queue."""

import sys
from pathlib import Path

import pytest

import airtcp
from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.read import read_capture
from airtcp.diagnosis.result import Diagnosis

sys.path.insert(0, str(Path(__file__).parents[1] / "captures"))

import pcapng
from drained import drained_at_receiver


def of(path: Path) -> Diagnosis:
    """The diagnosis of the first flow, without trials."""
    return diagnosed(read_capture(path, 1, None), None)


PATH = """
name = "captured"
duration = "40 s"
[link]
rate = "20 Mbit/s"
recorded = { path = "path.csv" }
queue = { packets = 300 }
loss = { rate = 0.003 }
[tcp]
profile = "linux"
"""


def test_a_handover_is_seen_although_a_queue_hides_the_first_path(tmp_path: Path) -> None:
    (tmp_path / "path.csv").write_text("time_ms,delay_ms,loss\n0,16,0\n9000,31,0\n17000,22,0\n")
    keys = {
        "link.rate": "10 Mbit/s",
        "link.queue.packets": 100,
        "link.loss.rate": 0.002,
        "link.recorded.path": str(tmp_path / "path.csv"),
        "tcp.profile": "linux",
    }
    text = 'name = "handover"\nduration = "25 s"\n'
    airtcp.run(text, 3, settings=keys, pcap=tmp_path / "a.pcapng")
    found = of(tmp_path / "a.pcapng")
    assert "33 ms, 63 ms from 9 s on, 45 ms from 17 s on" in found.sentences[0]


@pytest.mark.parametrize(
    ("rate", "packets", "loss"),
    [("20 Mbit/s", 200, 0), ("20 Mbit/s", 200, 0.001), ("50 Mbit/s", 400, 0)],
)
def test_bbr_shows_each_of_two_shorter_paths(
    rate: str, packets: int, loss: float, tmp_path: Path
) -> None:
    """Few bytes are in flight just after the change: a queue of theirs would hide a short path."""
    (tmp_path / "path.csv").write_text("time_ms,delay_ms,loss\n0,45,0\n12000,20,0\n24000,12,0\n")
    keys = {
        "link.rate": rate,
        "link.queue.packets": packets,
        "link.loss.rate": loss,
        "link.recorded.path": str(tmp_path / "path.csv"),
        "tcp.profile": "linux-bbr",
    }
    text = 'name = "shorter"\nduration = "36 s"\n'
    airtcp.run(text, 3, settings=keys, pcap=tmp_path / "a.pcapng")
    found = of(tmp_path / "a.pcapng")
    assert [one.from_s for one in found.phases] == pytest.approx([0.0, 12.0, 24.0], abs=0.3)
    bases = [1e3 * one.base_rtt_s for one in found.phases]
    assert bases == pytest.approx([90.5, 40.5, 24.5], abs=1.5)
    assert "The link model does not explain" not in found.headline


def test_bbr_shows_the_path_whenever_it_drains_its_queue(tmp_path: Path) -> None:
    (tmp_path / "path.csv").write_text("time_ms,delay_ms,loss\n0,10,0\n8000,30,0\n18000,20,0\n")
    keys = {
        "link.rate": "10 Mbit/s",
        "link.queue.packets": 80,
        "link.loss.rate": 0.001,
        "link.recorded.path": str(tmp_path / "path.csv"),
        "tcp.profile": "linux-bbr",
    }
    text = 'name = "handover"\nduration = "34 s"\n'
    airtcp.run(text, 7, settings=keys, pcap=tmp_path / "a.pcapng")
    facts = read_capture(tmp_path / "a.pcapng", None, None).facts
    assert facts is not None
    assert [one["base_rtt_ns"] / 1e6 for one in facts["phases"]] == pytest.approx(
        [20.6, 60.6, 40.6], abs=2.0
    )
    assert [one["from_ns"] / 1e9 for one in facts["phases"]] == pytest.approx(
        [0.0, 8.0, 18.0], abs=0.2
    )


@pytest.mark.parametrize(
    "more",
    [
        {"link.rate": "10 Mbit/s", "link.delay": "25 ms"},
        # Others fill the queue for a while, or all the time.
        {
            "link.rate": "20 Mbit/s",
            "link.delay": "30 ms",
            "link.queue.packets": 300,
            "flows.count": 4,
            "flows.start_spread": "12 s",
        },
        {
            "link.rate": "10 Mbit/s",
            "link.delay": "25 ms",
            "flows.count": 2,
            "flows.start_spread": "20 s",
            "flows.tcp": '[{ profile = "linux-bbr" }, { profile = "linux" }]',
        },
        {
            "link.rate": "100 Mbit/s",
            "link.delay": "25 ms",
            "link.policer.rate": "8 Mbit/s",
            "link.policer.burst": "200 kB",
        },
    ],
    ids=["constant", "four hidden", "one hidden", "policer"],
)
def test_the_queue_of_bbr_and_others_is_no_longer_path(
    tmp_path: Path, more: dict[str, object]
) -> None:
    keys = {"link.queue.packets": 100, "tcp.profile": "linux-bbr"} | more
    path = tmp_path / "a.pcapng"
    airtcp.run('name = "capture"\nduration = "34 s"\n', 7, settings=keys, pcap=path)
    pcapng.only_port(path, flow=0)
    facts = read_capture(path, None, None).facts
    assert facts is not None
    assert not facts["phases"]


def test_a_longer_path_is_no_queue(tmp_path: Path) -> None:
    (tmp_path / "path.csv").write_text("time_ms,delay_ms,loss\n0,15,0\n15000,30,0\n28000,22,0\n")
    scenario = tmp_path / "captured.toml"
    scenario.write_text(PATH)
    airtcp.run(scenario, seed=2, pcap=tmp_path / "a.pcapng")
    found = of(tmp_path / "a.pcapng")
    facts = found.capture.facts
    assert facts is not None
    bases = [one["base_rtt_ns"] / 1e6 for one in facts["phases"]]
    assert bases == pytest.approx([30.6, 60.6, 44.6], abs=1.0)
    begins = [one["from_ns"] / 1e9 for one in facts["phases"]][1:]
    assert begins == pytest.approx([15.0, 28.0], abs=0.2)
    assert "the path changes twice" in found.headline
    assert facts["shares"]["link"] < 0.2
    assert found.replay is not None
    assert found.replay.explains, found.replay.deviations


def test_a_queue_that_stays_is_no_longer_path(tmp_path: Path) -> None:
    settings = {"link.rate": "6 Mbit/s", "link.delay": "15 ms", "link.loss.rate": 0}
    text = PATH.replace('recorded = { path = "path.csv" }\n', "")
    airtcp.run(text, seed=1, settings=settings, pcap=tmp_path / "a.pcapng")
    facts = of(tmp_path / "a.pcapng").capture.facts
    assert facts is not None
    assert not facts["phases"]


@pytest.mark.parametrize(
    ("bps", "queued_s", "delays_ms"),
    [(12e6, 0.006, (16, 31, 22)), (8e6, 0.015, (45, 18, 32)), (8e6, 0.006, (20, 35, 28))],
)
def test_a_receiver_sees_the_path_change_while_the_link_is_always_full(
    tmp_path: Path, bps: float, queued_s: float, delays_ms: tuple[int, ...]
) -> None:
    delays = tuple(zip((0.0, 7.0, 15.0), (delay / 1e3 for delay in delays_ms), strict=True))
    path = drained_at_receiver(tmp_path / "a.pcap", delays, bps=bps, queued_s=queued_s)
    facts = read_capture(path, None, None).facts
    assert facts is not None
    assert facts["view"] == "receiver"
    assert [one["base_rtt_ns"] / 1e6 for one in facts["phases"]] == pytest.approx(
        [2 * delay for delay in delays_ms], abs=5.0
    )
    begins = [one["from_ns"] / 1e9 for one in facts["phases"]]
    assert begins == pytest.approx([0.0, 7.0, 15.0], abs=0.3)


def test_a_receiver_sees_no_change_of_a_steady_path(tmp_path: Path) -> None:
    path = drained_at_receiver(tmp_path / "a.pcap", ((0.0, 0.03),), seconds=15.0)
    facts = read_capture(path, None, None).facts
    assert facts is not None
    assert not facts["phases"]
