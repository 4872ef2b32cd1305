"""Causes of losses, found in captures of simulated links and compared with the truth."""

import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

import airtcp
from airtcp._core import ScenarioError
from airtcp.core.quantities import parse_bit_rate
from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.drops import Drops, Policer, drops_of
from airtcp.diagnosis.latency import latency
from airtcp.diagnosis.link import fitted_link
from airtcp.diagnosis.link_words import link_words
from airtcp.diagnosis.observed import observed
from airtcp.diagnosis.read import read_capture
from airtcp.diagnosis.scenario import Stack, modelled

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
    airtcp.run(PLAIN, seed, dotted(settings), pcap=path)
    return path


def dotted(settings: Mapping[str, object]) -> dict[str, object]:
    """Keys of a scenario."""
    return {key.replace("__", "."): value for key, value in settings.items()}


def causes(path: Path) -> Counter[str]:
    """Causes found for losses."""
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
    assert drops.policer.bps == pytest.approx(6e6, rel=0.01)
    assert drops.policer.burst_bytes == pytest.approx(120_000, rel=0.03)
    flow = observed(capture.tables.segments, capture.tables.acks)
    link = fitted_link(flow, drops)
    assert link.loss.lost <= 0.05 * found.total()
    assert link.most_bps == drops.policer.bps
    assert "a policer of " in link_words(link)
    assert not latency(flow, capture.facts["queues"]).is_large
    written = modelled(link, Stack("linux-reno", 1448, sack=True, timestamps=True), 30.0)
    again = airtcp.run(written.toml)
    original = airtcp.run(
        PLAIN,
        9,
        dotted(policed | {"link__policer__burst": "120 kB"}),
    )
    goodputs = [run.summary["goodput_bps"] for run in (again, original)]
    assert goodputs[0] == pytest.approx(goodputs[1], rel=0.1)


def test_a_queue_that_keeps_its_delay_short_is_no_radio(tmp_path: Path) -> None:
    aqm = {"link__aqm__discipline": "codel", "link__queue__packets": 1000}
    path = captured(tmp_path / "a.pcapng", **aqm)
    found = causes(path)
    assert found.total() >= 10
    assert found["aqm"] == found.total()
    facts = read_capture(path, 1, None).facts
    assert facts is not None
    target_s = drops_of(facts["queues"]).aqm_target_s
    assert target_s is not None
    assert 0.003 <= target_s <= 0.01


@pytest.mark.parametrize("seed", [101, 104, 105, 107, 116])
def test_bursts_of_a_radio_beside_a_full_queue_are_nobody_elses(seed: int, tmp_path: Path) -> None:
    """Each burst meets one delay; many packets of one make no queue that others share."""
    bursts = {"link__loss__model": "gilbert-elliott", "link__loss__good_to_bad": 0.0005}
    bursts |= {"link__loss__bad_to_good": 0.05, "link__loss__loss_in_bad": 0.8}
    link = {"link__rate": "4 Mbit/s", "link__delay": "50 ms", "link__queue__packets": 60}
    path = captured(tmp_path / "a.pcapng", seed, **link, **bursts, tcp__profile="linux")
    facts = read_capture(path, 1, None).facts
    assert facts is not None
    assert not facts["queues"]["is_shared"]


def test_few_losses_of_a_managed_queue_beside_a_radio_are_not_called_the_radios(
    tmp_path: Path,
) -> None:
    """Where neither is likely enough the cause is left open, and counts for neither."""
    aqm = {"link__aqm__discipline": "codel", "link__queue__packets": 1000}
    path = captured(tmp_path / "a.pcapng", seed=1, **aqm, link__loss__rate=0.002)
    labels = read_capture(path, 1, None).labels.filter(pl.col("loss").is_not_null())
    run = airtcp.run(PLAIN, 1, dotted(aqm | {"link__loss__rate": 0.002}))
    dropped = run.events.filter(pl.col("event").cast(pl.String) == "queue-drop")
    of_queue = labels.filter(pl.col("start").is_in(dropped["offset"].to_list()))
    assert len(of_queue) >= 5
    called = Counter(of_queue["loss"].to_list())
    assert called["aqm"] + called["queue-or-radio"] >= 0.8 * len(of_queue)
    assert called["tail-drop"] == 0


def test_a_short_full_queue_may_be_a_managed_one(tmp_path: Path) -> None:
    """As long as nothing met a longer queue, both look alike: the sentence names both."""
    path = captured(tmp_path / "a.pcapng", link__queue__packets=8)
    capture = read_capture(path, 1, None)
    assert capture.facts is not None
    assert set(causes(path)) <= {"tail-drop", "aqm", "queue-or-radio"}
    link = fitted_link(
        observed(capture.tables.segments, capture.tables.acks), drops_of(capture.facts["queues"])
    )
    assert "AQM" in link_words(link)


def test_a_queue_is_no_policer(tmp_path: Path) -> None:
    """Both drop packets beyond a rate and a burst; only packets dropped by a queue had waited."""
    for settings in ({"link__queue__packets": 20}, {"link__aqm__discipline": "codel"}):
        path = captured(tmp_path / "a.pcapng", **settings)
        assert causes(path)["policer"] == 0


def test_bursts_of_the_radio_are_no_queue(tmp_path: Path) -> None:
    bursts = {"link__loss__model": "gilbert-elliott"}
    bursts |= {"link__loss__good_to_bad": "0.002", "link__loss__bad_to_good": "0.25"}
    bursts |= {"link__loss__loss_in_bad": "0.6", "link__queue__packets": "400"}
    path = captured(tmp_path / "a.pcapng", **bursts)
    found = causes(path)
    assert found.total() >= 50
    assert found["radio"] + found["queue-or-radio"] == found.total()
    assert found["radio"] >= 0.7 * found.total()


