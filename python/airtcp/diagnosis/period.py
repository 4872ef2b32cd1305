"""Whether events come at regular times, tested against events at random ones."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
FEWEST = 4
"""Events without whose three intervals no period is tested."""
ERROR = 0.002
"""How often events at random times would be called periodic."""
_DRAWS = 5000
_LARGEST_SPREAD = 0.25
"""Intervals that spread more are no period that anybody could use."""
_MOST_MISSED = 4
"""Intervals of up to as many periods, where events between were not seen."""


@dataclass(frozen=True)
class Period:
    """Events that come at regular times."""

    every_s: float
    spread: float
    """Standard deviation of the intervals over their mean."""


def period(start_s: Reals, resolution_s: float) -> Period | None:
    """The period of events, None where random times would look as regular.

    Random times have exponential intervals. The coefficient of variation of the intervals, once an
    interval over events that were missed counts as so many, is compared with that of as many
    exponential ones treated alike: hardly any draw (`ERROR`) may be as regular.

    Args:
        start_s: when each began, in order.
        resolution_s: the time between two probes, to within which a beginning is known.
    """
    intervals = np.diff(start_s)
    if len(start_s) < FEWEST or intervals.min() <= 0:
        return None
    every, spread = _folded(intervals[np.newaxis, :])
    # A spread below the resolution is none.
    own = max(float(spread[0]), 0.4 * resolution_s / float(every[0]))
    if own > _LARGEST_SPREAD:
        return None
    random = np.random.default_rng(1).exponential(size=(_DRAWS, len(intervals)))
    _, by_chance = _folded(random * float(intervals.mean()) + resolution_s)
    if np.count_nonzero(by_chance <= own) >= ERROR * _DRAWS:
        return None
    return Period(float(every[0]), own)


def _folded(intervals: Reals) -> tuple[Reals, Reals]:
    """Per row the period and the spread of the intervals, each over its number of periods."""
    base = np.median(intervals, axis=1, keepdims=True)
    count = np.clip(np.round(intervals / base), 1, _MOST_MISSED)
    every = intervals.sum(axis=1) / count.sum(axis=1)
    each = intervals / count
    return every, each.std(axis=1) / every
