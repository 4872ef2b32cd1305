"""Reverse traffic: acknowledgments queue with another transfer's data.

They arrive late and compressed, so that the sender's round trips include the queue of the return
path, and their spacing no longer shows the link (Zhang, Shenker and Clark, SIGCOMM 1991, §4).
"""

import re
from dataclasses import dataclass

import polars as pl

from airtcp.core.quantities import format_bit_rate, format_percent
from airtcp.diagnosis.capture import Capture
from airtcp.diagnosis.findings.finding import CaptureFinding
from airtcp.diagnosis.latency import Latency
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.seconds import seconds_words

BUNCHED = 0.2
"""Minimum share of the acknowledgments that arrived compressed."""
MIN_TIMES_ACKS = 5.0
"""Minimum ratio of reverse data to the flow's acknowledgments that can delay them."""
ACK_BYTES = 52
OVERLAP = 0.5
"""Minimum share of the flow's time with reverse traffic."""
WAITED_S = 0.02
_PORT = r":\d+$"


@dataclass(frozen=True)
class OtherWay:
    """Traffic in the direction of a flow's acknowledgments."""

    bps: float
    """Payload bits a second over the flow's time."""
    flows: int
    """Other connections that carried it for much of the flow's time; 0 if all were short."""
    is_own: bool
    """Whether at least half of it was the flow's data in the reverse direction."""

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
    sender, receiver = (_host(facts[end]) for end in ("sender", "receiver"))
    is_client = pl.col("data_from") == "client"
    others = capture.flows.filter(pl.col("number") != facts["flow"])
    # At an end all traffic shares that end's line, regardless of the peer.
    to = pl.when(is_client).then("server").otherwise("client").str.replace(_PORT, "")
    from_ = pl.when(is_client).then("client").otherwise("server").str.replace(_PORT, "")
    end_s = pl.col("start_s") + pl.col("duration_s")
    during = (pl.col("start_s") < flow.ended_s) & (end_s > flow.begun_s)
    towards = to == sender if facts["view"] == "sender" else from_ == receiver
    back = others.filter(towards & during)
    overlap = (
        pl.min_horizontal(end_s, pl.lit(flow.ended_s))
        - pl.max_horizontal(pl.col("start_s"), pl.lit(flow.begun_s))
    ) / pl.col("duration_s").clip(lower_bound=1e-9)
    other = float(back.select(pl.col("bytes") * overlap.clip(0.0, 1.0)).to_series().sum())
    rate = 8.0 * (own + other) / flow.seconds
    acks = 8.0 * ACK_BYTES * len(flow.ack_s) / flow.seconds
    long = back.filter(pl.col("duration_s") > OVERLAP * flow.seconds)
    if rate < MIN_TIMES_ACKS * acks:
        return None
    return OtherWay(rate, len(long), own >= other)


def are_acks_bunched(capture: Capture, flow: Observed) -> bool:
    """Whether acknowledgments are compressed, with much traffic on their way."""
    facts = capture.facts
    is_bunched = facts is not None and facts["acking"].compressed_share >= BUNCHED
    return is_bunched and other_way_of(capture, flow) is not None


def other_way(
    capture: Capture, flow: Observed | None, waits: Latency | None
) -> CaptureFinding | None:
    """The finding; None if acknowledgments arrive with the spacing at which they were sent."""
    facts = capture.facts
    if facts is None or flow is None or waits is None:
        return None
    bunched = facts["acking"].compressed_share
    back = other_way_of(capture, flow)
    if back is None or bunched < BUNCHED or waits.high_s - waits.base_s < WAITED_S:
        return None
    sentence = (
        f"Traffic the other way: acknowledgments wait behind {back.who} "
        f"({format_bit_rate(back.bps)}), and {format_percent(100 * bunched, decimals=0)} of them "
        "come bunched: the round trip is "
        f"{seconds_words(waits.median_s)} in the median, and {seconds_words(waits.base_s)} without "
        f"a queue; the flow has {format_bit_rate(flow.goodput_bps)}. FQ-CoDel or CAKE with an ACK "
        "filter on the way back is the remedy."
    )
    evidence = (
        "The queue of the way back is in the round trip, and the spacing of the acknowledgments is "
        "that queue's: neither is taken for this direction's.",
        "The queue to manage is that of the machine from which the acknowledgments leave onto the "
        "slow link; if it is in a modem, shape to a little less than the line's rate before it.",
    )
    return CaptureFinding("other-way", sentence, evidence, ("fq-codel", "cake", "ack-filter"))


def _host(end: str) -> str:
    return re.sub(_PORT, "", end)
