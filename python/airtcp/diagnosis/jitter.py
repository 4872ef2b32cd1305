"""Delays that vary from packet to packet, so that packets are reordered.

An overtaken packet arrives later than the one that overtook it by the remainder of its delay from
that moment on. An exponential delay is memoryless: the remainder has the same distribution at any
moment, so the mean of these times is the mean of the delay.
"""

from dataclasses import dataclass, replace

import numpy as np

from airtcp.core.quantities import format_percent
from airtcp.diagnosis.late import MIN_S, SPREAD, overtaken_by
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.seconds import seconds_words

FEWEST = 30
OVERTAKEN = 6.0
"""Means of the jitter within which a packet is overtaken, or never (one in four hundred is)."""
MIN_SHARE = 0.01
"""Minimum share of overtaken packets; occasional late packets give fewer."""


@dataclass(frozen=True)
class Jitter:
    """A random delay of each packet, in addition to the link's constant delay."""

    mean_s: float
    share: float
    """Share of the packets that others overtook."""
    keeps_order: bool = False
    """Whether a packet that would overtake another waits for it."""

    @property
    def words(self) -> str:
        """The jitter as part of a sentence."""
        if self.keeps_order:
            return (
                f"its delay varies from packet to packet, by {seconds_words(self.mean_s)} in the "
                "mean and in order, as on DOCSIS, a busy virtual machine, or a radio that repeats "
                "frames"
            )
        share = format_percent(100 * self.share, decimals=0)
        return (
            f"packets overtake each other ({share} of them by jitter of "
            f"{seconds_words(self.mean_s)}), which is no loss"
        )


def without_outdated(flow: Observed, jitter: Jitter) -> Observed:
    """The flow with what its retransmissions may have overtaken taken for no sample of the link.

    A repair carries a newer timestamp. What was sent before it and arrives after it, the receiver
    discards as an old duplicate (RFC 7323 §5.3), although the link delivered it: such a loss is the
    jitter's, and packets that were as exposed and arrived are left out with it.
    """
    repairs = np.sort(flow.sent_s[flow.attempt > 0])
    if not len(repairs):
        return flow
    after = np.searchsorted(repairs, flow.sent_s, side="right")
    following = np.append(repairs, np.inf)[after]
    exposed = following - flow.sent_s <= OVERTAKEN * jitter.mean_s
    return replace(flow, dropped=flow.dropped | (flow.lost & exposed), full=flow.full | exposed)


def fitted_jitter(flow: Observed) -> Jitter | None:
    """The jitter of a flow; None if few packets are overtaken, or all by the same time."""
    delays = overtaken_by(flow)
    share = len(delays) / len(flow.sent_s)
    if len(delays) < FEWEST or share < MIN_SHARE:
        return None
    low, median, high = (float(one) for one in np.quantile(delays, (0.25, 0.5, 0.75)))
    if max(median - low, high - median) <= SPREAD * median:
        return None
    return Jitter(float(delays.mean()) - MIN_S, share)
