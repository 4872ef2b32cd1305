"""Best start: the initial window from the final windows of past sessions (WSC-TCP §3.3)."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median_low

from airtcp import _core
from airtcp.core.summary import RunSummary

INITIAL_WINDOW = "tcp.initial_window"
_SEGMENT_BYTES = 1448


@dataclass(frozen=True)
class BestStart:
    """A file of past sessions, and the peer of the next one.

    `warn` receives the initial window of the run and the recorded one, and an error if the file
    cannot be used; the run then continues with its usual window.
    """

    file: Path
    peer: str
    warn: Callable[[str], object]

    def settings(self, given: Mapping[str, object]) -> dict[str, object]:
        """`given`, with the initial window of past sessions if there are any, unless one is set."""
        if INITIAL_WINDOW in given:
            return dict(given)
        now = int(time.time())
        window, warnings = _core.session_window(self.file, self.peer, now, _utc_offset(now))
        for warning in warnings:
            self.warn(warning)
        if not window:
            self.warn(
                f"best start: too few past sessions with {self.peer!r} to begin from: the usual "
                "window"
            )
            return dict(given)
        self.warn(f"best start: begins with {window} segments, as past sessions with {self.peer!r}")
        return {**given, INITIAL_WINDOW: window}

    def record(self, summary: RunSummary) -> int:
        """Records the median of the flows' final windows, in segments; returns it."""
        window = median_low(
            max(1, flow["cwnd_bytes"] // _SEGMENT_BYTES) for flow in summary["flows"]
        )
        now = int(time.time())
        for warning in _core.record_session(
            self.file, self.peer, now, _utc_offset(now), min(window, 1_000_000)
        ):
            self.warn(warning)
        self.warn(f"best start: kept {window} segments as this session's window in {self.file}")
        return window


def _utc_offset(now: int) -> int:
    return time.localtime(now).tm_gmtoff
