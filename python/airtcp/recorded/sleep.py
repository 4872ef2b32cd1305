"""A radio that sleeps between beacons, by how long the answers to probes wait for it."""

import numpy as np

from airtcp.recorded.log import Reals

BEACON_S = 0.1024
"""Interval of beacons: 100 time units of 1024 microseconds (IEEE 802.11-2020, 9.4.1.3)."""
_BEACONS = (1, 2, 3, 10)
"""Beacons between two that a sleeping station wakes for (DTIM periods that are usual)."""
_SLEEPS = 0.5
"""A radio sleeps if at least this share of the probes waits."""
_EVEN = 0.06
"""Largest distance of the waits' distribution from an even one (Kolmogorov and Smirnov)."""
_FEWEST = 100


def sleep(rtt_s: Reals) -> float | None:
    """The longest wait of a radio that sleeps; None where the waits are not even.

    A probe comes at any time between two beacons and waits for the next: the waits are even from 0
    to the interval.

    Args:
        rtt_s: answered round trips outside stops.
    """
    if len(rtt_s) < _FEWEST:
        return None
    waits = np.sort(rtt_s - rtt_s.min())
    for beacons in _BEACONS:
        longest = beacons * BEACON_S
        within = waits[(waits > 0.05 * longest) & (waits < 0.95 * longest)]
        if len(within) < _SLEEPS * len(waits) or np.mean(waits > 1.1 * longest) > 0.05:
            continue
        even = (within / longest - 0.05) / 0.9
        steps = np.arange(1, len(even) + 1) / len(even)
        if float(np.max(np.abs(steps - even))) <= _EVEN + 1.36 / np.sqrt(len(even)):
            return longest
    return None
