"""A paper as data: `papers/<name>/paper.toml` with its experiments and figures, `claims.toml`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeVar

import msgspec
from msgspec import Struct, field

from airtcp.core import files, shipped
from airtcp.core.files import FileError
from airtcp.papers.check import (
    PaperError,
    check_axis,
    check_claim,
    check_experiment,
    check_experiments,
    check_measure,
    check_once,
    check_point,
)
from airtcp.papers.check_readings import check_joint, check_readings
from airtcp.papers.claims import Claim, ClaimsFile
from airtcp.papers.experiment import Experiment, Value
from airtcp.papers.facts import Fact, check_facts
from airtcp.papers.measures import quantity_of
from airtcp.papers.read_as import claims_at
from airtcp.papers.readings import JointReading, OpenPoint, default_reading, one_at_a_time
from airtcp.papers.schema import wrong_key
from airtcp.papers.texts import NumberSpec, check_numbers, check_text


class Series(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a figure: its name, its points, and the paper's numbers by place on x."""

    name: str
    at: dict[str, Value] = field(default_factory=dict)
    baseline: dict[str, Value] = field(default_factory=dict)
    measure: str = ""
    paper: dict[str, float] = field(default_factory=dict)


class FigureSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """A figure or table of the paper, redrawn: a measurement or a gain along one axis.

    kind: "levels" (the measurement), "gains" (per cent over each series' `baseline`), "window" (the
    congestion window of one seed against time).
    """

    id: str
    title: str
    experiment: str
    x: str = ""
    kind: Literal["levels", "gains", "window"] = "levels"
    measure: str = "goodput_bps"
    at: dict[str, Value] = field(default_factory=dict)
    series: list[Series] = field(default_factory=list)
    caption: str = ""


class Target(Struct, frozen=True, forbid_unknown_fields=True):
    """A fact about the paper's baseline: a measurement at a point."""

    value: float
    measure: str = "goodput_bps"
    at: dict[str, Value] = field(default_factory=dict)


class Calibration(Struct, frozen=True, forbid_unknown_fields=True):
    """A free parameter, calibrated on the baseline only: places tried, facts, and our choice."""

    what: str
    experiment: str
    axis: str
    chosen: Value
    source: str
    at: dict[str, Value] = field(default_factory=dict)
    targets: list[Target] = field(name="target", default_factory=list)


class SensitiveGain(Struct, frozen=True, forbid_unknown_fields=True):
    """A column of a sensitivity table: a gain, and the paper's number."""

    title: str
    baseline: dict[str, Value]
    treated: dict[str, Value]
    at: dict[str, Value] = field(default_factory=dict)
    measure: str = "goodput_bps"
    paper: str = ""


class Sensitivity(Struct, frozen=True, forbid_unknown_fields=True):
    """Settings beyond the paper's text: settings down, gains across."""

    title: str
    experiment: str
    axis: str
    default: str
    gains: list[SensitiveGain] = field(name="gain", default_factory=list)


class About(Struct, frozen=True, forbid_unknown_fields=True):
    """Bibliography, and the lesson for today.

    `short` is a word or two for the paper, in figures and tables. `figure` is the id of the figure
    that represents the paper in an overview.
    """

    number: int
    short: str
    title: str
    authors: str
    venue: str
    remedies: list[str]
    today: str
    figure: str = ""


class PaperFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A `paper.toml`."""

    about: About
    experiments: list[Experiment] = field(name="experiment", default_factory=list)
    figures: list[FigureSpec] = field(name="figure", default_factory=list)
    calibrations: list[Calibration] = field(name="calibration", default_factory=list)
    sensitivities: list[Sensitivity] = field(name="sensitivity", default_factory=list)
    readings: list[OpenPoint] = field(name="reading", default_factory=list)
    joint: list[JointReading] = field(default_factory=list)
    facts: list[Fact] = field(name="fact", default_factory=list)
    numbers: list[NumberSpec] = field(name="number", default_factory=list)


class Paper(Struct, frozen=True):
    """A paper with its claims, and the folder they come from."""

    name: str
    folder: Path
    file: PaperFile
    claims: list[Claim]

    @property
    def about(self) -> About:
        """Bibliography."""
        return self.file.about

    @property
    def short_title(self) -> str:
        """The paper's number and a word or two for it."""
        return f"{self.about.number} {self.about.short}"

    @property
    def experiments(self) -> dict[str, Experiment]:
        """The experiments by id."""
        return {experiment.id: experiment for experiment in self.file.experiments}

    def experiment(self, identity: str) -> Experiment:
        """The experiment with that id.

        Raises:
            PaperError: no experiment has it.
        """
        check_experiment(str(self.folder), identity, self.experiments)
        return self.experiments[identity]


def find_papers() -> Path:
    """The folder of papers that comes with airtcp.

    Raises:
        ScenarioError: the folder does not exist.
    """
    return shipped.folder("papers")


def load_papers(folder: Path, names: Sequence[str] | None = None) -> list[Paper]:
    """The papers of a folder in the order of their numbers; `names` selects some.

    A name is the folder's name, or the paper's number.

    Raises:
        PaperError: a file is missing or wrong, or a name is unknown.
    """
    papers = [_load(file.parent) for file in folder.glob("*/paper.toml")]
    papers.sort(key=lambda paper: paper.about.number)
    if not papers:
        raise PaperError(f"{folder}: no papers here: expected folders with a paper.toml each")
    if not names:
        return papers
    chosen = []
    for name in names:
        found = [one for one in papers if name in {one.name, str(one.about.number)}]
        if not found:
            known = ", ".join(f"{one.about.number} ({one.name})" for one in papers)
            raise PaperError(f"no paper {name!r}: there are {known}")
        chosen += found
    return [one for one in papers if one in chosen]


