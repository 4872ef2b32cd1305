"""Links that others share, and links that deliver in bursts, as captures of simulated ones."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import airtcp
from airtcp.diagnosis.aggregates import aggregates_of
from airtcp.diagnosis.beside import hidden_beside, with_beside
from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.ceiling import ceiling
from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.link_words import link_words
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.read import read_capture
from airtcp.diagnosis.words import headline

sys.path.insert(0, str(Path(__file__).parents[1] / "captures"))

import pcapng

SCENARIOS = Path(__file__).parents[2] / "scenarios"
LINK = """
name = "captured"
duration = "25 s"
[link]
rate = "8 Mbit/s"
delay = "20 ms"
queue = { packets = 80 }
[tcp]
profile = "linux"
[flows]
count = 3
start_spread = "2 s"
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture of three flows over one link."""
    path = tmp_path_factory.mktemp("shared") / "seen.pcapng"
    airtcp.run(LINK, 4, pcap=path)
    return path


@pytest.fixture(scope="module")
def hidden(seen: Path) -> Path:
    """The same with only one of them in the capture."""
    path = seen.with_name("hidden.pcapng")
    path.write_bytes(seen.read_bytes())
    pcapng.only_port(path, flow=0)
    return path


def link_of(path: Path) -> tuple[Observed, FittedLink]:
    """The flow and its fitted link."""
    found = diagnosed(read_capture(path, 1, None), None)
    assert found.flow is not None
    assert found.link is not None
    return found.flow, found.link


def test_flows_of_a_capture_that_share_a_queue_are_one_delivery(seen: Path) -> None:
    flow, link = link_of(seen)
    assert link.beside is not None
    assert link.beside.is_seen
    assert link.beside.flows == 2
    assert link.bps == pytest.approx(8e6, rel=0.03)
    assert link.queue.packets == pytest.approx(80, abs=4)
    assert link.beside.share == pytest.approx(flow.goodput_bps * flow.overhead / 8e6, abs=0.05)
    assert "2 other captured flows share it" in link_words(link)


def test_traffic_beside_the_capture_is_told_by_the_gaps_that_it_leaves(hidden: Path) -> None:
    flow, link = link_of(hidden)
    assert link.beside is not None
    assert not link.beside.is_seen
    assert link.bps == pytest.approx(8e6, rel=0.03)
    assert link.queue.packets == pytest.approx(80, abs=4)
    most = ceiling(link, flow)
    assert most.is_shared
    if most.is_reached:
        assert "leave" in headline(most, None, ())


def test_the_capture_of_a_shared_link_is_given_back(seen: Path, hidden: Path) -> None:
    for path in (seen, hidden):
        replay = diagnosed(read_capture(path, 1, None), None).replay
        assert replay is not None
        assert replay.explains, replay.deviations


def test_a_rate_that_falls_to_a_fourth_is_not_shared(tmp_path: Path) -> None:
    """Its longer gaps are whole packet times, too, but without any of the short ones among them."""
    steps = [*range(1, 4001), *range(4004, 8001, 4)]
    (tmp_path / "steps.opportunities").write_text("".join(f"{at}\n" for at in steps))
    path = tmp_path / "steps.pcapng"
    alone = LINK.replace("count = 3", "count = 1").replace('rate = "8 Mbit/s"\n', "")
    text = alone.replace("[link]", '[link]\ntrace = { up = "steps.opportunities", data = "up" }')
    (tmp_path / "steps.toml").write_text(text)
    airtcp.run(tmp_path / "steps.toml", 2, pcap=path)
    flow, link = link_of(path)
    assert hidden_beside(flow) is None
    assert link.beside is None
    assert "or one shared with others" in link_words(link)


def test_flows_with_delays_of_their_own_share_nothing(tmp_path: Path) -> None:
    """A single flow, compared with a copy of itself at another time."""
    path = tmp_path / "alone.pcapng"
    airtcp.run(LINK.replace("count = 3", "count = 1"), 4, pcap=path)
    flow, link = link_of(path)
    assert link.beside is None
    random = np.random.default_rng(1)
    assert flow.link_share == 1.0
    mixed = random.permutation(flow.rtt_s[flow.sampled])
    other = flow.rtt_s.copy()
    other[flow.sampled] = mixed
    assert with_beside(flow, [replace(flow, rtt_s=other)]).beside == ()


@pytest.mark.long
def test_wifi_that_aggregates_delivers_in_bursts_and_has_no_rate_of_gigabits(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.pcapng"
    settings = {"duration": "6 s", "flows.count": "1"}
    run = airtcp.run(SCENARIOS / "laptop-upload.toml", 1, settings, pcap=path)
    _, link = link_of(path)
    assert link.aggregates is not None
    assert link.aggregates.packets > 10
    assert link.bps < 3 * run.summary["goodput_bps"]
    assert f"bursts of {link.aggregates.packets} packets" in link_words(link)


def test_a_pipe_delivers_one_by_one(hidden: Path) -> None:
    flow, link = link_of(hidden)
    assert aggregates_of(flow) is None
    assert link.aggregates is None