def test_what_offload_joined_is_counted_as_segments(tmp_path: Path) -> None:
    path = captured(tmp_path / "a.pcapng", link__loss__rate=0.01)
    joined = tmp_path / "joined.pcapng"
    rows = pcapng.joined(path, joined, most=8)
    assert rows > 100
    straight, offloaded = read_capture(path, 1, None), read_capture(joined, 1, None)
    assert len(offloaded.segments) == len(straight.segments)
    assert offloaded.segments["lost"].sum() == pytest.approx(straight.segments["lost"].sum(), abs=2)
    fits = [
        fitted_link(observed(one.tables.segments, one.tables.acks)).loss.rate
        for one in (straight, offloaded)
    ]
    assert fits[1] == pytest.approx(fits[0], rel=0.05)


def test_packets_that_overtook_others_are_reordering(tmp_path: Path) -> None:
    late = {"link__late__share": 0.02, "link__late__by": "60 ms", "tcp__timestamps": False}
    late |= {"tcp__eifel": False, "link__queue__packets": 1000}
    labels = read_capture(captured(tmp_path / "a.pcapng", **late), 1, None).labels
    needless = labels.filter(pl.col("verdict") == "needless")
    assert len(needless) >= 3
    assert set(needless["cause"].to_list()) <= {"reordering", "delay-spike", "not-shown"}
    assert "reordering" in needless["cause"].to_list()
    assert labels["loss"].drop_nulls().to_list() == []


def needless(path: Path) -> Counter[str]:
    """Causes found for needless retransmissions."""
    labels = read_capture(path, 1, None).labels
    return Counter(labels.filter(pl.col("verdict") == "needless")["cause"].to_list())


LONG = {"link__rate": "50 Mbit/s", "link__queue__packets": 400, "duration": "10 s"}
LATE = {
    "duration": "12 s",
    "link__rate": "20 Mbit/s",
    "link__queue__packets": 1000,
    "link__late__share": 0.02,
    "link__late__by": "60 ms",
    "link__reverse__late__share": 0,
    "link__reverse__late__by": "1 ns",
}


@pytest.mark.parametrize("delay", ["20 ms", "50 ms"])
def test_reports_lost_on_the_way_back_are_no_reordering(delay: str, tmp_path: Path) -> None:
    """More holes than SACK has blocks, and a lost ACK was the only one to report a segment."""
    lossy = {"link__loss__rate": 0.1, "link__reverse__loss__rate": 0.3}
    path = tmp_path / "a.pcapng"
    captured(path, 3, **LONG, **lossy, link__delay=delay, tcp__profile="linux-bbr")
    found = needless(path)
    assert found.total() > 100
    assert found["lost-acks"] > 0.9 * found.total()
    assert "behind others" not in diagnosed(read_capture(path, None, None), None).headline


@pytest.mark.parametrize("profile", ["linux", "linux-reno", "linux-bbr", "sack"])
@pytest.mark.parametrize(("lost", "least"), [(0.0, 1.0), (0.3, 0.9)])
def test_late_originals_stay_reordering(
    profile: str, lost: float, least: float, tmp_path: Path
) -> None:
    """Receivers report several arrivals at once, and their reports may be lost, too."""
    back = {"link__reverse__loss__rate": lost}
    path = captured(tmp_path / "a.pcapng", **LATE, **back, tcp__profile=profile)
    found = needless(path)
    assert found.total() >= 5
    assert found["lost-acks"] <= (1 - least) * found.total()


def test_a_capture_of_the_receiver_without_a_clock_has_no_shares(tmp_path: Path) -> None:
    path = captured(tmp_path / "a.pcapng", tcp__timestamps=False, tcp__eifel=False)
    capture = read_capture(path, 1, "receiver")
    assert capture.facts is not None
    assert not any(capture.facts["shares"].values())
    assert capture.at_sender is None


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


def test_nothing_is_drops() -> None:
    assert drops_of(None) == Drops()
    assert Drops(Policer(1e6, 1e4)) != Drops()


def test_rates_are_read_as_people_write_them() -> None:
    assert parse_bit_rate("20 Mbit/s") == 20e6
    assert parse_bit_rate("1.5gbit") == 1.5e9
    assert parse_bit_rate("64 kbps") == 64e3
    assert parse_bit_rate("20 Mbps") == parse_bit_rate("20Mb/s") == 20e6
    for wrong in ("", "fast", "-3 Mbit/s", "0", "inf", "2 MB/s", "1.2.3"):
        assert parse_bit_rate(wrong) is None


def test_a_policer_needs_both_of_its_keys() -> None:
    with pytest.raises(ScenarioError, match="burst"):
        airtcp.load_scenario(PLAIN, {"link.policer.rate": "6 Mbit/s"})


SCENARIOS = Path(__file__).parents[2] / "scenarios"


@pytest.mark.parametrize("name", ["wlan-upload", "wlan-bursts"])
def test_a_radio_that_retries_delays_what_it_loses_and_is_no_queue(
    name: str, tmp_path: Path
) -> None:
    """Retries delay packets before they are given up, so that losses come with long delays."""
    path = tmp_path / "a.pcapng"
    run = airtcp.run(SCENARIOS / f"{name}.toml", 1, {"duration": "20 s"}, pcap=path)
    lost = run.events.filter(pl.col("event").cast(pl.String) == "link-loss")["offset"].to_list()
    assert len(lost) > 50
    labels = read_capture(path, 1, None).labels.filter(pl.col("start").is_in(lost))
    called = Counter(labels["loss"].drop_nulls().to_list())
    assert called["aqm"] == 0
    assert called["radio"] + called["queue-or-radio"] > 0.9 * called.total()
