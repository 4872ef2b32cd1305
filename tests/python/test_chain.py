"""A chain of wireless hops: relays that forward and share the channel (`wlan.hops`)."""

import itertools

import pytest

import airtcp
from airtcp._core import ScenarioError

CLEAN = {"wlan.loss.rate": 0.0, "duration": "20 s"}


def goodput(hops: int, **settings: object) -> float:
    """Goodput in bit/s."""
    summary = airtcp.run("wlan-chain", settings={**CLEAN, "wlan.hops": hops, **settings}).summary
    return float(summary["goodput_bps"])


def test_hops_that_share_a_channel_share_its_capacity() -> None:
    """A packet takes the channel once a hop, so n hops carry about an n-th of what one does."""
    one = goodput(1)
    for hops in (2, 3, 4):
        assert goodput(hops) == pytest.approx(one / hops, rel=0.12), hops


@pytest.mark.parametrize("direction", ["up", "down"])
def test_each_hop_adds_the_same_to_the_round_trip(direction: str) -> None:
    """With one segment in flight nobody contends: the round trip is the wire's and n hops'."""
    alone = {"tcp.max_window": 1, "tcp.delayed_ack.segments": 1, "flows.direction": direction}
    times = [1 / goodput(hops, **alone) for hops in (1, 2, 3, 4)]
    steps = [after - before for before, after in itertools.pairwise(times)]
    assert min(steps) > 0
    assert max(steps) == pytest.approx(min(steps), rel=0.03)


def test_flows_of_several_mobiles_share_the_relays() -> None:
    settings = {**CLEAN, "flows.count": 3, "wlan.stations": 3, "wlan.hops": 2}
    flows = airtcp.run("wlan-chain", settings=settings).summary["flows"]
    assert len(flows) == 3
    assert all(flow["goodput_bps"] > 0 for flow in flows)
    total = sum(flow["goodput_bps"] for flow in flows)
    assert total == pytest.approx(goodput(1, **{"flows.count": 3}) / 2, rel=0.15)


def test_each_hop_of_a_chain_loses_its_share() -> None:
    """Without retransmissions a share p is lost on each hop: 1 - (1 - p)^n in all.

    With one segment in flight no frame collides.
    """
    settings = {
        "duration": "200 s",
        "wlan.retry_limit": 1,
        "wlan.loss.rate": 0.05,
        "tcp.max_window": 1,
        "tcp.delayed_ack.segments": 1,
    }
    for hops in (1, 3):
        run = airtcp.run("wlan-chain", settings={**settings, "wlan.hops": hops})
        flow = run.summary["flows"][0]
        share = flow["segments_lost_link"] / flow["segments_sent"]
        assert share == pytest.approx(1 - 0.95**hops, rel=0.2), hops


def test_an_unlike_station_has_no_place_in_a_chain() -> None:
    with pytest.raises(ScenarioError, match=r"wlan\.radio.*one hop"):
        airtcp.load_scenario("wlan-chain", settings={"wlan.radio.distance_m": 5})
