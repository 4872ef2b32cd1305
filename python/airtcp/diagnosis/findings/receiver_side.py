"""A download captured at its receiver without timestamps: no link can be fitted.

The capture has the arrival times and the order of packets, but not their departure times.
"""

import numpy as np

from airtcp.core.quantities import format_bit_rate, format_bytes, format_count, format_percent
from airtcp.diagnosis.capture import Capture
from airtcp.diagnosis.findings.finding import CaptureFinding
from airtcp.diagnosis.seconds import seconds_words

FEWEST_SEGMENTS = 50
MAX_USUAL = 8.0
"""Minimum silence that is reported, in median round trips, in addition to `STOP_S`."""
STOP_S = 0.2
FULL_WINDOW = 0.1
"""Minimum share of the arrivals that found the offered window nearly full."""
NEAR_WINDOW = 0.95


def receiver_side(capture: Capture) -> CaptureFinding | None:
    """The finding; None if the capture shows the sender's times, or hardly any traffic."""
    facts = capture.facts
    if facts is None or facts["view"] != "receiver" or capture.at_sender is not None:
        return None
    segments = capture.tables.segments
    if len(segments) < FEWEST_SEGMENTS:
        return None
    times = segments.time_ns / 1e9
    seconds = float(times[-1] - times[0])
    if seconds <= 0:
        return None
    payload = float(segments.end.max()) - float(segments.start.min())
    goodput = format_bit_rate(8.0 * payload / seconds)
    said, evidence = _what_was_seen(capture, times, seconds)
    sentence = (
        f"{goodput} arrived in {seconds:.1f} s: {'; '.join(said)}. The sender's waits and "
        "the link show in a capture at the sender, or in one with TCP timestamps on."
    )
    return CaptureFinding("receiver-side", sentence, tuple(evidence))


def _what_was_seen(
    capture: Capture, times: np.ndarray[tuple[int], np.dtype[np.float64]], seconds: float
) -> tuple[list[str], list[str]]:
    """Parts of the first sentence, the largest effect first, and their evidence."""
    facts, segments, labels = capture.facts, capture.tables.segments, capture.tables.labels
    assert facts is not None
    said, evidence = [], []
    count = len(segments)
    if _window_bounds(capture):
        window = int(capture.tables.acks.windows.max())
        said.append(f"the window of {format_bytes(window)} that this host offers was full")
    if closed := facts["zero_windows"]:
        how_often = {1: "once", 2: "twice"}.get(closed, f"{format_count(closed)} times")
        said.append(f"this host closed its window {how_often}: its application reads slowly")
    stops, silent_s = _silences(times)
    if stops:
        each = f"{format_count(stops)} silences of {seconds_words(silent_s / stops)} in the mean"
        said.append(
            f"nothing came for {silent_s:.1f} s of it, in {'one silence' if stops == 1 else each}"
        )
    needed, needless = (
        int(np.count_nonzero(labels.verdict == verdict)) for verdict in ("needed", "needless")
    )
    # A needless retransmission came twice, and not late.
    late = facts["overtaken"]
    if needed:
        share = format_percent(100 * needed / count, decimals=2)
        said.append(f"{format_count(needed)} packets ({share}) were lost before they came here")
    if needless:
        said.append(f"{format_count(needless)} came twice")
    if late:
        said.append(f"{format_count(late)} came late, behind others")
    if not said:
        said.append("nothing was lost, duplicated or reordered, and there was no long silence")
    evidence.append(
        f"Of {format_count(count)} packets of data {format_count(needed)} filled a gap, "
        f"{format_count(needless)} had arrived before, and {format_count(late)} were "
        "overtaken by later ones."
    )
    return said, evidence


def _silences(times: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[int, float]:
    """The number of long silences, and their total time."""
    gaps = np.diff(times)
    usual = float(np.quantile(gaps, 0.99)) if len(gaps) else 0.0
    long = gaps[gaps > max(STOP_S, MAX_USUAL * usual)]
    return len(long), float(long.sum())


def _window_bounds(capture: Capture) -> bool:
    """Whether arrivals found the offered window nearly full."""
    acks, segments = capture.tables.acks, capture.tables.segments
    known = np.flatnonzero(np.isfinite(acks.window))
    known = known[np.argsort(acks.time_ns[known], kind="stable")]
    # The latest window that each segment found.
    latest = np.searchsorted(acks.time_ns[known], segments.time_ns, side="right") - 1
    offered = known[latest[latest >= 0]]
    if not len(offered):
        return False
    filled = segments.end[latest >= 0] - acks.ack[offered]
    is_full = filled / np.maximum(acks.window[offered], 1.0) >= NEAR_WINDOW
    return float(np.mean(is_full)) >= FULL_WINDOW
