"""What lost a packet, told from captures of simulated links, against what the simulator knows."""

import sys
from collections import Counter
from pathlib import Path

import pytest

import airtcp
from airtcp._core import ScenarioError
from airtcp.diagnosis.drops import Drops, Policer, drops_of
from airtcp.diagnosis.latency import latency
from airtcp.diagnosis.link import fitted_link
from airtcp.diagnosis.observed import observed
from airtcp.diagnosis.read import read_capture
from airtcp.diagnosis.scenario import Stack, modelled
from airtcp.diagnosis.words import link_words, other_way
from airtcp.quantities import parse_bit_rate

sys.path.insert(0, str(Path(__file__).parents[1] / "captures"))

import pcapng

PLAIN = """
name = "captured"
duration = "30 s"
[link]
rate = "10 Mbit/s"
delay = "25 ms"
queue = { packets = 100 }
[tcp]
profile = "linux-reno"
"""


def captured(path: Path, seed: int = 5, **settings: object) -> Path:
    """The capture of a run; `__` in a key's name is a dot."""
    dotted = {key.replace("__", "."): value for key, value in settings.items()}
    airtcp.run(PLAIN, seed, dotted, pcap=path)
    return path


def causes(path: Path) -> Counter[str]:
    """What losses are taken for."""
    labels = read_capture(path, 1, None).labels
    return Counter(labels["loss"].drop_nulls().to_list())


def test_a_policer_is_fitted_and_played(tmp_path: Path) -> None:
    policed = {"link__rate": "100 Mbit/s", "link__policer__rate": "6 Mbit/s"}
    path = captured(tmp_path / "a.pcapng", **policed, link__policer__burst="120 kB")
    found = causes(path)
    assert found["policer"] > 0.95 * found.total()
    capture = read_capture(path, 1, None)
    assert capture.facts is not None
    drops = drops_of(capture.facts["queues"])
    assert drops.policer is not None
    assert drops.policer.bps == pytest.approx(6e6, rel=0.03)
    assert drops.policer.burst_bytes == pytest.approx(120_000, rel=0.1)
    flow = observed(capture.segments, capture.acks)
    link = fitted_link(flow, drops)
    assert link.loss.lost <= 0.05 * found.total()
    assert link.most_bps == drops.policer.bps
    assert "a policer of 6.0" in link_words(link).replace("5.99", "6.00")
    assert not latency(flow, capture.facts["queues"]).is_large
    written = modelled(link, Stack("linux-reno", 1448, sack=True, timestamps=True), 30.0)
    again = airtcp.run(written.toml)
    original = airtcp.run(
        PLAIN,
        9,
        {key.replace("__", "."): value for key, value in policed.items()}
        | {"link.policer.burst": "120 kB"},
    )
    goodputs = [run.summary["goodput_bps"] for run in (again, original)]
    assert goodputs[0] == pytest.approx(goodputs[1], rel=0.1)


def test_a_queue_that_keeps_its_delay_short_is_no_radio(tmp_path: Path) -> None:
    aqm = {"link__aqm__discipline": "codel", "link__queue__packets": 1000}
    path = captured(tmp_path / "a.pcapng", **aqm)
    found = causes(path)
    assert found.total() >= 10
    assert found["radio"] + found["not-shown"] == 0
    assert found["aqm"] > 0.8 * found.total()
    facts = read_capture(path, 1, None).facts
    assert facts is not None
    target_s = drops_of(facts["queues"]).aqm_target_s
    assert target_s is not None
    assert 0.003 <= target_s <= 0.02


def test_losses_of_the_radio_stay_the_radios(tmp_path: Path) -> None:
    path = captured(tmp_path / "a.pcapng", link__loss__rate=0.01)
    found = causes(path)
    assert found.total() >= 50
    assert found["radio"] > 0.95 * found.total()


@pytest.mark.parametrize("is_hidden", [False, True])
def test_a_queue_that_others_fill_is_no_radio(tmp_path: Path, *, is_hidden: bool) -> None:
    several = {"flows__count": 4, "flows__start_spread": "3 s", "tcp__profile": "linux"}
    path = captured(tmp_path / "a.pcapng", **several)
    if is_hidden:
        pcapng.only_port(path, flow=0)
    found = causes(path)
    assert found.total() >= 10
    assert found["tail-drop"] > 0.9 * found.total()
    facts = read_capture(path, 1, None).facts
    assert facts is not None
    assert facts["queues"]["is_shared"]


def test_a_file_out_of_order_is_sorted(tmp_path: Path) -> None:
    path = captured(tmp_path / "a.pcapng", link__loss__rate=0.01)
    mixed = tmp_path / "mixed.pcapng"
    pcapng.out_of_order(path, mixed, every=25)
    straight, capture = read_capture(path, 1, None), read_capture(mixed, 1, None)
    assert capture.warnings != ()
    assert "were sorted by their times" in capture.warnings[-1]
    assert straight.warnings == ()
    same = ["time_ns", "start", "verdict", "cause"]
    assert capture.labels.select(same).equals(straight.labels.select(same))


def test_lost_acknowledgments_are_said(tmp_path: Path) -> None:
    path = captured(tmp_path / "a.pcapng", link__reverse__loss__rate=0.02)
    facts = read_capture(path, 1, None).facts
    assert facts is not None
    assert facts["acks_lost"] is not None
    assert facts["acks_lost"] / (facts["acks"] + facts["acks_lost"]) == pytest.approx(0.02, rel=0.3)
    (said,) = other_way(facts)
    assert "acknowledgments were lost" in said


def test_nothing_is_drops() -> None:
    assert drops_of(None) == Drops()
    assert Drops(Policer(1e6, 1e4)) != Drops()


def test_rates_are_read_as_people_write_them() -> None:
    assert parse_bit_rate("20 Mbit/s") == 20e6
    assert parse_bit_rate("1.5gbit") == 1.5e9
    assert parse_bit_rate("64 kbps") == 64e3
    for wrong in ("", "fast", "-3 Mbit/s", "0", "inf"):
        assert parse_bit_rate(wrong) is None


def test_a_policer_needs_both_of_its_keys() -> None:
    with pytest.raises(ScenarioError, match="burst"):
        airtcp.load_scenario(PLAIN, {"link.policer.rate": "6 Mbit/s"})
