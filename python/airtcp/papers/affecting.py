"""Open points that affect a claim.

Two readings with the same runs for a claim are one reading of that claim: its verdict is counted
once.
"""

from collections.abc import Mapping, Sequence

from airtcp.papers.claims import Claim, Part
from airtcp.papers.experiment import Coordinates, Point
from airtcp.papers.paper import Paper
from airtcp.papers.read_as import claims_at, read_as
from airtcp.papers.readings import OpenPoint, Reading, default_reading, departing_at
from airtcp.papers.used import points_of, points_of_claims

Affecting = Mapping[str, tuple[int, ...]]
"""For each claim, by its id, the indices of the open points that affect its verdict."""


def affecting_points(paper: Paper, points: Sequence[OpenPoint]) -> Affecting:
    """The points that affect each claim of a paper: its runs, or the place or measure judged."""
    default = default_reading(points)
    plain = _runs(paper, points, default)
    affecting: dict[str, list[int]] = {claim.id: [] for claim in paper.claims}
    for index in range(len(points)):
        others = departing_at(points, index)
        changed = {
            where
            for other in others
            for where, run in _runs(paper, points, other).items()
            if run != plain[where]
        }
        for claim in paper.claims:
            judged = _counting(claim, points, default)
            is_judged_otherwise = any(_counting(claim, points, one) != judged for one in others)
            if is_judged_otherwise or not changed.isdisjoint(_rests_on(paper, claim)):
                affecting[claim.id].append(index)
    return {claim: tuple(indices) for claim, indices in affecting.items()}


def _runs(
    paper: Paper, points: Sequence[OpenPoint], reading: Reading
) -> dict[tuple[str, Coordinates], Point]:
    """Every point of every experiment that claims depend on, as this reading runs it."""
    chosen = points_of_claims(paper, paper.claims)
    return {
        (one.id, point.coordinates): point
        for one in paper.file.experiments
        if one.id in chosen
        for point in read_as(one, points, reading).points()
    }


def _counting(claim: Claim, points: Sequence[OpenPoint], reading: Reading) -> list[Part]:
    """The parts of a claim that count, at the places and with the measures of a reading."""
    (read,) = claims_at([claim], points, reading)
    return [part for part in read.parts if part.counts]


def _rests_on(paper: Paper, claim: Claim) -> set[tuple[str, Coordinates]]:
    """The points on which a claim's verdict depends, at every place of an alternative."""
    counting = [part for part in claim.parts if part.counts]
    return {(name, at) for name, found in points_of(paper, counting).items() for at in found}
