"""A radio in power save: it sleeps between beacons, and data for it waits for the next one.

An access point holds frames for a station in power save and announces them in its beacons (IEEE
802.11-2020 §11.2.3), mostly each 102.4 ms. Silences of the flow then end at multiples of that
interval, whatever their length. Round trips are seldom multiples of it; one that is gives
silences of its own length.
"""

import numpy as np
from numpy.typing import NDArray

from airtcp.core.quantities import format_count, format_percent
from airtcp.core.recordings.events import BEACON_S
from airtcp.diagnosis.capture import Capture
from airtcp.diagnosis.findings.finding import CaptureFinding
from airtcp.diagnosis.seconds import seconds_words

Reals = NDArray[np.float64]

SILENT_S = 0.02
"""Minimum silence: shorter ones are due to a medium access, or to a sender's bursts."""
FEWEST = 20
"""Minimum number of silences that end with a beacon."""
MIN_SHARE = 0.1
"""Minimum share of the time in such silences."""
WINDOW_S = 30.0
"""Time in which two clocks, each 50 ppm off, drift by 3 ms."""
ARC = 0.05
"""Width of a phase, relative to the interval."""
PARTS = (2, 3, 4, 5)
AGREE = 0.45
"""Minimum share of the silences that end at one phase; others are of acknowledgments that waited
for the radio, too. Of 20 at random nine agree once in a million.
"""
APART = 0.04
"""Minimum distance of a round trip from a multiple of the interval, relative to it."""


def power_save(capture: Capture) -> CaptureFinding | None:
    """The finding; None if silences end at any time, or a round trip explains when they do."""
    facts = capture.facts
    if facts is None:
        return None
    times = _arrivals(capture, is_receiver=facts["view"] == "receiver")
    gaps = np.diff(times)
    is_long = gaps >= SILENT_S
    ends, silences = times[1:][is_long], gaps[is_long]
    if len(ends) < FEWEST or _are_round_trips(capture):
        return None
    with_beacons = _with_beacons(ends)
    if with_beacons.sum() < max(FEWEST, AGREE * len(ends)):
        return None
    silences = silences[with_beacons]
    if silences.sum() < MIN_SHARE * (times[-1] - times[0]):
        return None
    share = format_percent(100 * float(silences.sum() / (times[-1] - times[0])), decimals=0)
    usual = seconds_words(float(np.median(silences)))
    return CaptureFinding(
        "power-save",
        f"A radio sleeps between beacons (power save): data waits for {share} of the time, in "
        f"{format_count(len(silences))} silences of {usual} in the median, which end at multiples "
        f"of {1e3 * BEACON_S:.1f} ms. Keep it awake, at the station: `iw dev DEV set power_save "
        "off`.",
        (
            "An access point announces what it holds for a sleeping station in its beacons; on "
            "most the interval is 102.4 ms.",
        ),
    )


def _arrivals(capture: Capture, *, is_receiver: bool) -> Reals:
    """Times at which data arrived, as far as they show here, in seconds.

    A lone report of a single segment is a delayed acknowledgment (RFC 9293 §3.8.6.3): its time is
    the receiver's.
    """
    segments, acks = capture.tables.segments, capture.tables.acks
    if is_receiver:
        times: Reals = np.sort(segments.time_ns) / 1e9
        return times
    reports = np.flatnonzero(acks.newly > 0)
    reports = reports[np.argsort(acks.time_ns[reports], kind="stable")]
    came: Reals = acks.time_ns[reports] / 1e9
    is_silent = np.diff(came, prepend=-np.inf, append=np.inf) >= SILENT_S
    sizes = segments.end - segments.start
    is_single = acks.newly[reports] <= (np.median(sizes) if len(sizes) else 0)
    return came[~(is_silent[:-1] & is_silent[1:] & is_single)]


def _with_beacons(ends: Reals) -> NDArray[np.bool_]:
    """Which silences end at the most frequent phase of the interval, within `ARC` of it.

    None do if as many end at each half, third, quarter or fifth of it: their period is shorter.
    """
    phases = ends / BEACON_S
    found = np.zeros(len(ends), dtype=np.bool_)
    at_parts = dict.fromkeys(PARTS, 0)
    window = np.floor((ends - ends[0]) / WINDOW_S)
    for one in np.unique(window):
        within = np.flatnonzero(window == one)
        after = (phases[within][np.newaxis, :] - phases[within][:, np.newaxis]) % 1.0
        best = after[np.argmax((after <= ARC).sum(axis=1))]
        found[within] = best <= ARC
        for part in PARTS:
            others = [np.sum((best - at / part) % 1.0 <= ARC) for at in range(1, part)]
            at_parts[part] += int(min(others))
    if max(at_parts.values()) > found.sum() / 2:
        return np.zeros(len(ends), dtype=np.bool_)
    return found


def _are_round_trips(capture: Capture) -> bool:
    """Whether a sender that sends a window once a round trip has the interval, too."""
    rtts_ns = capture.tables.segments.rtt_ns
    rtts = rtts_ns[np.isfinite(rtts_ns)] / 1e9
    if not len(rtts):
        return False
    periods = np.quantile(rtts, (0.002, 0.5)) / BEACON_S
    nearest = np.maximum(1.0, np.round(periods))
    return bool(nearest[0] == nearest[1] and np.all(np.abs(periods - nearest) < APART))
