"""Open points that affect a claim.

Two readings with the same runs for a claim are one reading of that claim: its verdict is counted
once.
"""

from collections.abc import Mapping, Sequence

from airtcp.papers.check import named_points
from airtcp.papers.claims import Claim
from airtcp.papers.experiment import Coordinates, Experiment, Point
from airtcp.papers.paper import Paper
from airtcp.papers.read_as import read_as
from airtcp.papers.readings import EXPERIMENT, OpenPoint, Reading, default_reading

Touching = Mapping[str, tuple[int, ...]]
"""For each claim, by its id, the indices of the open points that change its runs."""


def touching(paper: Paper, points: Sequence[OpenPoint]) -> Touching:
    """The points that affect each claim of a paper, for the parts that count."""
    default = default_reading(points)
    plain = _runs(paper, points, default)
    changed: dict[int, set[tuple[str, Coordinates]]] = {}
    for index, point in enumerate(points):
        changed[index] = set()
        for name in point.names[1:]:
            runs = _runs(paper, points, (*default[:index], name, *default[index + 1 :]))
            changed[index] |= {where for where, run in runs.items() if run != plain[where]}
    return {
        claim.id: tuple(
            index
            for index, where in changed.items()
            if not where.isdisjoint(_rests(paper, claim)) or concerns(points[index], claim)
        )
        for claim in paper.claims
    }


def concerns(point: OpenPoint, claim: Claim) -> bool:
    """Whether a point chooses among places or measurements of a part that counts."""
    measured = {name for value in point.values for name in value.measure}
    return any(
        part.counts
        and (
            point.concerns(part.experiment) and part.measure in measured
            if not point.alternative
            else part.experiment in point.names
            if point.axis == EXPERIMENT
            else point.concerns(part.experiment)
            and (part.along == point.axis or point.axis in part.at)
        )
        for part in claim.parts
    )


def _runs(
    paper: Paper, points: Sequence[OpenPoint], reading: Reading
) -> dict[tuple[str, Coordinates], Point]:
    """Every point of every experiment that claims depend on, as this reading runs it."""
    return {
        (one.id, point.coordinates): point
        for one in _experiments(paper)
        for point in read_as(one, points, reading).points()
    }


def _experiments(paper: Paper) -> list[Experiment]:
    named = {part.experiment for claim in paper.claims for part in claim.parts}
    return [one for one in paper.file.experiments if one.id in named]


def _rests(paper: Paper, claim: Claim) -> set[tuple[str, Coordinates]]:
    """The points on which a claim's verdict depends."""
    return {
        (part.experiment, experiment.coordinates(point))
        for part in claim.parts
        if part.counts
        for experiment in [paper.experiment(part.experiment)]
        for point in named_points(part, experiment)
    }
