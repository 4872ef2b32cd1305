"""Remedies of today's access points, senders and receivers: what they do, and where."""

import contextlib

import pytest

import airtcp
from airtcp._core import ScenarioError

# Long enough for CAKE, whose new queue ends slow start at once: 4 s pass until the link is full.
DEEP_QUEUE = {"link.queue.packets": 400, "duration": "30 s"}


@pytest.mark.parametrize(
    "remedy", ["codel", "fq-codel", "pie", "dualpi2", "cake", "vegas", "receive-window:bytes=98304"]
)
def test_a_deep_queue_stays_short(remedy: str) -> None:
    def run(remedies: list[str]) -> tuple[float, float]:
        summary = airtcp.run("lossy-pipe", settings=DEEP_QUEUE, remedies=remedies).summary
        return summary["goodput_bps"], summary["flows"][0]["rtt_p95_ms"] or 0.0

    before, after = run([]), run([remedy])
    assert before[1] > 400, "400 packets of 10 Mbit/s are 480 ms"
    # The slow start of Vegas has no HyStart in Linux, and fills the queue once.
    assert after[1] < before[1] / 2.5
    assert after[0] > 0.85 * before[0]


def test_a_slow_station_holds_nobody_up_that_has_a_queue_of_its_own() -> None:
    fifo = {"wlan.scheduler": "fifo", "duration": "4 s"}

    def of_fast(remedies: list[str]) -> float:
        summary = airtcp.run("slow-station", settings=fifo, remedies=remedies).summary
        return sum(flow["goodput_bps"] for flow in summary["flows"][:2])

    alone = of_fast([])
    assert of_fast(["station-queues"]) > 2 * alone
    assert of_fast(["airtime-fairness"]) > 2 * alone


def test_remedies_of_queues_have_no_place_where_the_hardware_has_the_queue() -> None:
    with pytest.raises(ScenarioError, match="drop-tail in its hardware"):
        airtcp.load_scenario("wlan-upload", remedies=["fq-codel"])
    with pytest.raises(ScenarioError, match=r"wlan\.standard"):
        airtcp.load_scenario("wlan-upload", remedies=["station-queues"])
    with pytest.raises(ScenarioError, match="recorded round-trip times"):
        airtcp.load_scenario("ping", remedies=["codel"])


def test_little_of_a_flow_waits_in_the_senders_device() -> None:
    settings = {"wlan.scheduler": "fifo", "duration": "4 s"}

    def rtt(remedies: list[str]) -> float:
        summary = airtcp.run("laptop-upload", settings=settings, remedies=remedies).summary
        return summary["flows"][0]["rtt_p50_ms"] or 0.0

    assert rtt(["small-queue"]) < 0.7 * rtt([])


def goodput_and_rtt(
    scenario: str, settings: dict[str, object], *remedies: str
) -> tuple[float, float]:
    """Goodput in bit/s, and the 95th percentile of the first flow's round trips in ms."""
    summary = airtcp.run(scenario, settings=settings, remedies=list(remedies)).summary
    return summary["goodput_bps"], summary["flows"][0]["rtt_p95_ms"] or 0.0


def test_a_shaper_keeps_the_queue_behind_it_empty() -> None:
    before = goodput_and_rtt("lossy-pipe", DEEP_QUEUE)
    after = goodput_and_rtt("lossy-pipe", DEEP_QUEUE, "cake:rate=9500")
    # The slow start of Vegas has no HyStart in Linux, and fills the queue once.
    assert after[1] < before[1] / 2.5
    assert after[0] > 0.85 * before[0]
    # Above the link's rate the modem's queue fills as if there were no shaper.
    assert goodput_and_rtt("lossy-pipe", DEEP_QUEUE, "cake:rate=20000")[1] > 400


def test_a_shaper_finds_the_rate_by_itself() -> None:
    """Of 10 Mbit/s; it begins at the rate, at half of it or above it."""
    before = goodput_and_rtt("lossy-pipe", DEEP_QUEUE)
    for remedy in ("autorate", "autorate:base=5000,max=3", "autorate:base=15000"):
        after = goodput_and_rtt("lossy-pipe", DEEP_QUEUE, remedy)
        # The idle link's 50 ms, the threshold of 30 ms, and CAKE's own few.
        assert after[1] < 130, remedy
        assert after[0] > 0.85 * before[0], remedy
    # It may not fall below this, which is above the link's rate.
    high = "autorate:base=20000,min=0.9"
    assert goodput_and_rtt("lossy-pipe", DEEP_QUEUE, high)[1] > 400


def test_a_shaper_follows_a_recorded_link_at_a_cost() -> None:
    """Its rate changes faster than the rule: a tenth of the delay, and half of the goodput."""
    settings = {"duration": "30 s"}
    before = goodput_and_rtt("cellular", settings)
    after = goodput_and_rtt("cellular", settings, "autorate")
    assert after[1] < 0.15 * before[1]
    assert 0.3 * before[0] < after[0] < 0.8 * before[0]


@pytest.mark.parametrize("ratio", [1, 2, 10, 100])
def test_as_few_segments_are_acknowledged_as_the_sender_asks_for(ratio: int) -> None:
    """150 segments of 1500 bytes a round trip of 180 ms: 833 a second, 33 in 40 ms.

    With a hundred asked for the delayed acknowledgment's time is over before.
    """
    settings = {"link.queue.packets": 1000, "duration": "10 s"}
    remedies = [f"ack-rate:segments={ratio}", "max-window:segments=150"]
    packets = airtcp.run("lossy-pipe", settings=settings, remedies=remedies, packets=True).packets
    late = packets.filter(packets["time_s"] > 2.0)
    data = late["is_data"].sum()
    assert data / (len(late) - data) == pytest.approx(min(ratio, 33), rel=0.06)


