"""Pauses of the acknowledgments while other data fills their way: no stop of the link.

In a queue with reverse traffic, acknowledgments wait while the data before them passes. A stop of
the link ends that data, too; where only this direction stops, the receiver's clock shows that
nothing arrived there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from airtcp.diagnosis.findings.way_back import departures_s
from airtcp.diagnosis.tables import Acks

Reals = NDArray[np.float64]

FEWEST = 20
"""Minimum number of packets of reverse data to know their usual spacing."""
SAME_S = 1e-6
"""Times of one packet in two tables differ by less."""
SPACINGS = 3.0
"""Maximum gap between packets of reverse data on a busy way, in median gaps."""
MAX_GAP_SHARE = 0.5
"""Maximum gap between them, as a share of a pause in which they arrive throughout."""


@dataclass(frozen=True)
class BusyBack:
    """Reverse data, and departures of acknowledgments."""

    arrivals_s: Reals
    """Arrivals of reverse data at the sender, in order."""
    ack_s: Reals
    """Arrivals of the acknowledgments that have a departure, in order."""
    left_s: Reals
    """Their departures by the receiver's clock, of any origin; empty if it shows no clock."""

    def passes(self, begun_s: float, ended_s: float, shortest_s: float) -> bool:
        """Whether reverse data arrives throughout a pause of the acknowledgments.

        No gap is as long as the shortest stop or half of the pause, unless a few packets of the
        reverse data take that long.
        """
        if len(self.arrivals_s) < FEWEST:
            return False
        busy_s = SPACINGS * float(np.median(np.diff(self.arrivals_s)))
        longest_s = min(shortest_s, MAX_GAP_SHARE * (ended_s - begun_s))
        first, last = np.searchsorted(self.arrivals_s, (begun_s, ended_s))
        within = np.concatenate(([begun_s], self.arrivals_s[first:last], [ended_s]))
        return last > first and float(np.diff(within).max()) <= max(longest_s, busy_s)

    def way_there_s(self, sent_s: Reals, acked_s: Reals) -> Reals:
        """From sending to the departure of the acknowledgment, up to a constant; NaN if not known.

        Args:
            sent_s: time of each transmission.
            acked_s: arrival of the acknowledgment that reports it.
        """
        if not len(self.left_s):
            return np.full(len(sent_s), np.nan)
        at = np.minimum(np.searchsorted(self.ack_s, acked_s), len(self.ack_s) - 1)
        is_known = np.abs(self.ack_s[at] - acked_s) < SAME_S
        delays: Reals = np.where(is_known, self.left_s[at] - sent_s, np.nan)
        return delays


def busy_back(arrivals_ns: Sequence[int], acks: Acks) -> BusyBack | None:
    """The reverse data of a capture at the sender; None if there is no such data.

    Args:
        arrivals_ns: arrivals of the data, in order.
        acks: the flow's acknowledgments, as in a capture.
    """
    if not arrivals_ns:
        return None
    arrivals_s = np.array(arrivals_ns, dtype=np.float64) / 1e9
    timed = np.flatnonzero(np.isfinite(acks.timestamp))
    timed = timed[np.argsort(acks.time_ns[timed], kind="stable")]
    ack_s = acks.time_ns[timed] / 1e9
    left_s = departures_s(ack_s, acks.timestamp[timed])
    if left_s is None:
        return BusyBack(arrivals_s, np.array([]), np.array([]))
    return BusyBack(arrivals_s, ack_s, left_s)
