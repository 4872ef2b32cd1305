"""Late packets on a link that otherwise keeps the order, so that others overtake them."""

from dataclasses import dataclass

import numpy as np

from airtcp.core.quantities import format_percent
from airtcp.diagnosis.observed import Observed, Reals
from airtcp.diagnosis.tables import Acks, Labels

FEWEST = 5
"""Minimum number of late packets to estimate their share and delay."""
MIN_S = 0.004
"""Minimum lateness; hosts that handle several packets at once reorder by less."""
SPREAD = 0.2
"""Maximum distance of the middle half of the delays from their median, relative to it; beyond it
there is no single delay, but jitter.
"""
ANSWERED_SHARE = 0.9
"""Minimum time to an answer, as a share of the base round trip, for the retransmission itself to be
the answered packet; the original then arrived later still, at the time of the D-SACK.
"""


@dataclass(frozen=True)
class Late:
    """The share of the late packets, and their additional delay."""

    share: float
    by_s: float

    @property
    def words(self) -> str:
        """The late packets as part of a sentence."""
        share = format_percent(100 * self.share, decimals=1)
        return f"{share} of the packets come {1e3 * self.by_s:.0f} ms late, behind others"


def fitted_late(flow: Observed, labels: Labels, acks: Acks) -> Late | None:
    """The late packets of a flow; None if there are few, or their delays differ."""
    delays = np.concatenate([overtaken_by(flow), _repaired(flow, labels, acks)])
    if len(delays) < FEWEST:
        return None
    low, median, high = (float(one) for one in np.quantile(delays, (0.25, 0.5, 0.75)))
    if max(median - low, high - median) > SPREAD * median:
        return None
    return Late(len(delays) / len(flow.sent_s), median)


def overtaken_by(flow: Observed) -> Reals:
    """Lateness of the packets reported after packets that were sent later."""
    once = ~np.isin(flow.start, flow.start[flow.attempt > 0])
    came = flow.acked_s[once & np.isfinite(flow.acked_s)]
    if len(came) < 2:
        return np.array([])
    first_behind = np.minimum.accumulate(came[::-1])[::-1]
    delays: Reals = came[:-1] - first_behind[1:]
    return delays[delays > MIN_S]


def _repaired(flow: Observed, labels: Labels, acks: Acks) -> Reals:
    """Lateness of the packets that were retransmitted meanwhile."""
    if not len(labels):
        return np.array([])
    needless = np.flatnonzero((labels.cause == "reordering") & np.isfinite(labels.late_ns))
    dsacks = acks.time_ns[acks.dsack] / 1e9
    delays = []
    sent_of = {
        (start, attempt): sent
        for start, attempt, sent in zip(
            flow.start.tolist(), flow.attempt.tolist(), flow.sent_s.tolist(), strict=True
        )
    }
    for at in needless.tolist():
        sent = sent_of.get((float(labels.start[at]), int(labels.attempt[at]) - 1))
        if sent is None:
            continue
        late_ns = float(labels.late_ns[at])
        came = (float(labels.time_ns[at]) + late_ns) / 1e9
        by_dsack = labels.evidence[at] == "D-SACK"
        if by_dsack and late_ns / 1e9 > ANSWERED_SHARE * flow.base_rtt_s:
            behind = int(np.searchsorted(dsacks, came, side="right"))
            if behind == len(dsacks):
                continue
            came = float(dsacks[behind])
        delays.append(came - sent - flow.median_rtt_s)
    found = np.array(delays, dtype=np.float64)
    return found[found > MIN_S]
