"""Deliveries in bursts: Wi-Fi that aggregates, and cellular frames of many packets."""

from dataclasses import dataclass

import numpy as np

from airtcp.diagnosis.observed import Observed

TOGETHER_S = 50e-6
"""Maximum spacing of acknowledgments in one burst."""
FEWEST_PACKETS = 3
BURST_SHARE = 0.5
"""Minimum share of the bytes in bursts for a link that delivers in bursts."""
MIN_PAUSE_S = 200e-6
"""Minimum pause between bursts; shorter pauses are a host that handles several packets at once."""
MAX_PAUSE = 0.5
"""Maximum pause as a share of the round trip; longer ones separate two windows of the sender."""
QUEUED = 1.5
"""Minimum ratio of loaded to base round trip that shows a standing queue."""
MIN_BURSTS = 50
FAST = 0.3
"""Maximum ratio of the flow's rate to the rate within bursts; above it the link is just fast."""


@dataclass(frozen=True)
class Aggregates:
    """Parameters of a link that delivers in bursts."""

    packets: int
    """Full packets in the median burst."""
    pause_s: float
    """Median time from one burst to the next."""
    most_bps: float
    """Rate of nine of ten bursts over the pause before them, in bits of IP packets a second."""


def aggregates_of(flow: Observed) -> Aggregates | None:
    """The bursts in which a link delivers; None if packets arrive one by one."""
    reports = np.flatnonzero(np.diff(flow.delivered) > 0)
    came, bytes_ = flow.ack_s[1:][reports], np.diff(flow.delivered)[reports]
    # Without visible SACK blocks, a report after duplicates covers earlier arrivals behind a hole.
    fills = np.diff(reports, prepend=reports[:1] - 1) > 1
    if len(came) < FEWEST_PACKETS * MIN_BURSTS:
        return None
    pauses = np.diff(came, prepend=came[0])
    burst = np.cumsum(pauses > TOGETHER_S)
    packets = np.bincount(burst, bytes_) / flow.full_size
    first = np.flatnonzero(np.diff(burst, prepend=-1))
    before = pauses[first]
    is_burst = (packets >= FEWEST_PACKETS) & (np.bincount(burst, fills) == 0)
    if int(is_burst.sum()) < MIN_BURSTS or packets[is_burst].sum() < BURST_SHARE * packets.sum():
        return None
    pause_s = float(np.median(before[is_burst]))
    # In a standing queue the windows of the sender merge.
    behind_queue = flow.median_rtt_s if flow.median_rtt_s > QUEUED * flow.base_rtt_s else 0.0
    longest = MAX_PAUSE * max(flow.base_rtt_s, behind_queue)
    if not MIN_PAUSE_S <= pause_s <= longest:
        return None
    within_s = came[np.append(first[1:], len(came)) - 1] - came[first]
    spread = within_s > 0
    if spread.any():
        within = 8.0 * flow.full_size * packets[spread] / within_s[spread]
        if flow.goodput_bps > FAST * float(np.median(within)):
            return None
    rates = 8.0 * flow.full_size * packets[is_burst] / np.maximum(before[is_burst], TOGETHER_S)
    return Aggregates(
        round(float(np.median(packets[is_burst]))), pause_s, float(np.quantile(rates, 0.9))
    )
