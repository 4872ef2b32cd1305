"""Checks that everything named by a paper's files exists, before anything runs."""

from collections import Counter
from collections.abc import Iterable, Mapping

from airtcp._core import ScenarioError
from airtcp.papers.claims import Claim, Part
from airtcp.papers.experiment import Experiment, Value
from airtcp.papers.measures import MEASURES


class PaperError(ScenarioError):
    """Invalid paper files: names the file and key, the value found and the expected one."""


def check_experiments(where: str, experiments: Iterable[Experiment]) -> None:
    """Checks that experiments have seeds and places.

    Raises:
        PaperError: they have not.
    """
    for experiment in experiments:
        if min(experiment.seeds, experiment.quick) < 1:
            raise PaperError(f"{where}: experiment {experiment.id!r}: expected at least one seed")
        for axis in experiment.axes:
            if not axis.places:
                raise PaperError(
                    f"{where}: experiment {experiment.id!r}: axis {axis.name!r} has no values"
                )


def check_experiment(where: str, name: str, known: Iterable[str]) -> None:
    """Checks that an experiment exists.

    Raises:
        PaperError: it does not.
    """
    if name not in (names := list(known)):
        raise PaperError(f"{where}: no experiment {name!r}; there are {', '.join(names)}")


def check_once(where: str, names: Iterable[str]) -> None:
    """Checks that no name is used twice.

    Raises:
        PaperError: one is.
    """
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise PaperError(f"{where} {twice[0]!r} is there twice")


def check_measure(where: str, measure: str) -> None:
    """Checks that a measure exists.

    Raises:
        PaperError: it does not.
    """
    if measure not in MEASURES:
        raise PaperError(f"{where}: no measure {measure!r}: there are {', '.join(MEASURES)}")


def check_point(where: str, experiment: Experiment, *parts: Mapping[str, Value]) -> None:
    """Checks that `parts` together name one point of the experiment.

    Raises:
        PaperError: an axis or a place is unknown, or one is missing.
    """
    try:
        experiment.coordinates(*parts)
    except KeyError as error:
        raise PaperError(f"{where}: {error.args[0]}") from error


def check_axis(where: str, experiment: Experiment, name: str) -> None:
    """Checks that the experiment has the axis.

    Raises:
        PaperError: it has not.
    """
    known = [axis.name for axis in experiment.axes]
    if name not in known:
        raise PaperError(
            f"{where}: experiment {experiment.id!r} has no axis {name!r}: {', '.join(known)}"
        )


def check_claim(where: str, claim: Claim, experiments: Mapping[str, Experiment]) -> None:
    """Checks a claim's parts: the keys that each kind needs, and all the points they name.

    Raises:
        PaperError: something is missing, unknown or superfluous.
    """
    where = f"{where}: claim {claim.id}"
    if not any(part.counts for part in claim.parts):
        raise PaperError(f"{where}: no part of it counts: expected at least one")
    for part in claim.parts:
        check_experiment(where, part.experiment, experiments)
        check_part(where, part, experiments[part.experiment])


def check_part(where: str, part: Part, experiment: Experiment) -> None:
    """Checks one part of a claim.

    Raises:
        PaperError: something is missing, unknown or superfluous.
    """
    check_measure(where, part.measure)
    if part.along:
        check_axis(where, experiment, part.along)
    if part.kind in {"trend", "peak"} and not part.along:
        raise PaperError(f"{where}: a {part.kind} needs the axis along which it goes: along")
    if part.kind == "trend" and not part.direction:
        raise PaperError(f'{where}: a trend needs its direction: "rises" or "falls"')
    if part.kind == "peak" and not part.between:
        raise PaperError(f"{where}: a peak needs the places between which it lies: between")
    if part.kind == "level" and not part.paper:
        raise PaperError(f"{where}: a level needs the paper's number: paper")
    if part.kind in {"gain", "level", "larger-gain"} and part.along and not part.places:
        raise PaperError(f"{where}: along {part.along!r} needs the places it goes through: places")
    if part.kind == "larger-gain" and part.sign not in {"", "0"}:
        raise PaperError(
            f'{where}: a larger-gain with sign = {part.sign!r}: expected none, or "0": as large'
        )
    expected = max(1, len(part.places)) if part.along else 1
    if part.paper and len(part.paper) != expected:
        raise PaperError(
            f"{where}: {len(part.paper)} numbers of the paper for {expected} places: "
            "expected as many"
        )
    for coordinates in named_points(part, experiment):
        check_point(where, experiment, coordinates)


def named_points(part: Part, experiment: Experiment) -> list[dict[str, Value]]:
    """Every point that a part names."""
    sides = [part.baseline, part.treated] if part.baseline or part.treated else [{}]
    places = part.places or (experiment.axis(part.along).places if part.along else [])
    moves: list[dict[str, Value]] = [{part.along: place} for place in places] or [{}]
    starts = [part.at, part.than] if part.kind == "larger-gain" else [part.at]
    return [
        {**move, **start, **side} if start is part.than else {**start, **side, **move}
        for start in starts
        for side in sides
        for move in moves
    ]
