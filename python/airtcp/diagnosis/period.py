"""Tests whether events come at regular times, against the hypothesis of random times."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
FEWEST = 4
"""Minimum number of events; their three intervals are needed to test a period."""
ERROR = 0.002
"""Probability that events at random times are called periodic."""
_DRAWS = 5000
_LARGEST_SPREAD = 0.25
"""Maximum relative spread of the intervals of a useful period."""
_MAX_MISSED = 4
"""Maximum number of periods in one interval, if events between were missed."""


@dataclass(frozen=True)
class Period:
    """Events that come at regular times."""

    every_s: float
    spread: float
    """Standard deviation of the intervals over their mean."""


def period(start_s: Reals, resolution_s: float) -> Period | None:
    """The period of events; None if random times would look as regular.

    Random times have exponential intervals. The coefficient of variation of the intervals, with an
    interval over missed events divided by its number of periods, is compared with that of simulated
    exponential ones, treated alike: hardly any draw (`ERROR`) may be as regular.

    Args:
        start_s: start of each event, in order.
        resolution_s: the time between two probes: the precision of a start.
    """
    intervals = np.diff(start_s)
    if len(start_s) < FEWEST or intervals.min() <= 0:
        return None
    every, spread = _folded(intervals[np.newaxis, :])
    # A spread below the resolution counts as zero.
    own = max(float(spread[0]), 0.4 * resolution_s / float(every[0]))
    if own > _LARGEST_SPREAD:
        return None
    random = np.random.default_rng(1).exponential(size=(_DRAWS, len(intervals)))
    _, by_chance = _folded(random * float(intervals.mean()) + resolution_s)
    if np.count_nonzero(by_chance <= own) >= ERROR * _DRAWS:
        return None
    return Period(float(every[0]), own)


def _folded(intervals: Reals) -> tuple[Reals, Reals]:
    """Per row the period and the spread of the intervals, each divided by its number of periods."""
    base = np.median(intervals, axis=1, keepdims=True)
    count = np.clip(np.round(intervals / base), 1, _MAX_MISSED)
    every = intervals.sum(axis=1) / count.sum(axis=1)
    each = intervals / count
    return every, each.std(axis=1) / every
