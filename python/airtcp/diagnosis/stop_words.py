"""The stops of a captured link in words: length, frequency, and causes on a radio."""

from collections.abc import Iterator

import numpy as np

from airtcp.core.quantities import format_count, format_percent
from airtcp.diagnosis.finding import span_words
from airtcp.diagnosis.period import Period, period
from airtcp.diagnosis.radio import NEAR_S, RADIO_ADVICE, SCAN_ADVICE, is_scan
from airtcp.diagnosis.stops import StopProcess

RESOLUTION_S = 0.05
"""To within which the beginning of a stop shows in acknowledgments."""
MANY_PER_S = 0.5
SHORT_S = 0.2
"""Shorter stops at this frequency are due to a busy channel or a driver."""
STOPPED_SHARE = 0.01
"""Stops of a smaller share of the time explain nothing."""


def stop_words(process: StopProcess, seconds: float) -> str | None:
    """Effect of the stops on a flow of `seconds`; None if they hardly stop it."""
    if not process.stops or seconds <= 0:
        return None
    stopped = sum(stop.length_s for stop in process.stops) / seconds
    if stopped <= STOPPED_SHARE:
        return None
    share = format_percent(100 * min(stopped, 1.0), decimals=0)
    return f"the link stalls for {share} of the time, {_how_often(process, seconds)}"


def stop_advice(process: StopProcess, seconds: float, base_rtt_s: float) -> Iterator[str]:
    """Changes of the radio to try; empty if the stops do not resemble a radio's."""
    if stop_words(process, seconds) is None:
        return
    regular = _period(process)
    if regular is not None and is_scan(process.mean_length_s, regular.every_s):
        yield SCAN_ADVICE
    elif base_rtt_s < NEAR_S or _are_of_the_channel(process, seconds):
        yield RADIO_ADVICE


def _period(process: StopProcess) -> Period | None:
    return period(np.array([stop.start_s for stop in process.stops]), RESOLUTION_S)


def _are_of_the_channel(process: StopProcess, seconds: float) -> bool:
    return len(process.stops) > MANY_PER_S * seconds and process.mean_length_s < SHORT_S


def _how_often(process: StopProcess, seconds: float) -> str:
    length = span_words(process.mean_length_s)
    if len(process.stops) == 1:
        at = max(process.stops[0].start_s, 0.0)
        return f"{length} at once, {span_words(at)} after the beginning"
    regular = _period(process)
    if regular is not None:
        scans = ", as a radio does that scans for other networks"
        cause = scans if is_scan(process.mean_length_s, regular.every_s) else ""
        return f"{length} every {span_words(regular.every_s)}{cause}"
    cause = ""
    if _are_of_the_channel(process, seconds):
        cause = ", as on a busy channel, in a busy cell or with a driver that stalls"
    if len(process.stops) == 2:
        return f"twice for {length} in the mean"
    return f"{format_count(len(process.stops))} times for {length} in the mean{cause}"
