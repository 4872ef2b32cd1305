"""The latency figures of a comparison's report, and their table."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from airtcp.comparison.compared import Comparison
from airtcp.core.catalogue import BASELINE
from airtcp.core.summary import LatencyKind, RunSummary, has_latency
from airtcp.pages.figures import PlannedFigure
from airtcp.pages.plot.latency import LatencyBoxes, LatencyDistributions, Quantiles, RemedyLatency
from airtcp.pages.tables import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SHARES = (5.0, 25.0, 50.0, 75.0, 95.0, 99.0)
_MAX_LINES = 6
"""Maximum number of remedies with a line: more colours are not distinguishable."""


def latency_figures(comparison: Comparison) -> Iterator[PlannedFigure]:
    """The distributions and the boxes; empty if no run has measured latency."""
    remedies = tuple(
        RemedyLatency(
            remedy,
            over_seeds(comparison.summaries[remedy], "rtt_ms"),
            over_seeds(comparison.summaries[remedy], "delivery_ms"),
        )
        for remedy in (BASELINE, *comparison.shown)
    )
    if all(one.rtt is None and one.delivery is None for one in remedies):
        return
    yield PlannedFigure(
        "latency",
        "Distribution of latency",
        "Left, round trips of data packets, from leaving the sender until the acknowledgment that "
        "their arrival triggered is back; right, the time of each byte from being written until "
        "the receiving application reads it. All seeds together, measured outside the "
        "sender: its own estimates do not enter.",
        LatencyDistributions(remedies[: 1 + _MAX_LINES]),
        latency_rows(remedies),
    )
    yield PlannedFigure(
        "latency-boxes",
        "Latency side by side",
        "The same as boxes: half of all packets, or of all bytes, within the box, nine tenths "
        "between the whiskers.",
        LatencyBoxes(remedies),
        latency_rows(remedies),
    )


def over_seeds(runs: Sequence[RunSummary], kind: LatencyKind) -> Quantiles | None:
    """The quantiles over several runs, with equal weights; None if no run has any.

    A run's distribution is interpolated linearly between its quantiles. The mixture's quantiles are
    the points where the mean distribution reaches them.
    """
    import numpy as np

    each = [
        (run["latency"]["percent"], run["latency"][kind])
        for run in runs
        if has_latency(run) and run["latency"][kind]
    ]
    if not each:
        return None
    percent = each[0][0]
    values = np.unique(np.concatenate([ms for _, ms in each]))
    # Below and at each value: many equal durations make the distribution jump.
    shares = np.mean([_shares(values, of, ms) for of, ms in each], axis=0)
    mixed = np.interp(percent, shares.ravel(), np.repeat(values, 2))
    return Quantiles(tuple(percent), tuple(float(ms) for ms in mixed))


def _shares(
    values: "NDArray[np.float64]", percent: Sequence[float], ms: Sequence[float]
) -> "NDArray[np.float64]":
    """The shares of a run's counts below each value, and up to each value, in per cent."""
    import numpy as np

    highest = dict(zip(ms, percent, strict=True))
    lowest = dict(zip(reversed(ms), reversed(percent), strict=True))
    distinct = list(highest)
    below = np.interp(values, distinct, [lowest[one] for one in distinct], left=0.0, right=100.0)
    within = np.interp(values, distinct, list(highest.values()), left=0.0, right=100.0)
    return np.column_stack((below, within))


def latency_rows(remedies: Sequence[RemedyLatency]) -> Table:
    """The figures' numbers: percentiles of each remedy."""
    rows = []
    for one in remedies:
        for words, found in (("round trip", one.rtt), ("delivery", one.delivery)):
            cells = ("none",) * len(_SHARES)
            if found is not None:
                cells = tuple(f"{found.at(percent):.1f} ms" for percent in _SHARES)
            rows.append((one.remedy, words, *cells))
    return Table(("remedy", "latency", *(f"{share:g} %" for share in _SHARES)), rows, 2)
