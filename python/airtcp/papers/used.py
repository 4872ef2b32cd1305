"""The points of a paper's experiments that are used: others are not run."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from airtcp.papers.check import named_points
from airtcp.papers.claims import Claim
from airtcp.papers.experiment import Coordinates, Value
from airtcp.papers.paper import Paper

Points = dict[str, set[Coordinates]]
"""Points of experiments, by the experiment's id."""

_Named = tuple[str, Mapping[str, Value]]
"""An experiment, and one of its points."""


def points_of_claims(paper: Paper, claims: Sequence[Claim] | None = None) -> Points:
    """The points on which claims depend; all claims of the paper if `claims` is None.

    Readings other than the default run only these.
    """
    named = (
        (part.experiment, point)
        for claim in (paper.claims if claims is None else claims)
        for part in claim.parts
        for point in named_points(part, paper.experiment(part.experiment))
    )
    return _with(paper, {}, named)


def points_of_readings(paper: Paper) -> Points:
    """The points that every reading of a paper runs, for its claims and facts."""
    facts = ((fact.experiment, point) for fact in paper.file.facts for point in fact.points)
    return _with(paper, points_of_claims(paper), facts)


def points_of_verdicts(paper: Paper) -> Points:
    """The points of a quick run, for claims, facts and numbers in texts."""
    # An empty set for each experiment: one that is not listed would be run whole.
    points: Points = {one.id: set() for one in paper.file.experiments}
    numbers = (
        (number.experiment, {**number.at, **side})
        for number in paper.file.numbers
        for side in (number.baseline, number.treated)
    )
    return _with(paper, points | points_of_readings(paper), numbers)


def points_used(paper: Paper) -> Points:
    """The points for claims, facts, numbers in texts, figures, calibrations and sensitivities."""
    return _with(paper, points_of_verdicts(paper), _shown(paper))


def _shown(paper: Paper) -> Iterator[_Named]:
    """The points of figures, calibrations and sensitivities."""
    for figure in paper.file.figures:
        places = paper.experiment(figure.experiment).axis(figure.x).places if figure.x else [None]
        for series in figure.series:
            for place in places:
                here = {**figure.at, **series.at} | ({} if place is None else {figure.x: place})
                yield figure.experiment, here
                yield figure.experiment, {**here, **series.baseline}
    for calibration in paper.file.calibrations:
        for place in paper.experiment(calibration.experiment).axis(calibration.axis).places:
            for target in calibration.targets:
                at = {**calibration.at, **target.at, calibration.axis: place}
                yield calibration.experiment, at
    for sensitivity in paper.file.sensitivities:
        for place in paper.experiment(sensitivity.experiment).axis(sensitivity.axis).places:
            for gain in sensitivity.gains:
                for side in (gain.baseline, gain.treated):
                    yield sensitivity.experiment, {**gain.at, sensitivity.axis: place, **side}


def _with(paper: Paper, points: Points, named: Iterable[_Named]) -> Points:
    for experiment, point in named:
        points.setdefault(experiment, set()).add(paper.experiment(experiment).coordinates(point))
    return points
