"""Reverse traffic: acknowledgments queue with another transfer's data.

They arrive late and compressed, so that the sender's round trips include the queue of the return
path, and their spacing no longer shows the link (Zhang, Shenker and Clark, SIGCOMM 1991, §4). A
capture at the receiver shows the bursts of data that bunched acknowledgments release.
"""

from dataclasses import dataclass

import numpy as np

from airtcp.core.quantities import format_bit_rate, format_percent
from airtcp.diagnosis.capture import Capture, host_of
from airtcp.diagnosis.findings.finding import CaptureFinding
from airtcp.diagnosis.findings.own_data import departs_in_bursts, own_wait_s
from airtcp.diagnosis.findings.way_back import ACK_BYTES, MIN_WAIT_S, way_back
from airtcp.diagnosis.latency import Latency
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.seconds import seconds_words
from airtcp.diagnosis.tables import Flow

BUNCHED = 0.2
"""Minimum share of the acknowledgments that arrived compressed."""
MIN_TIMES_ACKS = 1.0
"""Minimum ratio of reverse data to the flow's acknowledgments that can delay them."""
SURE_TIMES_ACKS = 5.0
"""Minimum ratio to take them for the cause of bunched acknowledgments without more evidence; with
less, the receiver's timestamps show the wait on the way back.
"""
WAIT_SHARE = 0.25
"""Minimum share of the queueing delay on the way back as that evidence."""
TICK_S = 0.001
MIN_BURST = 5
"""Minimum number of segments of a burst: two acknowledgments release at most four."""
DELAYED = 2
"""Segments of an acknowledgment (RFC 9293 §3.8.6.3), where too few show it."""
BURST_RATIO = 4.0
"""Minimum ratio of a burst to the segments that its time takes at the mean rate."""
OVERLAP = 0.5
"""Minimum share of the flow's time with reverse traffic."""
WAITED_S = 0.02


@dataclass(frozen=True)
class OtherWay:
    """Traffic in the direction of a flow's acknowledgments."""

    bps: float
    """Payload bits a second over the flow's time."""
    flows: int
    """Other connections that carried it for much of the flow's time; 0 if all were short."""
    is_own: bool
    """Whether at least half of it was the flow's data in the reverse direction."""
    is_sure: bool = True
    """Whether it is so much that it delays acknowledgments wherever they share a queue."""

    @property
    def who(self) -> str:
        """The origin of the traffic, in words."""
        if self.is_own:
            return "this connection's own data"
        if self.flows == 1:
            return "another transfer"
        return f"{self.flows} other transfers" if self.flows else "other transfers"


def other_way_of(capture: Capture, flow: Observed) -> OtherWay | None:
    """Captured traffic in the direction of the flow's acknowledgments, if substantial."""
    facts = capture.facts
    if facts is None or flow.seconds <= 0:
        return None
    own = facts["other_bytes"]
    sender, receiver = (host_of(facts[end]) for end in ("sender", "receiver"))
    at_sender = facts["view"] == "sender"
    # At an end all traffic shares that end's line, regardless of the peer.
    back = [
        one
        for one in capture.tables.flows
        if one.number != facts["flow"]
        and (host_of(one.to) == sender if at_sender else host_of(one.from_) == receiver)
        and one.start_s < flow.ended_s
        and one.end_s > flow.begun_s
    ]
    other = sum(one.bytes * _overlap(one, flow) for one in back)
    rate = 8.0 * (own + other) / flow.seconds
    acks = 8.0 * ACK_BYTES * len(flow.ack_s) / flow.seconds
    long = [one for one in back if one.duration_s > OVERLAP * flow.seconds]
    if rate < MIN_TIMES_ACKS * acks:
        return None
    return OtherWay(rate, len(long), own >= other, rate >= SURE_TIMES_ACKS * acks)


def _overlap(other: Flow, flow: Observed) -> float:
    """Share of another flow's time in which this one was under way."""
    both_s = min(other.end_s, flow.ended_s) - max(other.start_s, flow.begun_s)
    return min(max(both_s / max(other.duration_s, 1e-9), 0.0), 1.0)


