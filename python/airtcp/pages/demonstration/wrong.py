"""The problem of a link, in a sentence about one run: the run in the picture."""

from collections.abc import Mapping

from airtcp.core.loading import load_scenario
from airtcp.core.quantities import format_bit_rate, format_count, format_percent
from airtcp.core.runs import Run, run
from airtcp.core.summary import FlowSummary

# Packets as long as the sender's, at the rate of the first queue.
_FLOOD = {
    "flows.kind": "udp",
    "flows.udp.rate": "unlimited",
    "flows.udp.size": "1448 B",
}
_FULL = 0.9
"""Minimum share of the link's capacity for a sender without a throughput problem."""
_BLOATED = 2.0
"""Minimum ratio of loaded to idle round trip that is a separate problem."""


def capacity_bps(source: str, settings: Mapping[str, object], seed: int) -> float:
    """Goodput of an unresponsive sender over the same link, in bits a second.

    Raises:
        AirtcpError: the run could not be made.
    """
    return float(run(load_scenario(source, {**settings, **_FLOOD}), seed).summary["goodput_bps"])


def what_is_wrong(observed: Run, capacity: float | None = None) -> str:
    """The problem of a run's first flow; time and run as in the picture.

    Args:
        observed: today's sender over the link.
        capacity: capacity of the link, in bits a second; None if the link has no rate.
    """
    flow, seconds = observed.summary["flows"][0], observed.summary["duration_s"]
    got = format_bit_rate(flow["goodput_bps"])
    if capacity is not None and capacity > 0:
        head = (
            f"Over {seconds:g} s the link can carry {format_bit_rate(capacity)}, and today's "
            f"sender gets {got}"
        )
        is_short = flow["goodput_bps"] < _FULL * capacity
    else:
        head, is_short = f"Over {seconds:g} s today's sender gets {got}", True
    reasons = [*(_slow_downs(flow) if is_short else ()), *_queue(flow)]
    if reasons:
        return f"{head}: {'; '.join(reasons)}."
    if is_short and capacity:
        return f"{head}, though no packet was lost and no timer fired: its window bounds it."
    return f"{head}: nothing is wrong with its goodput or its delay."


def _slow_downs(flow: FlowSummary) -> list[str]:
    """Why the sender slowed down: losses first, which it takes for congestion, then timeouts."""
    told = []
    lost, dropped = flow["segments_lost_link"], flow["segments_dropped_queue"]
    if lost or dropped:
        share = format_percent(100 * (lost + dropped) / flow["segments_sent"], decimals=2)
        if lost and not dropped:
            told.append(
                f"the radio loses {share} of the packets, the queue none, yet the sender takes "
                f"each loss for a full queue{_times(flow['fast_retransmits'])}"
            )
        elif lost > dropped:
            told.append(
                f"{share} of the packets are lost, {format_count(lost)} on the radio and "
                f"{format_count(dropped)} in the queue, and the sender takes all for a full queue"
                f"{_times(flow['fast_retransmits'])}"
            )
        else:
            told.append(
                f"{share} of the packets are lost, {format_count(dropped)} of "
                f"{format_count(lost + dropped)} in a full queue"
            )
    return [*told, *_timeouts(flow)]


def _timeouts(flow: FlowSummary) -> list[str]:
    """The timeouts, and the number of them without a data loss as their cause."""
    timeouts = flow["timeouts"]
    if not timeouts:
        return []
    known = (
        (flow["timeouts_spurious"], "the acknowledgment is only late"),
        (flow["timeouts_acknowledgments_lost"], "the data has arrived and its ACKs are lost"),
    )
    if timeouts == 1:
        fire, causes = "a timeout fires", [why for count, why in known if count]
    else:
        fire = f"{format_count(timeouts)} timeouts fire"
        numbers = [(("one" if count == 1 else format_count(count)), why) for count, why in known]
        causes = [f"in {number} {why}" for (number, why) in numbers if number != "0"]
    return [f"{fire} ({', '.join(causes)})" if causes else fire]


def _times(count: int) -> str:
    return f" and slows down, {format_count(count)} times" if count > 1 else ""


def _queue(flow: FlowSummary) -> list[str]:
    """The queue built by the sender, if it multiplies the round trip."""
    idle, loaded = flow["min_rtt_ms"], flow["rtt_p95_ms"]
    if not idle or not loaded or loaded < _BLOATED * idle:
        return []
    return [f"the round trip grows from {idle:.0f} ms to {loaded:.0f} ms (95th percentile)"]
