"""The points of a paper's experiments that are used: others are not run."""

from collections.abc import Mapping, Sequence

from airtcp.papers.check import named_points
from airtcp.papers.claims import Claim
from airtcp.papers.experiment import Coordinates, Value
from airtcp.papers.paper import FigureSpec, Paper, SensitiveGain, Target
from airtcp.papers.texts import NumberSpec

Points = dict[str, set[Coordinates]]
"""Points of experiments, by the experiment's id."""


def points_of_claims(paper: Paper, claims: Sequence[Claim] | None = None) -> Points:
    """The points on which claims depend; all claims of the paper if `claims` is None.

    Readings other than the default run only these.
    """
    points: Points = {}
    for claim in paper.claims if claims is None else claims:
        for part in claim.parts:
            for point in named_points(part, paper.experiment(part.experiment)):
                _add(points, paper, part.experiment, point)
    return points


def points_of_readings(paper: Paper) -> Points:
    """The points that every reading of a paper runs, for its claims and facts."""
    points = points_of_claims(paper)
    for fact in paper.file.facts:
        for point in fact.points:
            _add(points, paper, fact.experiment, point)
    return points


def points_of_verdicts(paper: Paper) -> Points:
    """The points of a quick run, for claims, facts and numbers in texts."""
    # An empty set for each experiment: one that is not listed would be run whole.
    points: Points = {one.id: set() for one in paper.file.experiments}
    points |= points_of_readings(paper)
    for number in paper.file.numbers:
        _add_sides(points, paper, number.experiment, number.at, number)
    return points


def points_used(paper: Paper) -> Points:
    """The points for claims, facts, numbers in texts, figures, calibrations and sensitivities."""
    points = points_of_verdicts(paper)
    file = paper.file
    for figure in file.figures:
        _add_figure(points, paper, figure)
    for calibration in file.calibrations:
        for place in paper.experiment(calibration.experiment).axis(calibration.axis).places:
            for target in calibration.targets:
                at = {**calibration.at, **target.at, calibration.axis: place}
                _add_sides(points, paper, calibration.experiment, at, target)
    for sensitivity in file.sensitivities:
        for place in paper.experiment(sensitivity.experiment).axis(sensitivity.axis).places:
            for gain in sensitivity.gains:
                at = {**gain.at, sensitivity.axis: place}
                _add_sides(points, paper, sensitivity.experiment, at, gain)
    return points


def _add_figure(points: Points, paper: Paper, figure: FigureSpec) -> None:
    for series in figure.series:
        at = {**figure.at, **series.at}
        places = paper.experiment(figure.experiment).axis(figure.x).places if figure.x else [None]
        for place in places:
            here = at if place is None else {**at, figure.x: place}
            _add(points, paper, figure.experiment, here)
            _add(points, paper, figure.experiment, {**here, **series.baseline})


def _add_sides(
    points: Points,
    paper: Paper,
    experiment: str,
    at: Mapping[str, Value],
    compared: Target | SensitiveGain | NumberSpec,
) -> None:
    for side in (compared.baseline, compared.treated):
        _add(points, paper, experiment, {**at, **side})


def _add(points: Points, paper: Paper, experiment: str, point: Mapping[str, Value]) -> None:
    points.setdefault(experiment, set()).add(paper.experiment(experiment).coordinates(point))
