"""The path of the acknowledgments, from the receiver's timestamps: when each left it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from airtcp.diagnosis.tables import Acks

ACK_BYTES = 52
TICKS_S = (1e-6, 1e-3, 4e-3, 1e-2)
"""Ticks of the clocks of timestamps; coarser ones show no queue."""
MAX_TICK_RATIO = 1.5
"""Maximum ratio of the mean time of a tick to the clock's: a queue that grows stretches it."""
MAX_DRIFT = 2e-4
"""Maximum relative difference of two clocks."""
FEWEST_ACKS = 200
MIN_WAIT_S = 0.02
"""Minimum median wait, well above the coarsest tick."""
SAME_GAP = 0.15
"""Relative distance of gaps that count as the same."""

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class WayBack:
    """The path of the acknowledgments."""

    wait_s: float
    """Median wait of an acknowledgment in its queue."""
    gap_s: float
    """Median gap between acknowledgments that waited."""
    same: float
    """Share of these gaps near the median."""

    @property
    def bps(self) -> float:
        """Rate of the path, from the gap."""
        return 8.0 * ACK_BYTES / self.gap_s


def way_back(acks: Acks) -> WayBack | None:
    """The path of the acknowledgments of a flow; None if their timestamps show no clock."""
    pure = (acks.payload == 0) & np.isfinite(acks.timestamp)
    came = acks.time_ns[pure] / 1e9
    left = departures_s(came, acks.timestamp[pure])
    if left is None:
        return None
    waits = _without_drift(came, came - left)
    waited = waits > 0.5 * float(np.median(waits))
    gaps = np.diff(came)[waited[1:] & waited[:-1]]
    gaps = gaps[gaps > 0]
    if len(gaps) < FEWEST_ACKS // 2:
        return None
    gap = float(np.median(gaps))
    same = float(np.mean(np.abs(gaps / gap - 1.0) <= SAME_GAP))
    return WayBack(float(np.median(waits)), gap, same)


def departures_s(came: Reals, timestamps: Reals) -> Reals | None:
    """When each acknowledgment left the receiver, in seconds of its clock since the first.

    None if their timestamps show no clock.

    Args:
        came: arrivals of the acknowledgments, in seconds.
        timestamps: their TSval.
    """
    if len(came) < FEWEST_ACKS:
        return None
    # Timestamps wrap at 2^32 (RFC 7323 §5.2).
    values = np.unwrap(timestamps, period=2.0**32)
    ticks = values[-1] - values[0]
    if ticks <= 0 or came[-1] <= came[0]:
        return None
    rough = (came[-1] - came[0]) / ticks
    tick = min(TICKS_S, key=lambda one: abs(np.log(rough / one)))
    if not 1 / MAX_TICK_RATIO <= rough / tick <= MAX_TICK_RATIO:
        return None
    left: Reals = tick * (values - values[0])
    return left


def _without_drift(came: Reals, offsets: Reals) -> Reals:
    """Delays above the shortest, with the clocks' drift taken out of the shortest."""
    fifth = max(1, len(came) // 5)
    first, last = int(np.argmin(offsets[:fifth])), -fifth + int(np.argmin(offsets[-fifth:]))
    seconds = came[last] - came[first]
    drift = (offsets[last] - offsets[first]) / seconds if seconds > 0 else 0.0
    if abs(drift) > MAX_DRIFT:
        drift = 0.0
    level = offsets - drift * (came - came[0])
    return np.asarray(level - level.min())
