"""A ping log that looks like Starlink's: there ICMP has a queue apart from TCP's and UDP's.

The terminal gets another beam each 15 s, at 12, 27, 42 and 57 s of the minute, and the base delay
changes there. LeoCC's authors (SIGCOMM 2025) found that a ping does not meet the queue that their
UDP flood filled.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from airtcp.core.recordings.log import PingLog, Reals

Indices = NDArray[np.int64]
PERIOD_S = 15.0
OTHER_PERIODS_S = (11.0, 13.0, 17.0, 19.0)
ADDRESSES = ("192.168.100.1", "100.64.0.1")
"""The terminal, and the first hop beyond it (of other networks with that address, too)."""
ADVICE = (
    "The terminal is given another beam each 15 s: no setting of a computer ends these gaps. "
    "Obstacles in its view lengthen them, and its app shows where they are."
)
"""About gaps that come with these changes."""
NEAR_S = 0.3
"""Maximum deviation of their period."""
MIN_S, MAX_S = 0.012, 0.12
"""Round trips to a host near a ground station."""
MIN_PERIODS = 8
MAX_EDGES = 240
"""Changes that are looked at for a phase: an hour's, spread over a longer log."""
MAX_PADDED = 64
"""Probes of a range up to which ranges are sorted together; a flood ping has more."""
_EDGE_S = 4.0
"""Probes so long before and after a change are compared."""
_TIMES = 1.6
"""Changes at the right times exceed those at others by this factor. Those at every second of these
times do not: a device that moves each half a minute or minute has others than Starlink's.
"""


def starlink_sentence(log: PingLog, hosts: Sequence[str]) -> str | None:
    """The sentence about such a log; None for another."""
    signs = []
    if any(host in ADDRESSES for host in hosts):
        signs.append("its address")
    if changes_each_15_s(log):
        signs.append("delays that change each 15 s")
    fits = MIN_S <= float(log.answered.min()) <= MAX_S
    if len(signs) < 2 and not (signs and fits and signs[0].startswith("delays")):
        return None
    return (
        f"This looks like Starlink ({' and '.join(signs)}), where ICMP is queued apart: the ping "
        "does not show the queue that TCP and UDP meet there. Measure with one of them: `airtcp "
        "measure HOST`, irtt, or a capture of a transfer."
    )


def comes_with_beams(every_s: float, log: PingLog) -> bool:
    """Whether what recurs after this time comes with changes of the beam."""
    return abs(every_s - PERIOD_S) <= NEAR_S and changes_each_15_s(log)


def changes_each_15_s(log: PingLog) -> bool:
    """Whether the base delay changes at a phase of 15 s, more than at others and other periods."""
    if log.duration_s < MIN_PERIODS * PERIOD_S or len(log.answered) < MIN_PERIODS * 10:
        return False
    known = np.flatnonzero(~np.isnan(log.rtt_s))
    known = known[np.argsort(log.time_s[known], kind="stable")]
    time_s, rtt_s = log.time_s[known], log.rtt_s[known]
    # Spikes are not of the base delay.
    rtt_s = np.minimum(rtt_s, np.quantile(rtt_s, 0.9))
    own_s, every_second_s = (
        max(_changes(time_s, rtt_s, periods * PERIOD_S, MIN_PERIODS // periods - 2))
        for periods in (1, 2)
    )
    if every_second_s > _TIMES * own_s:
        return False
    own = _sharpness(time_s, rtt_s, PERIOD_S)
    others = [_sharpness(time_s, rtt_s, period) for period in OTHER_PERIODS_S]
    return own > _TIMES and own > _TIMES * max(1.0, float(np.median(others)))


def _sharpness(time_s: Reals, rtt_s: Reals, period_s: float) -> float:
    """How much larger the changes at the best phase are than those at the usual one."""
    sizes = _changes(time_s, rtt_s, period_s, MIN_PERIODS - 2)
    usual = float(np.median(sizes))
    return max(sizes) / usual if usual > 0 else 0.0


def _changes(time_s: Reals, rtt_s: Reals, period_s: float, fewest: int) -> list[float]:
    """The mean change of the delay at each phase of a period, 0 with fewer changes than `fewest`.

    Times are in order.
    """
    sizes = []
    for phase in np.arange(0.0, period_s, 1.0):
        edges = np.arange(phase, float(time_s[-1]), period_s)
        edges = edges[:: max(1, len(edges) // MAX_EDGES)]
        begins, middles, ends = (
            np.searchsorted(time_s, edges + by_s) for by_s in (-_EDGE_S, 0.0, _EDGE_S)
        )
        compared = (middles - begins > 2) & (ends - middles > 2)
        before = _medians(rtt_s, begins[compared], middles[compared])
        after = _medians(rtt_s, middles[compared], ends[compared])
        steps = np.abs(after - before)
        sizes.append(float(np.mean(steps)) if len(steps) >= fewest else 0.0)
    return sizes


def _medians(values: Reals, begins: Indices, ends: Indices) -> Reals:
    """The median of each range; a range has at least one value.

    A day has tens of thousands: short ones are sorted together.
    """
    lengths = ends - begins
    if not len(lengths) or lengths.max() > MAX_PADDED:
        return np.array(
            [np.median(values[begin:end]) for begin, end in zip(begins, ends, strict=True)]
        )
    places = begins[:, np.newaxis] + np.arange(lengths.max())
    padded = np.append(values, np.inf)[np.minimum(places, len(values))]
    padded[places >= ends[:, np.newaxis]] = np.inf
    padded.sort(axis=1)
    each = np.arange(len(begins))
    medians: Reals = (padded[each, (lengths - 1) // 2] + padded[each, lengths // 2]) / 2
    return medians
