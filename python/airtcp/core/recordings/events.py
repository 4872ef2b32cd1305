"""Events in a ping log: stops, gaps, bursts of delay, steps, isolated losses.

A probe samples the link at one instant; an event is shown by several consecutive samples, with a
start and a length in time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

import numpy as np

from airtcp.core.recordings.log import Flags, PingLog, Reals
from airtcp.core.recordings.sleep import sleep

RARE = 0.05
"""Maximum probability of a run of unanswered probes by chance, for it to be a gap."""
AT_ONCE = 0.35
"""Maximum spacing of simultaneous answers to successive probes, in intervals."""
WAITED = 0.5
"""Minimum extra delay of a probe that may have waited for a stop's end, in intervals."""
SEVERAL = 3
LONG_S = 1.0
"""Minimum wait of the first for two simultaneous answers to be a stop; three always are."""
SEVERAL_DEVIATIONS = 6.0
MIN_BURST_S = 0.02
"""Minimum excess of a burst over the usual round trip, besides its size and six deviations."""
STEP_PROBES = 12
"""Probes on each side of a step of the base delay."""
STEP_LASTS_S = 5.0
MIN_STEP_S = 0.01
STEP_SHARE = 0.25
"""Minimum change of the median by a step, as a share of the base delay."""
MAX_IN_WINDOW = 64
"""Maximum number of round trips examined per window, evenly spread."""
_WINDOWS_AT_ONCE = 16_384


@dataclass(frozen=True)
class Spans:
    """Events of one kind: start and duration of each, in seconds."""

    start_s: Reals
    length_s: Reals
    size_s: Reals
    """The largest excess delay of each; for gaps and stops, the length."""

    def __len__(self) -> int:
        return len(self.start_s)


@dataclass(frozen=True)
class Step:
    """A persistent change of the base delay."""

    at_s: float
    before_s: float
    after_s: float


@dataclass(frozen=True)
class Events:
    """All events of a log."""

    gaps: Spans
    """Runs of unanswered probes too long for chance: everything was lost for a time."""
    stops: Spans
    """Periods without answers that end with all answers at once."""
    bursts: Spans
    """Periods of higher delay."""
    steps: tuple[Step, ...]
    alone: Flags
    """By probe: whether lost outside gaps."""
    stopped: Flags
    """By probe: whether it waited for the end of a stop."""
    usual_s: Reals
    """By probe: the usual round trip, with the steps."""
    sleep_s: float | None
    """The longest wait for a radio in power save; None without power save."""

    def loss_rate(self, log: PingLog) -> float:
        """Share of the probes lost outside gaps, including losses without a time in the log."""
        lost = int(self.alone.sum()) + log.unplaced
        within = int(np.isnan(log.rtt_s).sum()) - int(self.alone.sum())
        return lost / max(log.sent - within, 1)


def find_events(log: PingLog) -> Events:
    """Detects the events of a log."""
    in_gap = _gaps(np.isnan(log.rtt_s))
    stopped, stops = _stops(log)
    steps, usual_s = _steps(log, stopped)
    return Events(
        _spans_of_gaps(log, in_gap),
        stops,
        _bursts(log, usual_s, stopped),
        steps,
        np.isnan(log.rtt_s) & ~in_gap,
        stopped,
        usual_s,
        sleep(log.rtt_s[~np.isnan(log.rtt_s) & ~stopped]),
    )


