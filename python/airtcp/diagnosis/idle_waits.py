"""Detects cross traffic on a link that the flow does not fill, by how often it finds the link busy.

A packet sent long after the previous one meets an idle link, unless others use it: the share of
such packets that wait is the others' share of the time (Poisson arrivals see time averages: Wolff,
Operations Research 30, 1982).
"""

import numpy as np

from airtcp.diagnosis.beside import Beside
from airtcp.diagnosis.observed import Observed

ALONE = 6.0
"""Minimum packet times since the previous packet, so that the flow's queue has drained."""
WAITED = 0.25
"""Minimum wait in packet times that shows another packet ahead."""
OWN = 0.15
"""Maximum distance from one packet time of waits that may be due to the flow itself."""
SHARP = 0.05
MIN_SHARP = 0.1
"""Minimum share of the packets with the minimum round trip within `SHARP` packet times: on a link
with jitter, or with a coarse clock, waits show nothing.
"""
FEWEST = 50
MIN_SHARE = 0.25
"""Minimum share of waits; lost and late packets on an unshared link give a smaller one."""


def idle_beside(flow: Observed, bps: float) -> Beside | None:
    """Hidden cross traffic on a link of rate `bps`; None if nothing shows any."""
    order = np.argsort(flow.sent_s, kind="stable")
    packet_s = 8.0 * flow.full_size / bps
    sent_s = flow.sent_s[order]
    apart = np.diff(sent_s, prepend=-np.inf) >= ALONE * packet_s
    # Waits for the flow's packets: a queue served at the link's rate (Lindley 1952).
    change = packet_s - np.diff(sent_s, prepend=sent_s[0])
    total = np.cumsum(change) - packet_s
    own = total - np.minimum.accumulate(np.minimum(total, 0.0))
    alone = apart & (own <= SHARP * packet_s) & flow.sampled[order]
    waits = flow.queueing_s[order][alone] / packet_s
    # An answer that waits for a second segment of the flow is later by one of its packets.
    waits = waits[np.abs(waits - 1.0) > OWN]
    if len(waits) < FEWEST or float(np.mean(waits <= SHARP)) < MIN_SHARP:
        return None
    busy = float(np.mean(waits > WAITED))
    if busy < MIN_SHARE:
        return None
    shown_by = f"by the {100 * busy:.0f} % of its lone packets that find the link busy"
    return Beside(1, 1.0 - busy, False, busy * bps, give_way=False, shown_by=shown_by)
