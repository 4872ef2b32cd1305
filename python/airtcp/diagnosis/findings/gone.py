"""A peer that is gone: from some moment on nothing is answered."""

import numpy as np

from airtcp.core.quantities import format_count
from airtcp.diagnosis.capture import Capture
from airtcp.diagnosis.findings.finding import CaptureFinding
from airtcp.diagnosis.seconds import seconds_words

FEWEST_UNANSWERED = 3
"""Minimum number of retransmissions after the last packet of the peer."""
MIN_S = 3.0
"""Minimum silence; a path may stop for a shorter time."""


def peer_gone(capture: Capture) -> CaptureFinding | None:
    """The finding; None if the peer answered to the end, or closed the connection."""
    facts = capture.facts
    if facts is None or facts["view"] == "receiver" or not len(capture.tables.segments):
        return None
    last = facts["last"][1]
    if last["closed"]:
        return None
    segments = capture.tables.segments
    behind = segments.time_ns > last["time_ns"]
    repeats = int(np.count_nonzero(behind & (segments.attempt > 0)))
    if repeats < FEWEST_UNANSWERED:
        return None
    silent_s = (int(segments.time_ns[behind].max()) - last["time_ns"]) / 1e9
    if silent_s < MIN_S:
        return None
    sentence = (
        f"The peer is gone: nothing came from it after {seconds_words(last['time_ns'] / 1e9)}, and "
        f"{format_count(repeats)} retransmissions in the {seconds_words(silent_s)} after that "
        "had no answer. No remedy for TCP brings it back."
    )
    evidence = (
        "The peer was switched off, lost its address, or the path broke: a ping tells whether the "
        "host is there. TCP_USER_TIMEOUT (RFC 5482), or a lower net.ipv4.tcp_retries2, ends the "
        "wait sooner.",
    )
    return CaptureFinding("peer-gone", sentence, evidence)
