"""Goodput and latency at once: the remedies that no other remedy beats in both.

A remedy beaten in both is never a sensible choice; the others form the Pareto front, along which
goodput is traded for latency. A difference of means need not be significant, so a remedy has one of
three marks:

- `front`: no other has both a higher mean goodput and a lower mean latency.
- `beaten`: the runs show that another is better in both. The difference between the two is taken
  seed by seed, and each of the two measurements has to be shown: a claim of both needs no smaller
  error for either (Berger, Technometrics 24, 1982). Over all pairs of distinct remedies the error
  is split.
- `undecided`: another's means are better in both, and the runs do not show it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean

from airtcp.comparison.calmest import is_shown
from airtcp.comparison.compared import Comparison
from airtcp.comparison.metrics import METRICS, Metric
from airtcp.comparison.statistics import paired_difference
from airtcp.core.catalogue import BASELINE

LATENCIES = ("exchange-p95", "ping-p95", "rtt-p95")
"""Latency metrics in order of preference: probes under load first, then the load's RTT."""


class Mark(StrEnum):
    """A remedy's position relative to the front."""

    FRONT = "front"
    BEATEN = "beaten"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Point:
    """A remedy or the baseline, with its means and its mark."""

    remedy: str
    goodput_bps: float
    latency: float
    mark: Mark
    by: str | None = None
    """The remedy that beats it, or has better means; None on the front."""


@dataclass(frozen=True)
class Front:
    """All distinct remedies, in goodput and one latency metric."""

    metric: Metric
    points: tuple[Point, ...]

    def of(self, remedy: str) -> Point | None:
        """The point of a remedy; None if it has no latency or duplicates another."""
        return next((point for point in self.points if point.remedy == remedy), None)


def front(comparison: Comparison) -> Front | None:
    """The front of a comparison; None if its runs have no latency."""
    measured = next(
        (found for name in LATENCIES if (found := _measured(comparison, METRICS[name]))), None
    )
    if measured is None:
        return None
    metric, runs = measured
    among = max(1, len(runs) * (len(runs) - 1) // 2)
    means = {name: (fmean(goodput), fmean(latency)) for name, (goodput, latency) in runs.items()}
    points = []
    for name, (goodput, latency) in means.items():
        better = [
            other
            for other, (its_goodput, its_latency) in means.items()
            if its_goodput > goodput and its_latency < latency
        ]
        # Tests the candidate farthest ahead in latency first.
        better.sort(key=lambda other: means[other][1])
        shown = next(
            (other for other in better if _beats(runs[other], runs[name], among)),
            None,
        )
        mark = Mark.FRONT if not better else Mark.BEATEN if shown else Mark.UNDECIDED
        by = shown or (better[0] if better else None)
        points.append(Point(name, goodput, latency, mark, by))
    return Front(metric, tuple(points))


Measured = tuple[Sequence[float], Sequence[float]]
"""Goodput and latency, seed by seed."""


def _measured(comparison: Comparison, metric: Metric) -> tuple[Metric, dict[str, Measured]] | None:
    """The measurements of each distinct remedy that has the metric on every seed."""
    found: dict[str, Measured] = {}
    seen: set[tuple[str, ...]] = set()
    for name in (BASELINE, *comparison.remedies[1:]):
        runs = comparison.summaries[name]
        digests = tuple(run["digest"] for run in runs)
        values = [metric.of(run) for run in runs]
        known = [value for value in values if value is not None]
        if digests in seen or len(known) < len(runs) or not runs:
            continue
        seen.add(digests)
        found[name] = ([run["goodput_bps"] for run in runs], known)
    return (metric, found) if BASELINE in found and len(found) > 1 else None


def _beats(one: Measured, other: Measured, among: int) -> bool:
    """Whether the runs show that `one` has more goodput and less latency than `other`."""
    goodput = paired_difference(other[0], one[0], among, is_ratio=True)
    if not is_shown(goodput) or goodput.mean <= 0:
        return False
    latency = paired_difference(other[1], one[1], among, is_ratio=True)
    return is_shown(latency) and latency.mean < 0
