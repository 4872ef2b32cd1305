"""Checks of a paper's open points, before anything runs."""

from collections.abc import Sequence

from airtcp.papers.claims import Claim
from airtcp.papers.experiment import Experiment
from airtcp.papers.files import PaperError
from airtcp.papers.measures import MEASURES
from airtcp.papers.read_as import claims_at
from airtcp.papers.readings import (
    EXPERIMENT,
    Admitted,
    JointReading,
    OpenPoint,
    default_reading,
    one_at_a_time,
)


def check_readings(
    where: str, points: Sequence[OpenPoint], experiments: Sequence[Experiment]
) -> None:
    """Checks that the points are complete, and have an effect.

    Raises:
        PaperError: a default is not a value, a name is used twice, or a value has no effect.
    """
    ids = [point.id for point in points]
    known = [experiment.id for experiment in experiments]
    for point in points:
        about = f"{where}: reading {point.id!r}"
        if ids.count(point.id) > 1:
            raise PaperError(f"{about} is there twice")
        names = [value.name for value in point.values]
        if len(names) < 2 or len(set(names)) < len(names):
            raise PaperError(f"{about}: expected at least two values with names of their own")
        if point.default not in names:
            raise PaperError(
                f"{about}: default = {point.default!r}: expected one of {', '.join(names)}"
            )
        for one in point.experiments:
            if one not in known:
                raise PaperError(f"{about}: no experiment {one!r}; there are {', '.join(known)}")
        concerned = [one for one in experiments if point.concerns(one.id)]
        if point.alternative:
            _check_alternative(about, point, concerned)
        else:
            _check_values(about, point, concerned)


def _check_alternative(about: str, point: OpenPoint, experiments: Sequence[Experiment]) -> None:
    for value in point.values:
        if value != Admitted(value.name):
            raise PaperError(
                f"{about}: value {value.name!r}: expected a name alone: a place of the axis "
                f"{point.axis!r} has its settings in the experiment"
            )
    if point.axis == EXPERIMENT:
        known = [one.id for one in experiments]
        missing = [name for name in point.names if name not in known]
        if missing:
            raise PaperError(
                f"{about}: no experiment {missing[0]!r}: expected one of {', '.join(known)}"
            )
        return
    for one in experiments:
        axis = next((axis for axis in one.axes if axis.name == point.axis), None)
        known = [] if axis is None else [str(place) for place in axis.places]
        missing = [name for name in point.names if name not in known]
        if missing:
            raise PaperError(
                f"{about}: experiment {one.id!r}: no place {missing[0]!r} of an axis "
                f"{point.axis!r}: expected one of {', '.join(known) or 'its axes'}; limit the "
                "reading to experiments that have it: experiments"
            )


def _check_values(about: str, point: OpenPoint, experiments: Sequence[Experiment]) -> None:
    for value in point.values:
        for key in (*value.add, *value.times):
            if not any(_sets(experiment, key) for experiment in experiments):
                raise PaperError(
                    f"{about}: value {value.name!r}: {key}: no experiment sets this key: expected "
                    "one that is moved or multiplied by it"
                )
        for measure in (*value.measure, *value.measure.values()):
            if measure not in MEASURES:
                raise PaperError(
                    f"{about}: value {value.name!r}: measure: {measure!r} is no measurement: "
                    f"expected one of {', '.join(MEASURES)}"
                )
        for remedy in value.replace:
            if not any(_uses(experiment, remedy) for experiment in experiments):
                raise PaperError(
                    f"{about}: value {value.name!r}: replace.{remedy}: no experiment uses it"
                )
    silent = [value.name for value in point.values if value == Admitted(value.name)]
    if len(silent) > 1:
        raise PaperError(
            f"{about}: {' and '.join(silent)} change nothing: expected one such value at most, "
            "what the scenario has already"
        )


def _sets(experiment: Experiment, key: str) -> bool:
    return key in experiment.settings or any(
        axis.key == key or any(key in choice.settings for choice in axis.choices)
        for axis in experiment.axes
    )


def _uses(experiment: Experiment, remedy: str) -> bool:
    names = [
        name
        for axis in experiment.axes
        for remedies in (axis.remedy, *(choice.remedies for choice in axis.choices))
        for part in remedies.split("+")
        for name in (part, part.partition(":")[0])
    ]
    return remedy in names


def check_joint(where: str, points: Sequence[OpenPoint], named: Sequence[JointReading]) -> None:
    """Checks that joint readings name existing points and values.

    Raises:
        PaperError: a point or a value is unknown.
    """
    known = {point.id: point.names for point in points}
    for one in named:
        for identity, value in one.values.items():
            if value not in known.get(identity, []):
                raise PaperError(
                    f"{where}: joint reading: {identity} = {value!r}: expected a reading's id "
                    f"and one of its values: {known}"
                )


def check_alternatives(where: str, claim: Claim, points: Sequence[OpenPoint]) -> None:
    """Checks that a claim has as much at each place of an alternative as at the default's.

    Raises:
        PaperError: it lacks a place, or has another number of parts there.
    """
    points = [point for point in points if point.alternative]
    for point in points:
        for part in claim.parts:
            places = [str(place) for place in part.places]
            missing = [name for name in point.names if name not in places]
            if part.along == point.axis and point.concerns(part.experiment) and missing:
                raise PaperError(
                    f"{where}: along {point.axis!r}: no place {missing[0]!r}: expected each "
                    f"value of the reading {point.id!r}: {', '.join(point.names)}"
                )
    default = default_reading(points)
    (plain,) = claims_at([claim], points, default)
    for reading in one_at_a_time(points):
        (other,) = claims_at([claim], points, reading)
        if [part.counts for part in other.parts] != [part.counts for part in plain.parts]:
            raise PaperError(
                f"{where}: {len(other.parts)} parts at {' '.join(reading)}, {len(plain.parts)} at "
                f"{' '.join(default)}: expected as many at each alternative"
            )
