"""The wait of data that a captured receiver sends, on the way of its acknowledgments.

The round trips of its data to the flow's sender contain the queues of both directions; arriving
data shows one of them by its timestamps. The rest is the wait of the other way.
"""

import numpy as np

from airtcp.diagnosis.capture import Capture, host_of
from airtcp.diagnosis.observed import Observed, observed
from airtcp.diagnosis.tables import Segments

FEWEST_ROUND_TRIPS = 50
BURST_NS = 20_000_000
"""Window for counts of departures: several ticks of the coarsest clock of timestamps."""
MIN_DISPERSION = 10.0
"""Minimum variance over mean of these counts: prompted by acknowledgments that come evenly it stays
below 6, also with losses and a varying rate.
"""


def own_wait_s(capture: Capture, flow: Observed) -> float | None:
    """Median wait of the receiver's data; None if it sent little or nothing to the same host."""
    facts = capture.facts
    if facts is None or capture.back is None or len(capture.back.acks) < FEWEST_ROUND_TRIPS:
        return None
    own = observed(capture.back.segments, capture.back.acks)
    if np.count_nonzero(own.sampled) < FEWEST_ROUND_TRIPS:
        return None
    # All take the same path: the shortest round trip has the shortest queue in it. A handshake
    # shows one where this host began it.
    sender, receiver = (host_of(facts[end]) for end in ("sender", "receiver"))
    handshakes_s = [
        one.rtt_ms / 1e3
        for one in capture.tables.flows
        if one.rtt_ms is not None
        and one.rtt_ms > 0
        and (host_of(one.client), host_of(one.server)) == (receiver, sender)
    ]
    base_s = min(own.base_rtt_s, flow.base_rtt_s, *handshakes_s)
    return float(own.median_rtt_s - base_s - (flow.median_rtt_s - flow.base_rtt_s))


def departs_in_bursts(segments: Segments) -> bool:
    """Whether a sender sends in bursts, as acknowledgments that come bunched make it.

    A fair queue on the way back keeps acknowledgments apart from other data: only the data waits
    there, and the acknowledgments come evenly.
    """
    times = np.sort(segments.time_ns)
    if not len(times):
        return False
    # Slow start is bursty by itself.
    settled = times[len(times) // 10 :]
    counts = np.bincount((settled - settled[0]) // BURST_NS)
    return bool(counts.var() >= MIN_DISPERSION * counts.mean())
