"""Checks of a paper before anything runs: whatever its files name exists, and is complete."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from airtcp.papers.check_readings import check_alternatives, check_joint, check_readings
from airtcp.papers.claims import Claim, Kind, Part
from airtcp.papers.experiment import Entry, Experiment
from airtcp.papers.facts import Fact
from airtcp.papers.files import PaperError
from airtcp.papers.measures import MEASURES, quantity_of
from airtcp.papers.paper import FigureSpec, Paper
from airtcp.papers.texts import NumberSpec, check_text


def check(paper: Paper) -> None:
    """Checks a paper's files.

    Raises:
        PaperError: something is missing, unknown, superfluous, or there twice.
    """
    where, file, experiments = f"{paper.folder}/paper.toml", paper.file, paper.experiments
    known = _known_numbers(paper)
    for experiment in file.experiments:
        _check_experiment(f"{where}: experiment {experiment.id!r}", experiment)
    for figure in file.figures:
        _check_figure(f"{where}: figure {figure.id}", figure, paper, known)
    figures = [figure.id for figure in file.figures]
    if file.about.figure and file.about.figure not in figures:
        raise PaperError(
            f"{where}: about.figure = {file.about.figure!r}: no [[figure]] of that id; "
            f"there are {', '.join(figures) or 'none'}"
        )
    for calibration in file.calibrations:
        check_entry(f"{where}: calibration {calibration.what!r}", calibration, experiments)
    for sensitivity in file.sensitivities:
        check_entry(f"{where}: sensitivity {sensitivity.title!r}", sensitivity, experiments)
    check_readings(where, file.readings, file.experiments)
    check_joint(where, file.readings, file.joint)
    check_facts(where, file.facts, experiments)
    _check_numbers(where, file.numbers, experiments)
    check_text(f"{where}: about.today", file.about.today, file.numbers, known)
    where = f"{paper.folder}/claims.toml"
    _check_once(f"{where}: claim", (claim.id for claim in paper.claims))
    for claim in paper.claims:
        _check_claim(f"{where}: claim {claim.id}", claim, paper, known)


def check_entry(where: str, entry: Entry, experiments: Mapping[str, Experiment]) -> None:
    """Checks that an entry's experiment, measures and points exist.

    Raises:
        PaperError: one does not.
    """
    if entry.experiment not in experiments:
        raise PaperError(
            f"{where}: no experiment {entry.experiment!r}; there are {', '.join(experiments)}"
        )
    experiment = experiments[entry.experiment]
    try:
        for measure, point in entry.data(experiment):
            if measure not in MEASURES:
                raise PaperError(
                    f"{where}: no measure {measure!r}: there are {', '.join(MEASURES)}"
                )
            experiment.coordinates(point)
    except KeyError as error:
        raise PaperError(f"{where}: {error.args[0]}") from error


def check_facts(where: str, facts: Sequence[Fact], experiments: Mapping[str, Experiment]) -> None:
    """Checks that facts name existing things, and state one thing each.

    Raises:
        PaperError: something is missing, unknown, or stated twice.
    """
    _check_once(f"{where}: fact", (fact.id for fact in facts))
    for fact in facts:
        about = f"{where}: fact {fact.id!r}"
        bounded = fact.at_least is not None or fact.at_most is not None
        if bool(fact.along) == bounded:
            raise PaperError(
                f"{about}: expected bounds (at_least, at_most) or a trend (along, places, "
                "direction), and not both"
            )
        if fact.along and (not fact.direction or len(fact.places) < 2):
            raise PaperError(
                f"{about}: a trend along {fact.along!r} needs two places at least, and its "
                'direction: "rises" or "falls"'
            )
        check_entry(about, fact, experiments)


def _check_once(where: str, names: Iterable[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise PaperError(f"{where} {twice[0]!r} is there twice")


def _check_experiment(where: str, experiment: Experiment) -> None:
    if min(experiment.seeds, experiment.quick) < 1:
        raise PaperError(f"{where}: expected at least one seed")
    for axis in experiment.axes:
        if not axis.places:
            raise PaperError(f"{where}: axis {axis.name!r} has no values")


def _check_figure(where: str, figure: FigureSpec, paper: Paper, known: str) -> None:
    check_entry(where, figure, paper.experiments)
    for what, text in (("title", figure.title), ("caption", figure.caption)):
        check_text(f"{where}: {what}", text, paper.file.numbers, known)


def _check_numbers(
    where: str, numbers: Sequence[NumberSpec], experiments: Mapping[str, Experiment]
) -> None:
    _check_once(f"{where}: number", (number.name for number in numbers))
    for number in numbers:
        about = f"{where}: number {number.name!r}"
        check_entry(about, number, experiments)
        if bool(number.treated) is not (number.shown in {"gain", "percent"}):
            raise PaperError(
                f'{about}: as = {number.shown!r}: expected "gain" or "percent" where there is '
                '`treated`, "level" or "whole" where there is none'
            )


def _check_claim(where: str, claim: Claim, paper: Paper, known: str) -> None:
    figures = {figure.id for figure in paper.file.figures}
    if claim.explained_by and claim.explained_by not in figures:
        raise PaperError(
            f"{where}: explained_by = {claim.explained_by!r}: "
            f"no such figure; there are {', '.join(sorted(figures))}"
        )
    if not any(part.counts for part in claim.parts):
        raise PaperError(f"{where}: no part of it counts: expected at least one")
    for part in claim.parts:
        _check_part(where, part)
        check_entry(where, part, paper.experiments)
    _check_levels(where, claim, paper)
    check_alternatives(where, claim, paper.file.readings)
    check_text(f"{where}: why", claim.why, paper.file.numbers, known)


_NEEDED: dict[Kind, dict[str, str]] = {
    "trend": {
        "along": "the axis along which it goes",
        "direction": 'its direction, "rises" or "falls"',
    },
    "peak": {
        "along": "the axis along which it goes",
        "between": "the places between which it lies",
    },
    "level": {"paper": "the paper's number"},
}
"""Keys that a kind of comparison needs, with their meaning."""


def _check_part(where: str, part: Part) -> None:
    """Checks the keys of a comparison, by its kind."""
    for key, words in _NEEDED.get(part.kind, {}).items():
        if not getattr(part, key):
            raise PaperError(f"{where}: a {part.kind} needs {words}: {key}")
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


def _check_levels(where: str, claim: Claim, paper: Paper) -> None:
    """Checks that no level decides which a calibration has set: it would hold by construction."""
    calibrated = {
        quantity_of(target.measure): calibration.what
        for calibration in paper.file.calibrations
        for target in calibration.targets
    }
    for part in claim.parts:
        what = calibrated.get(quantity_of(part.measure))
        if part.kind == "level" and part.counts and what is not None:
            raise PaperError(
                f"{where}: level of {part.measure}: the calibration {what!r} has set this "
                "quantity, so that it decides nothing: expected counts = false"
            )


def _known_numbers(paper: Paper) -> str:
    """The numbers that texts may contain: the paper's, and settings."""
    texts = [f"{claim.id} {claim.what} {claim.paper}" for claim in paper.claims]
    for experiment in paper.file.experiments:
        texts.append(f"{experiment.settings}")
        for axis in experiment.axes:
            texts += [f"{axis.name} {one} {axis.choice(one).settings}" for one in axis.places]
    for point in paper.file.readings:
        texts += [f"{point.open} {point.why} {name}" for name in point.names]
    return " ".join(texts)