T = TypeVar("T")


def read_toml(path: Path, kind: type[T]) -> T:
    """A TOML file as the given structure.

    Raises:
        PaperError: it cannot be read, is not TOML, or a key is wrong.
    """
    try:
        given = files.read_toml(path)
    except OSError as error:
        raise PaperError(f"{path}: cannot be read ({error.strerror})") from error
    except FileError as error:
        raise PaperError(str(error)) from error
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise PaperError(f"{path}: {wrong_key(given, kind, error)}") from error


def _load(folder: Path) -> Paper:
    paper = Paper(
        folder.name,
        folder,
        read_toml(folder / "paper.toml", PaperFile),
        read_toml(folder / "claims.toml", ClaimsFile).claims,
    )
    check(paper)
    return paper


def check(paper: Paper) -> None:
    """Checks that everything named by the paper's files exists.

    Raises:
        PaperError: something does not.
    """
    where = f"{paper.folder}/paper.toml"
    check_experiments(where, paper.file.experiments)
    for figure in paper.file.figures:
        _check_figure(f"{where}: figure {figure.id}", paper, figure)
    shown, known = paper.file.about.figure, [figure.id for figure in paper.file.figures]
    if shown and shown not in known:
        raise PaperError(
            f"{where}: about.figure = {shown!r}: no [[figure]] of that id; "
            f"there are {', '.join(known) or 'none'}"
        )
    for calibration in paper.file.calibrations:
        about = f"{where}: calibration {calibration.what!r}"
        experiment = paper.experiment(calibration.experiment)
        check_axis(about, experiment, calibration.axis)
        for target in calibration.targets:
            check_measure(about, target.measure)
            chosen = {calibration.axis: calibration.chosen}
            check_point(about, experiment, calibration.at, target.at, chosen)
    for sensitivity in paper.file.sensitivities:
        about = f"{where}: sensitivity {sensitivity.title!r}"
        experiment = paper.experiment(sensitivity.experiment)
        check_axis(about, experiment, sensitivity.axis)
        default = {sensitivity.axis: sensitivity.default}
        for gain in sensitivity.gains:
            check_measure(about, gain.measure)
            for side in (gain.baseline, gain.treated):
                check_point(about, experiment, gain.at, side, default)
    check_readings(where, paper.file.readings, paper.file.experiments)
    check_joint(where, paper.file.readings, paper.file.joint)
    check_facts(where, paper.file.facts, paper.experiments)
    check_numbers(where, paper.file.numbers, paper.experiments)
    check_text(f"{where}: about.today", paper.about.today, paper.file.numbers, _known(paper))
    _check_claims(paper)


def _known(paper: Paper) -> str:
    """The numbers that texts may contain: the paper's, and settings."""
    places = [
        f"{axis.name} {place} {axis.choice(place).settings}"
        for experiment in paper.file.experiments
        for axis in experiment.axes
        for place in axis.places
    ]
    places += [f"{experiment.settings}" for experiment in paper.file.experiments]
    claims = [f"{claim.id} {claim.what} {claim.paper}" for claim in paper.claims]
    values = [
        f"{point.open} {point.why} {value.name}"
        for point in paper.file.readings
        for value in point.values
    ]
    return " ".join([*places, *claims, *values])


def _check_figure(where: str, paper: Paper, figure: FigureSpec) -> None:
    experiment = paper.experiment(figure.experiment)
    check_measure(where, figure.measure)
    for what, text in (("title", figure.title), ("caption", figure.caption)):
        check_text(f"{where}: {what}", text, paper.file.numbers, _known(paper))
    if figure.kind != "window":
        check_axis(where, experiment, figure.x)
    x = {figure.x: experiment.axis(figure.x).places[0]} if figure.kind != "window" else {}
    for series in figure.series:
        if series.measure:
            check_measure(where, series.measure)
        check_point(where, experiment, figure.at, series.at, x)
        check_point(where, experiment, figure.at, series.at, x, series.baseline)


def _check_claims(paper: Paper) -> None:
    where = f"{paper.folder}/claims.toml"
    figures = {figure.id for figure in paper.file.figures}
    check_once(f"{where}: claim", (claim.id for claim in paper.claims))
    for claim in paper.claims:
        if claim.explained_by and claim.explained_by not in figures:
            raise PaperError(
                f"{where}: claim {claim.id}: explained_by = {claim.explained_by!r}: "
                f"no such figure; there are {', '.join(sorted(figures))}"
            )
        check_claim(where, claim, paper.experiments)
        _check_levels(f"{where}: claim {claim.id}", claim, paper)
        _check_alternatives(f"{where}: claim {claim.id}", claim, paper)
        check_text(f"{where}: claim {claim.id}: why", claim.why, paper.file.numbers, _known(paper))


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


def _check_alternatives(where: str, claim: Claim, paper: Paper) -> None:
    """Checks that a claim has as much at each place of an alternative as at the default's."""
    points = [point for point in paper.file.readings if point.alternative]
    for point in points:
        for part in claim.parts:
            places = [str(place) for place in part.places]
            if part.along == point.axis and point.concerns(part.experiment):
                missing = [name for name in point.names if name not in places]
                if missing:
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
