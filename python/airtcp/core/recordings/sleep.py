"""Detects power save between beacons, by the distribution of the waits for answers."""

import numpy as np

from airtcp.core.recordings.log import Reals

BEACON_S = 0.1024
"""Interval of beacons: 100 time units of 1024 microseconds (IEEE 802.11-2020, 9.4.1.3)."""
_BEACONS = (1, 2, 3, 10)
"""Usual DTIM periods: beacons between two that a sleeping station wakes for."""
_SLEEPS = 0.5
"""Minimum share of waiting probes for a radio in power save."""
_EVEN = 0.06
"""Maximum distance of the waits' distribution from a uniform one (Kolmogorov and Smirnov)."""
_FEWEST = 100


def sleep(rtt_s: Reals) -> float | None:
    """The longest wait of a radio in power save; None if the waits are not uniform.

    A probe arrives at any time between two beacons and waits for the next: the waits are uniform
    from 0 to the interval.

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
