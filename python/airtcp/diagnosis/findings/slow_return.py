"""A slow way back: acknowledgments queue on the return path, and pace the sender.

On an asymmetric line the acknowledgments of a fast download can fill the upload (RFC 3449 §2). The
receiver's timestamps show when each left, so that its wait on the way back shows without a capture
there.
"""

from airtcp.core.quantities import format_bit_rate, format_percent
from airtcp.diagnosis.capture import Capture
from airtcp.diagnosis.findings.finding import CaptureFinding
from airtcp.diagnosis.findings.way_back import ACK_BYTES, MIN_WAIT_S, way_back
from airtcp.diagnosis.latency import Latency
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.seconds import seconds_words

MIN_SHARE = 0.5
"""Minimum share of the queueing delay that is on the way back."""
MIN_SAME = 0.5
"""Minimum share of the gaps between acknowledgments near their median: a full queue sends them one
after the other.
"""


def slow_return(capture: Capture, flow: Observed, waits: Latency) -> CaptureFinding | None:
    """The finding; None if acknowledgments hardly wait, or not in a separate queue."""
    facts = capture.facts
    if facts is None or facts["view"] != "sender":
        return None
    back = way_back(capture.tables.acks)
    queueing_s = waits.median_s - waits.base_s
    if back is None or back.wait_s < MIN_WAIT_S or back.same < MIN_SAME:
        return None
    share = back.wait_s / queueing_s if queueing_s > 0 else 0.0
    if share < MIN_SHARE:
        return None
    sentence = (
        f"A slow way back: acknowledgments wait {seconds_words(back.wait_s)} in the median on a "
        f"return path of about {format_bit_rate(back.bps)}, which paces the flow at "
        f"{format_bit_rate(flow.goodput_bps)}. An ACK filter where they queue (CAKE's ack-filter), "
        "or fewer of them, is the remedy."
    )
    evidence = (
        f"By the receiver's timestamps {format_percent(min(100.0, 100 * share), decimals=0)} of "
        "the queueing delay is on the way back, and "
        f"{format_percent(100 * back.same, decimals=0)} of the acknowledgments that waited come "
        f"{1000 * back.gap_s:.3g} ms after the one before: one after the other from a queue that "
        "is not empty.",
        f"The rate assumes {ACK_BYTES} bytes for an acknowledgment, without link headers.",
        "Neither the round trip nor the spacing of the acknowledgments tells of the data's "
        "direction here: no link is fitted.",
    )
    return CaptureFinding("slow-return", sentence, evidence, ("ack-filter", "ack-rate"))
