"""Events in a ping log: stops, gaps, bursts of delay, steps, isolated losses.

A probe samples the link at one instant; an event is shown by several consecutive samples, with a
start and a length in time.
"""

from dataclasses import dataclass

import numpy as np

from airtcp._core import ping_events
from airtcp.core.recordings.log import Flags, PingLog, Reals

BEACON_S = 0.1024
"""Interval of beacons: 100 time units of 1024 microseconds (IEEE 802.11-2020, 9.4.1.3)."""
SEVERAL_DEVIATIONS = 6.0
MIN_BURST_S = 0.02
"""Minimum excess of a burst over the usual round trip, besides its size and six deviations."""


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
    """Detects the events of a log.

    Raises:
        ScenarioError: it has no answer.
    """
    found = ping_events(log.time_s, log.rtt_s, log.interval_s)
    usual_s = np.array(found["usual_s"])
    stopped = np.array(found["stopped"])
    steps = tuple(
        Step(float(log.time_s[at]), float(usual_s[at - 1]), float(usual_s[at]))
        for at in found["steps"]
    )
    return Events(
        _spans(found["gaps"]),
        _spans(found["stops"]),
        _bursts(log, usual_s, stopped),
        steps,
        np.array(found["alone"]),
        stopped,
        usual_s,
        found["sleep_s"],
    )


def _spans(found: list[tuple[float, float]]) -> Spans:
    """Gaps or stops, each a start and a length in seconds."""
    start_s, length_s = np.array(found).reshape(-1, 2).T
    return Spans(start_s, length_s, length_s)


def runs(flags: Flags) -> list[tuple[int, int]]:
    """Start and end (excluded) of each run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], flags.astype(np.int8), [0]))))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


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