def runs(flags: Flags) -> list[tuple[int, int]]:
    """Start and end (excluded) of each run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], flags.astype(np.int8), [0]))))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _gaps(lost: Flags) -> Flags:
    """The lost probes in runs longer than independent losses make."""
    found = runs(lost)
    lengths = np.array([end - first for first, end in found])
    in_gap = np.zeros(len(lost), dtype=np.bool_)
    for shortest in range(2, int(lengths.max(initial=1)) + 1):
        shorter = int(lengths[lengths < shortest].sum())
        rate = shorter / max(len(lost) - int(lengths[lengths >= shortest].sum()), 1)
        if len(lost) * (1 - rate) * rate**shortest < RARE:
            for first, end in found:
                in_gap[first:end] = end - first >= shortest
            break
    return in_gap


def _spans_of_gaps(log: PingLog, in_gap: Flags) -> Spans:
    """Gaps by their length: k probes last between k - 1 and k + 1 intervals.

    A gap is taken to last k intervals from half an interval before its first probe. A gap at an end
    of the log was only observed in part.
    """
    found = runs(in_gap)
    half = log.interval_s / 2
    start = np.array([max(log.time_s[first] - half, 0.0) for first, _ in found])
    end = np.array([log.time_s[last - 1] + half for _, last in found])
    return Spans(start, end - start, end - start)


def _stops(log: PingLog) -> tuple[Flags, Spans]:
    """Probes answered all at once after the first of them had waited, and the stops.

    The first probe that waited was sent up to an interval after the stop began. If stops are all
    alike, all of them are as long as the longest wait.
    """
    base = log.least_s
    came = log.time_s + log.rtt_s
    waited = np.nan_to_num(log.rtt_s, nan=0.0) - base >= WAITED * log.interval_s
    near = np.zeros(len(came), dtype=np.bool_)
    # NaN compares as false: an unanswered probe is in no stop.
    near[1:] = np.abs(np.diff(came)) < AT_ONCE * log.interval_s
    stopped = np.zeros(len(came), dtype=np.bool_)
    spans = []
    first = 0
    while first < len(came):
        last = first
        while last + 1 < len(came) and near[last + 1] and waited[last]:
            last += 1
        length_s = log.rtt_s[first] - base
        is_stop = (last - first + 1 >= SEVERAL or length_s >= LONG_S) and last > first
        if is_stop and length_s > log.interval_s:
            # The last answer may be for a probe that waited only for a small part of an interval.
            stopped[first : last + 1] = True
            spans.append((log.time_s[first], length_s))
        first = last + 1
    start, length = (np.array(values) for values in zip(*spans, strict=True)) if spans else ([], [])
    start, length = np.asarray(start, float), np.asarray(length, float)
    if len(length) and length.max() - length.min() <= log.interval_s:
        start, length = start - (length.max() - length), np.full(len(length), length.max())
    return stopped, Spans(np.maximum(start, 0.0), length, length)


def _over_windows(values: Reals, width: int, measured: Callable[[Reals], Reals]) -> Reals:
    """Applies `measured` to each `width` consecutive values, in chunks since it copies them."""
    windows = np.lib.stride_tricks.sliding_window_view(values, width)
    windows = windows[:, :: ceil(width / MAX_IN_WINDOW)]
    parts = [
        measured(windows[first : first + _WINDOWS_AT_ONCE])
        for first in range(0, len(windows), _WINDOWS_AT_ONCE)
    ]
    return np.concatenate(parts, axis=-1)


def _steps(log: PingLog, stopped: Flags) -> tuple[tuple[Step, ...], Reals]:
    """Persistent changes of the base delay, and the usual round trip with them.

    Between two steps the usual round trip is the median of the whole, so that a slow queue is no
    step.
    """
    side = max(STEP_PROBES, round(STEP_LASTS_S / log.interval_s))
    known = np.flatnonzero(~np.isnan(log.rtt_s) & ~stopped)
    if len(known) < 3 * side:
        return (), np.full(len(log.rtt_s), log.median_s)
    values = log.rtt_s[known]
    low, middle, high = _over_windows(
        values, side, lambda windows: np.quantile(windows, (0.1, 0.5, 0.9), axis=1)
    )
    before, after = slice(None, -side), slice(side, None)
    change = middle[after] - middle[before]
    least = np.maximum(MIN_STEP_S, STEP_SHARE * np.minimum(middle[after], middle[before]))
    # The two sides hardly overlap: a step rather than an intermittent queue.
    apart = np.where(change > 0, low[after] - high[before], low[before] - high[after])
    candidate = (np.abs(change) >= least) & (apart > 0)
    edges = [0]
    for first, end in runs(candidate):
        edges.append(int(known[first + int(np.argmax(np.abs(apart[first:end]))) + side]))
    edges.append(len(log.rtt_s))
    levels = _levels(log, edges, stopped)
    # Without a step between the medians of the whole parts, it was noise at their edge.
    while len(levels) > 1:
        smaller = np.maximum(np.minimum(levels[:-1], levels[1:]), 1e-6)
        changes = np.abs(np.diff(levels)) / smaller
        smallest = int(np.argmin(changes))
        if (
            changes[smallest] >= STEP_SHARE
            and abs(levels[smallest + 1] - levels[smallest]) >= MIN_STEP_S
        ):
            break
        del edges[smallest + 1]
        levels = _levels(log, edges, stopped)
    usual = np.repeat(levels, np.diff(edges))
    steps = tuple(
        Step(float(log.time_s[at]), float(before), float(after))
        for at, before, after in zip(edges[1:-1], levels, levels[1:], strict=False)
    )
    return steps, usual


def _levels(log: PingLog, edges: list[int], stopped: Flags) -> Reals:
    """The median round trip between consecutive edges."""
    levels = []
    for first, end in pairwise(edges):
        part = log.rtt_s[first:end][~stopped[first:end]]
        part = part[~np.isnan(part)]
        levels.append(float(np.median(part)) if len(part) else log.median_s)
    return np.array(levels)


def _bursts(log: PingLog, usual_s: Reals, stopped: Flags) -> Spans:
    """Runs of probes that took much longer than usual, with gaps of up to two probes."""
    over = log.rtt_s - usual_s
    quiet = over[~np.isnan(over) & ~stopped]
    deviation = 1.4826 * float(np.median(np.abs(quiet - np.median(quiet)))) if len(quiet) else 0.0
    threshold = np.maximum(np.maximum(SEVERAL_DEVIATIONS * deviation, usual_s), MIN_BURST_S)
    high = (np.nan_to_num(over, nan=0.0) > threshold) & ~stopped
    joined = high.copy()
    for first, end in runs(~high):
        if end - first <= 2 and first > 0 and end < len(high):
            joined[first:end] = not stopped[first:end].any()
    found = runs(joined)
    start = np.array([log.time_s[first] for first, _ in found])
    last = np.array([log.time_s[end - 1] for _, end in found])
    size = np.array([float(np.nanmax(over[first:end])) for first, end in found])
    return Spans(start, last + log.interval_s - start, size)
