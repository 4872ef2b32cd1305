"""Remedies at the base station of LTE and NR: queues per user, and retransmissions without end."""

from typing import Any

import pytest

import airtcp

_SETTINGS = {"duration": "4 s"}


def flows(name: str, remedy: str = "", **settings: object) -> list[dict[str, Any]]:
    """The flows of a run with a remedy."""
    run = airtcp.run(name, settings=_SETTINGS | settings, remedies=[remedy] if remedy else [])
    found: list[dict[str, Any]] = run.summary["flows"]
    return found


_NEAR = {"cell.radio.distance_m": 100, "cell.radio.shadowing_db": 0}
"""Where a block is rarely lost, and no negative acknowledgment misread."""


@pytest.mark.parametrize(("name", "where"), [("lte", _NEAR), ("nr-router", {})])
@pytest.mark.parametrize("discipline", ["codel", "fq-codel", "cake"])
def test_a_discipline_in_the_base_station_shortens_its_queue(
    name: str, where: dict[str, object], discipline: str
) -> None:
    """CoDel's target is 5 ms; a drop-tail queue of thousands of packets waits for the sender."""

    def waits(remedy: str) -> float:
        found = flows(name, remedy, **where)
        return max(float(flow["rtt_p50_ms"]) - float(flow["min_rtt_ms"]) for flow in found)

    assert waits(discipline) < 0.6 * waits("")


def test_retransmissions_without_end_lose_no_packet() -> None:
    """HARQ and RLC go on: only RLC's limit, which ends the radio link, and queues lose packets."""
    limited = flows("lte", **_NEAR, **{"cell.rlc.mode": "um", "cell.harq.transmissions": 1})
    endless = flows("lte", "inf-retry", **_NEAR, **{"cell.rlc.mode": "um"})
    assert sum(flow["segments_lost_link"] for flow in limited) > 0
    assert sum(flow["segments_lost_link"] for flow in endless) == 0


def test_a_grant_of_the_uplink_lets_no_wired_queue_overflow() -> None:
    """The acknowledgments of a grant arrive at once, and so do the packets that they let go."""
    assert sum(flow["segments_dropped_queue"] for flow in flows("nr-router")) == 0
    small = flows("nr-router", **{"wired.rate": "100 Mbit/s", "wired.queue.packets": 100})
    assert sum(flow["segments_dropped_queue"] for flow in small) > 0


def test_dynamic_arq_orders_the_base_stations_retransmissions() -> None:
    """Another order of retransmissions in NR, and no effect where no block fails."""
    settings = {"cell.rlc.mode": "um", "cell.harq.nack_to_ack": 0}
    plain, ordered = (
        airtcp.run("nr", settings=_SETTINGS | settings, remedies=remedies).summary["digest"]
        for remedies in ([], ["dynamic-arq"])
    )
    assert plain != ordered
    with pytest.raises(airtcp.ScenarioError, match="per-packet = 0"):
        airtcp.run("nr", settings=_SETTINGS, remedies=["dynamic-arq:per-packet=1"])
