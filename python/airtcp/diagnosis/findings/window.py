"""The receiver's window: too small for the path, or closed by an application that reads slowly."""

import numpy as np

from airtcp.core.quantities import format_bit_rate, format_bytes, format_count, format_percent
from airtcp.diagnosis.capture import Capture
from airtcp.diagnosis.findings.finding import CaptureFinding
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.seconds import seconds_words

MOSTLY = 0.5
"""Minimum share of the time for the limit that dominates the flow."""
FEWEST_CLOSED = 3
"""Minimum number of zero windows that shows a slow application."""


def receiver_window(capture: Capture, flow: Observed | None) -> CaptureFinding | None:
    """The finding; None if the window bounds the flow for half of the time or less."""
    facts = capture.facts
    if facts is None or facts["shares"].get("receiver_window", 0.0) <= MOSTLY or flow is None:
        return None
    share = format_percent(100 * facts["shares"]["receiver_window"], decimals=0)
    windows = capture.tables.acks.windows
    if not len(windows):
        return None
    goodput = format_bit_rate(flow.goodput_bps)
    closed = facts["zero_windows"]
    if closed >= FEWEST_CLOSED:
        return CaptureFinding(
            "slow-reader",
            f"The receiving application reads {goodput} and no more: the receiver's window closed "
            f"{format_count(closed)} times, and held the flow back for {share} of the time. No "
            "remedy for TCP makes it read faster.",
            (f"The window was {format_bytes(int(windows.max()))} at most.",),
        )
    window = float(np.quantile(windows, 0.9))
    sentence = (
        f"The receiver's window of {format_bytes(window)} holds the flow back for {share} of the "
        f"time: {goodput} at a round trip of {seconds_words(flow.median_rtt_s)}. A larger receive "
        "buffer (at the receiver: net.ipv4.tcp_rmem, or SO_RCVBUF left unset) is the remedy."
    )
    evidence = (
        "The window in bytes over the round trip is the most that it allows: "
        f"{format_bit_rate(8.0 * window / flow.base_rtt_s)} without a queue.",
    )
    return CaptureFinding(
        "receiver-window", sentence, evidence, ("receive-buffer",), is_whole=False
    )