def bunched_share(capture: Capture, flow: Observed) -> float:
    """Share of the acknowledgments that came bunched, at the receiver by the data they release."""
    facts = capture.facts
    if facts is None:
        return 0.0
    if facts["view"] == "sender":
        return facts["acking"].compressed_share
    return _in_bursts(flow, facts["acking"].segments or DELAYED)


def _in_bursts(flow: Observed, segments_per_ack: float) -> float:
    """Share of the segments sent in bursts longer than acknowledgments one by one release.

    A receiver's capture dates a segment by the tick of the sender's clock.
    """
    sent = np.sort(flow.sent_s[flow.attempt == 0])
    ticks = np.diff(np.unique(sent))
    if len(ticks) < MIN_BURST or flow.seconds <= 0:
        return 0.0
    around_s = max(TICK_S, float(np.median(ticks)))
    usual = around_s * len(sent) / flow.seconds
    first = np.searchsorted(sent, sent - around_s / 2, side="left")
    last = np.searchsorted(sent, sent + around_s / 2, side="right")
    fewest = max(MIN_BURST, 2 * segments_per_ack + 1, BURST_RATIO * usual)
    return float(np.mean(last - first >= fewest))


def are_acks_bunched(capture: Capture, flow: Observed) -> bool:
    """Whether acknowledgments come bunched, with much traffic on their way."""
    back = other_way_of(capture, flow)
    return back is not None and back.is_sure and bunched_share(capture, flow) >= BUNCHED


def _do_acks_wait(capture: Capture, waits: Latency) -> bool:
    """Whether the receiver's timestamps show much of the queueing delay on the way back."""
    facts = capture.facts
    back = (
        way_back(capture.tables.acks) if facts is not None and facts["view"] == "sender" else None
    )
    return (
        back is not None
        and back.wait_s >= MIN_WAIT_S
        and back.wait_s >= WAIT_SHARE * (waits.median_s - waits.base_s)
    )


def other_way(
    capture: Capture, flow: Observed | None, waits: Latency | None
) -> CaptureFinding | None:
    """The finding; None if acknowledgments arrive with the spacing at which they were sent."""
    facts = capture.facts
    if facts is None or flow is None or waits is None:
        return None
    back = other_way_of(capture, flow)
    if back is None:
        return None
    if (seen := _in_bunches(capture, flow, waits, back) or _by_own_data(capture, flow)) is None:
        return None
    sentence = (
        f"Traffic the other way: acknowledgments wait behind {back.who} "
        f"({format_bit_rate(back.bps)}){seen}; the flow has "
        f"{format_bit_rate(flow.goodput_bps)}. FQ-CoDel or CAKE with an ACK "
        "filter on the way back is the remedy."
    )
    evidence = (
        "The round trip includes the queue of the way back, which also spaces the acknowledgments: "
        "neither is attributed to this direction.",
        "Manage the queue of the machine that sends the acknowledgments onto the slow link; if the "
        "queue is in a modem, shape to slightly below the line's rate in front of it.",
    )
    return CaptureFinding("other-way", sentence, evidence, ("fq-codel", "cake", "ack-filter"))


def _in_bunches(capture: Capture, flow: Observed, waits: Latency, back: OtherWay) -> str | None:
    """That acknowledgments come bunched, in words; None if they do not, or not for this traffic."""
    bunched = bunched_share(capture, flow)
    if bunched < BUNCHED or waits.high_s - waits.base_s < WAITED_S:
        return None
    if not (back.is_sure or _do_acks_wait(capture, waits)):
        return None
    share = format_percent(100 * bunched, decimals=0)
    if capture.facts is not None and capture.facts["view"] == "sender":
        return (
            f", and {share} of them come bunched: the round trip is "
            f"{seconds_words(waits.median_s)} in the median, and {seconds_words(waits.base_s)} "
            "without a queue"
        )
    return f", and {share} of the data comes in the bursts that they release"


def _by_own_data(capture: Capture, flow: Observed) -> str | None:
    """The wait of data from the captured receiver, in words, if acknowledgments share it."""
    facts, moved = capture.facts, capture.at_sender
    if facts is None or facts["view"] != "receiver" or moved is None:
        return None
    wait_s = own_wait_s(capture, flow)
    if wait_s is None or wait_s < WAITED_S or not departs_in_bursts(moved.segments):
        return None
    return f" for {seconds_words(wait_s)} in the median, by this host's own data to the same peer"