def test_fewer_acknowledgments_need_less_of_a_narrow_way_back() -> None:
    narrow = {"link.rate": "50 Mbit/s", "link.reverse.rate": "300 kbit/s", "duration": "10 s"}
    before = goodput_and_rtt("lossy-pipe", narrow)
    after = goodput_and_rtt("lossy-pipe", narrow, "ack-rate")
    assert after[0] > 1.2 * before[0]
    assert after[1] < before[1]


def test_covered_acknowledgments_do_not_wait() -> None:
    narrow = {"link.rate": "50 Mbit/s", "link.reverse.rate": "300 kbit/s", "duration": "10 s"}
    before = goodput_and_rtt("lossy-pipe", narrow)
    after = goodput_and_rtt("lossy-pipe", narrow, "ack-filter")
    assert after[1] < before[1]
    assert after[0] > 0.95 * before[0]


def test_background_traffic_yields() -> None:
    """It may have a sixteenth, and what best effort leaves after its drops."""
    settings = {
        "link.aqm.discipline": "cake",
        "link.aqm.rate": "9 Mbit/s",
        "flows.count": 2,
        "flows.dscp": ["CS0", "CS1"],
        "duration": "20 s",
    }
    flows = airtcp.run("lossy-pipe", settings=settings).summary["flows"]
    share = flows[1]["goodput_bps"] / sum(flow["goodput_bps"] for flow in flows)
    assert 0.8 / 16 < share < 4 / 16


def test_c2tcp_bounds_the_delay_of_a_cellular_link() -> None:
    settings = {"duration": "20 s"}
    before = goodput_and_rtt("cellular", settings)
    after = goodput_and_rtt("cellular", settings, "c2tcp")
    assert after[1] < 0.6 * before[1]
    assert after[0] > 0.5 * before[0]


def test_limits_of_an_access_point() -> None:
    settings = {"duration": "3 s"}

    def goodput(*remedies: str) -> float:
        return goodput_and_rtt("laptop-download", settings, *remedies)[0]

    alone = goodput()
    assert goodput("ampdu-limit:time=500 us") < 0.95 * alone
    assert goodput("txop", "ampdu-limit:time=500 us") > goodput("ampdu-limit:time=500 us")
    with pytest.raises(ScenarioError, match="airtime"):
        airtcp.load_scenario(
            "laptop-download", settings={"wlan.scheduler": "fifo"}, remedies=["aql"]
        )
    with pytest.raises(ScenarioError, match="no aggregates"):
        airtcp.load_scenario("wlan-upload", remedies=["txop"])
    with pytest.raises(ScenarioError, match="rate of its own"):
        airtcp.load_scenario("laptop-download", remedies=["cake:rate=1000"])
    with pytest.raises(ScenarioError, match="rate of its own"):
        airtcp.load_scenario("laptop-download", remedies=["autorate"])


OF_TODAY = [
    "pie",
    "dualpi2",
    "cake",
    "cake:rate=5000",
    "ack-filter",
    "aql",
    "ampdu-limit",
    "txop",
    "inf-retry:access-point=1",
    "illinois",
    "hybla",
    "htcp",
    "yeah",
    "cdg",
    "dctcp",
    "copa",
    "vivace",
    "proteus-p",
    "proteus-s",
    "verus",
    "sprout",
    "sprout-ewma",
    "abc",
    "fec",
    "fec:adaptive=1",
    "c2tcp",
    "prague",
    "ledbat",
]


SAID = {
    ("laptop-download", "sprout"): "up to 1000 segments a second",
    ("dumbbell", "sprout-ewma"): "longer queues",
}
"""The words of an effect that tell where a remedy delivers little or overfills a short queue."""


@pytest.mark.parametrize(
    "name",
    ["lossy-pipe", "cellular", "dumbbell", "laptop-download", "slow-station", "wlan-upload"],
)
def test_no_remedy_storms_or_starves_in_silence(name: str) -> None:
    """Where a remedy has a place it delivers, and retransmits no more than it delivers."""
    settings = {"duration": "3 s"}
    plain = airtcp.run(name, settings=settings).summary
    effects = {one["name"]: one["effect"] for one in airtcp.remedies()}
    for remedy in OF_TODAY:
        if (name, remedy) in SAID:
            assert SAID[name, remedy] in effects[remedy]
            continue
        summary = None
        # A remedy without a place here says which link has one.
        with contextlib.suppress(ScenarioError):
            summary = airtcp.run(name, settings=settings, remedies=[remedy]).summary
        if summary is None:
            with pytest.raises(ScenarioError, match="remedies"):
                airtcp.load_scenario(name, remedies=[remedy])
            continue
        flows = summary["flows"]
        sent = sum(flow.get("segments_sent", 0) for flow in flows)
        again = sum(flow.get("segments_retransmitted", 0) for flow in flows)
        before = sum(flow.get("segments_retransmitted", 0) for flow in plain["flows"])
        assert summary["goodput_bps"] > 0.1 * plain["goodput_bps"], remedy
        assert again <= max(0.2 * sent, 2 * before), f"{remedy}: {again} of {sent}"
