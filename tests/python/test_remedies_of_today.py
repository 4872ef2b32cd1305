"""Remedies of today's access points, senders and receivers: what they do, and where."""

import pytest

import airtcp
from airtcp._core import ScenarioError

DEEP_QUEUE = {"link.queue.packets": 400, "duration": "10 s"}


@pytest.mark.parametrize("remedy", ["codel", "fq-codel", "vegas", "receive-window:bytes=98304"])
def test_a_deep_queue_stays_short(remedy: str) -> None:
    def run(remedies: list[str]) -> tuple[float, float]:
        summary = airtcp.run("lossy-pipe", settings=DEEP_QUEUE, remedies=remedies).summary
        return summary["goodput_bps"], summary["flows"][0]["rtt_p95_ms"] or 0.0

    before, after = run([]), run([remedy])
    assert before[1] > 400, "400 packets of 10 Mbit/s are 480 ms"
    assert after[1] < before[1] / 3
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
