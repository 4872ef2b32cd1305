"""Others on a link that the flow itself does not fill, by how often it finds the link busy.

A packet that is sent long after the one before meets a link that is idle, unless others use it: the
share of such packets that wait is the share of the time for which others do (Poisson arrivals see
time averages: Wolff, Operations Research 30, 1982).
"""

import numpy as np

from airtcp.diagnosis.beside import Beside
from airtcp.diagnosis.observed import Observed

ALONE = 6.0
"""Packet times since the packet before: what others left of the queue before it is served."""
WAITED = 0.25
"""Of a packet time: a longer wait is behind another packet."""
OWN = 0.15
"""Waits as near to one packet time may be the flow's own."""
SHARP = 0.05
MIN_SHARP = 0.1
"""Smallest share of the packets that have the shortest round trip within `SHARP` packet times: on a
link with jitter, or by a coarse clock, waits tell nothing."""
FEWEST = 50
MIN_SHARE = 0.25
"""A smaller share is what lost and late packets make of a link that nobody shares."""


def idle_beside(flow: Observed, bps: float) -> Beside | None:
    """Those that use the link unseen, of its rate `bps`; None where nothing shows any."""
    order = np.argsort(flow.sent_s, kind="stable")
    packet_s = 8.0 * flow.full_size / bps
    sent_s = flow.sent_s[order]
    apart = np.diff(sent_s, prepend=-np.inf) >= ALONE * packet_s
    # Packets of its own that wait: a queue that is served at the link's rate (Lindley 1952).
    change = packet_s - np.diff(sent_s, prepend=sent_s[0])
    total = np.cumsum(change) - packet_s
    own = total - np.minimum.accumulate(np.minimum(total, 0.0))
    alone = apart & (own <= SHARP * packet_s) & flow.sampled[order]
    waits = flow.queueing_s[order][alone] / packet_s
    # An answer that waits for a second segment of the flow is later by one packet of its own.
    waits = waits[np.abs(waits - 1.0) > OWN]
    if len(waits) < FEWEST or float(np.mean(waits <= SHARP)) < MIN_SHARP:
        return None
    busy = float(np.mean(waits > WAITED))
    if busy < MIN_SHARE:
        return None
    shown_by = f"by the {100 * busy:.0f} % of its lone packets that find the link busy"
    return Beside(1, 1.0 - busy, False, busy * bps, give_way=False, shown_by=shown_by)
