"""Causes visible in the distribution of a log's round trips: power save, load, and the hour."""

from collections.abc import Iterator

import numpy as np

from airtcp.core.quantities import format_percent
from airtcp.core.recordings.events import BEACON_S, Events, Spans, runs
from airtcp.core.recordings.log import Flags, PingLog, Reals
from airtcp.diagnosis.finding import Finding, span_words
from airtcp.diagnosis.how_often import how_long, how_often
from airtcp.diagnosis.period import FEWEST, period

QUEUE_S = 0.04
QUEUE_SHARE = 0.05
MIN_LOAD_S = 2.0
PAUSE_S = 5.0
"""Shorter pauses do not end a time of load."""
HOUR_S = 3600.0
_FEWEST_HOURS = 6
_OF_AN_HOUR = 60
"""Minimum number of probes in an hour for it to be compared."""
_WORSE = 1.5


def power_save(log: PingLog, events: Events) -> Iterator[Finding]:
    """Answers delayed uniformly up to a beacon interval, as for a radio in power save."""
    if events.sleep_s is None:
        return
    beacons = round(events.sleep_s / BEACON_S)
    base = float(log.answered.min())
    yield Finding(
        "power-save",
        f"Answers wait evenly for up to {1e3 * events.sleep_s:.0f} ms, "
        f"{'a beacon interval' if beacons == 1 else f'{beacons} beacon intervals'}, on a link "
        f"of {1e3 * base:.3g} ms: the radio sleeps between beacons (power save).",
        0.5,
        "Keep it awake: `iw dev DEV set power_save off`, lasting by `wifi.powersave = 2` in "
        "NetworkManager; then measure again.",
    )


def queue_under_load(log: PingLog, events: Events) -> Iterator[Finding]:
    """A round trip that rises and falls over seconds: a queue that fills and drains."""
    slow = _slow(log, events)
    if slow is None:
        return
    over = slow - log.least_s > max(QUEUE_S, log.least_s)
    loads = _episodes(log, events, over)
    share = float(np.mean(over))
    is_often = share >= QUEUE_SHARE or len(loads) >= FEWEST
    if not (len(loads) and is_often and _varies(log, events, over)):
        return
    regular = period(loads.start_s, float(np.median(loads.length_s)) / 4)
    times = "once" if len(loads) == 1 else how_often(loads, log, regular)
    yield Finding(
        "queue",
        f"The round trip rises from {span_words(log.least_s)} to "
        f"{span_words(float(np.quantile(slow[over], 0.95)))} for {how_long(loads)}, {times} "
        f"({format_percent(100 * share, decimals=0)} of the time), and varies there: a queue that "
        "fills while the link is loaded.",
        0.3 + 0.5 * share,
        "Keep the queue short: FQ-CoDel or CAKE where the link is the slowest (`tc qdisc replace "
        "dev DEV root cake bandwidth RATE`, with nine tenths of the rate).",
        regular,
    )


def hours(log: PingLog, _events: Events) -> Iterator[Finding]:
    """The hours of the day that are much worse than the others."""
    if log.began_unix_s is None or log.duration_s < _FEWEST_HOURS * HOUR_S:
        return
    of_probe = ((log.began_unix_s + log.time_s) // HOUR_S).astype(int) % 24
    medians, lost = np.full(24, np.nan), np.full(24, np.nan)
    for hour in range(24):
        rtt = log.rtt_s[of_probe == hour]
        if len(rtt) >= _OF_AN_HOUR and not np.isnan(rtt).all():
            medians[hour], lost[hour] = float(np.nanmedian(rtt)), float(np.isnan(rtt).mean())
    if np.isnan(medians).all():
        return
    usual, usual_lost = float(np.nanmedian(medians)), float(np.nanmedian(lost))
    # A median round trip half as long again, or more than three times the usual loss; both plus a
    # margin for short and loss-free paths.
    bad = (medians > _WORSE * usual + 0.005) | (lost > 3 * usual_lost + 0.01)
    if not bad.any() or np.count_nonzero(bad) > np.count_nonzero(~np.isnan(medians)) / 2:
        return
    first, last = _longest_run(bad)
    worst = [hour % 24 for hour in range(first, last)]
    yield Finding(
        "hours",
        f"It is worse from {first % 24:02d}:00 to {last % 24:02d}:00 UTC: a median round trip of "
        f"{span_words(float(np.nanmean(medians[worst])))} and "
        f"{format_percent(100 * float(np.nanmean(lost[worst])))} lost, against "
        f"{span_words(usual)} and {format_percent(100 * usual_lost)} otherwise: others load the "
        "link then.",
        0.2,
    )


def _slow(log: PingLog, events: Events) -> Reals | None:
    """The running median over two seconds or seven probes, at answered probes outside stops."""
    known = log.rtt_s[~np.isnan(log.rtt_s) & ~events.stopped]
    width = max(7, round(2.0 / log.interval_s))
    if len(known) < 4 * width:
        return None
    slow: Reals = np.median(np.lib.stride_tricks.sliding_window_view(known, width), axis=1)
    return slow


def _episodes(log: PingLog, events: Events, over: Flags) -> Spans:
    """The times in which the running median is raised; pauses of a few seconds are part of one."""
    known = np.flatnonzero(~np.isnan(log.rtt_s) & ~events.stopped)
    middle = (len(known) - len(over)) // 2
    time_s = log.time_s[known[middle : middle + len(over)]]
    spans: list[list[float]] = []
    for first, end in runs(over):
        start, last = float(time_s[first]), float(time_s[end - 1])
        if spans and start - spans[-1][1] < PAUSE_S:
            spans[-1][1] = last
        else:
            spans.append([start, last])
    edges = np.array([one for one in spans if one[1] - one[0] >= MIN_LOAD_S]).reshape(-1, 2)
    length = edges[:, 1] - edges[:, 0]
    return Spans(edges[:, 0], length, np.zeros(len(edges)))


def _varies(log: PingLog, events: Events, over: Flags) -> bool:
    """Whether the round trip varies more while raised than otherwise: a queue, not a path."""
    known = log.rtt_s[~np.isnan(log.rtt_s) & ~events.stopped][: len(over)]
    spreads = [
        float(np.subtract(*np.quantile(part, (0.75, 0.25)))) if len(part) > 3 else 0.0
        for part in (known[over], known[~over])
    ]
    return spreads[0] > 3 * spreads[1] and spreads[0] > 0.1 * QUEUE_S


def _longest_run(bad: Flags) -> tuple[int, int]:
    """Start and end of the longest run of bad hours around the clock."""
    twice = np.concatenate((bad, bad)).astype(np.int8)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], twice, [0]))))
    found = list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
    return max(found, key=lambda run: min(run[1] - run[0], 24))
