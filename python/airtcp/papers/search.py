"""Selects the readings to run: a coarse grid, then a search from the best readings."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from airtcp.papers.choice import Fit, nearest_first
from airtcp.papers.over_readings import OverReadings
from airtcp.papers.paper import Paper
from airtcp.papers.readings import (
    OpenPoint,
    Reading,
    coarse_first,
    default_reading,
    departures,
    drawn,
    first_readings,
    joint_readings,
    neighbours,
    one_at_a_time,
    whole_grid,
)
from airtcp.papers.rules import CANDIDATES

_CLIMBED = 2
"""Beam width: the number of best readings from which the search continues."""


@dataclass(frozen=True)
class Extent:
    """Number of readings run in addition to the default: `most`, or as many as `events` permit.

    Events of the simulation are the same on every machine, unlike its time; `least` are run at any
    cost. The search for the joint reading that serves the paper best may run the share `improve`
    more, or, if `papers_own`, as many as the paper's `search` if that is more. `scan`: events spent
    on the distance of readings from the paper, before any is judged. `asked`: maximum number of
    re-evaluated readings per claim. `settle`: a claim without a firm verdict gets more seeds if its
    present ones took no more events than this; without it every verdict is final. `decided_only`: a
    claim that the default reading does not show is left to a larger run, since no reading could
    decide it.
    """

    most: int
    least: int = 0
    events: float = math.inf
    improve: float = 0.0
    scan: float = 0.0
    papers_own: bool = False
    asked: int = CANDIDATES
    settle: float = 0.0
    decided_only: bool = False

    def readings(self, events_each: float) -> int:
        """Number of readings to run, at `events_each` events each."""
        paid = self.events / max(1.0, events_each)
        return int(min(self.most, max(self.least, paid)))

    def scanned(self, events_each: float) -> int:
        """Number of readings to scan for their distance, at `events_each` events each."""
        return int(self.scan / max(1.0, events_each))

    def searched(self, paper: Paper, readings: int) -> int:
        """Number of further readings for the search, in addition to `readings` of the grid."""
        share = int(self.improve * readings)
        return max(share, paper.about.search) if self.papers_own else share


def to_scan(points: Sequence[OpenPoint], most: int) -> list[Reading]:
    """The readings to scan for their distance from the paper: the default first.

    The whole grid if it has at most `most`; otherwise, for half of them, a uniform random sample:
    starts for `next_nearer`.
    """
    default = default_reading(points)
    if most < 1:
        return []
    if math.prod(len(point.values) for point in points) <= most:
        return whole_grid(points)
    return [default, *drawn(points, max(1, most // 2))]


def next_nearer(
    points: Sequence[OpenPoint], scanned: Mapping[Reading, Fit], most: int
) -> list[Reading]:
    """Unscanned neighbours of the nearest reading that has any; at most `most` in total."""
    left = most - len(scanned)
    if left < 1:
        return []
    for reading in nearest_first(scanned):
        near = [one for one in neighbours(points, reading) if one not in scanned]
        if near:
            return near[:left]
    return []


def grid(
    paper: Paper, points: Sequence[OpenPoint], most: int, nearest: Sequence[Reading] = ()
) -> list[Reading]:
    """At most `most` readings of the grid, the joint ones that the paper names, and the nearest.

    First one at a time, for the text and for calibrations; then the named ones, and those `nearest`
    to the paper in a scan; then the text's jointly.
    """
    text = paper.file.readings
    of_calibrations = points[: len(points) - len(text)]
    left, rest = default_reading(of_calibrations), default_reading(text)
    first = len(first_readings(text))
    alone = one_at_a_time(of_calibrations)
    of_text = [(*left, *one) for one in coarse_first(text, max(first, most - len(alone)))]
    named = [(*left, *one) for one in joint_readings(text, paper.file.joint)]
    single = [*of_text[:first], *((*one, *rest) for one in alone)]
    coarse = [*single, *of_text[first:]][:most]
    default = default_reading(points)
    chosen = [*coarse[: len(single)], *named, *nearest, *coarse[len(single) :]]
    return [one for one in dict.fromkeys(chosen) if one != default]


def next_better(over: OverReadings, most: int) -> list[Reading]:
    """Unrun neighbours of the most promising readings; `most` of them at most.

    If all of these have been run, neighbours of the others. Empty if every claim goes the paper's
    way at once.
    """
    if over.served(over.best)[0] == len(over.verdicts[over.best]):
        return []
    ranked = sorted(over.voters, key=over.promises, reverse=True)
    first = [_not_run(over, reading) for reading in _starts(over, ranked)]
    # In turn, so that one reading with many neighbours does not exhaust the search.
    turns = [near for turn in zip_longest(*first) for near in turn if near is not None]
    if len(set(turns)) < most:
        turns += [near for reading in ranked for near in _not_run(over, reading)]
    return list(dict.fromkeys(turns))[:most]


def _not_run(over: OverReadings, reading: Reading) -> list[Reading]:
    return [near for near in neighbours(over.points, reading) if near not in over.verdicts]


def _starts(over: OverReadings, ranked: Sequence[Reading]) -> list[Reading]:
    """The starts of the search, most promising first.

    The best readings for the whole paper; for each claim that these do not give, the one under
    which most of its comparisons go the paper's way; and every departure at one point that is
    better than the default.
    """
    starts = list(ranked[:_CLIMBED])
    for claim, verdict in over.verdicts[over.best].items():
        if not verdict.goes_the_papers_way:
            nearest = max(ranked, key=lambda one: over.parts[one][claim])
            if over.parts[nearest][claim] > 0:
                starts.append(nearest)
    default = over.promises(over.default)
    winners = [
        one
        for one in ranked
        if len(departures(over.points, one)) == 1 and over.promises(one) > default
    ]
    return list(dict.fromkeys([*starts, *winners]))
