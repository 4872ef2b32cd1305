"""A paper as data: `papers/<name>/paper.toml` with its experiments and figures, `claims.toml`."""

from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct, field

from airtcp._core import ScenarioError
from airtcp.papers.claims import Claim, ClaimsFile
from airtcp.papers.experiment import Experiment, Value


class PaperError(ScenarioError):
    """A paper's files cannot be used: which file and key, what was found, what was expected."""


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
    y_label: str = ""
    at: dict[str, Value] = field(default_factory=dict)
    series: list[Series] = field(default_factory=list)
    caption: str = ""


class Target(Struct, frozen=True, forbid_unknown_fields=True):
    """A fact about the paper's baseline: a measurement, or a ratio `treated` over `baseline`."""

    value: float
    measure: str = "goodput_bps"
    at: dict[str, Value] = field(default_factory=dict)
    baseline: dict[str, Value] = field(default_factory=dict)
    treated: dict[str, Value] = field(default_factory=dict)


class Calibration(Struct, frozen=True, forbid_unknown_fields=True):
    """A free parameter, set on the baseline alone: places tried, facts, and our choice."""

    what: str
    experiment: str
    axis: str
    chosen: Value
    source: str
    at: dict[str, Value] = field(default_factory=dict)
    targets: list[Target] = field(name="target", default_factory=list)


class Reading(Struct, frozen=True, forbid_unknown_fields=True):
    """A column of a sensitivity table: a gain, and the paper's number for it."""

    title: str
    baseline: dict[str, Value]
    treated: dict[str, Value]
    at: dict[str, Value] = field(default_factory=dict)
    measure: str = "goodput_bps"
    paper: str = ""


class Sensitivity(Struct, frozen=True, forbid_unknown_fields=True):
    """What changes when the paper is read otherwise: readings down, gains across."""

    title: str
    experiment: str
    axis: str
    default: str
    gains: list[Reading] = field(name="gain", default_factory=list)


class About(Struct, frozen=True, forbid_unknown_fields=True):
    """Who says what where, and what is to be taken from it today."""

    number: int
    title: str
    authors: str
    venue: str
    remedies: list[str]
    today: str


class PaperFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A `paper.toml`."""

    about: About
    experiments: list[Experiment] = field(name="experiment", default_factory=list)
    figures: list[FigureSpec] = field(name="figure", default_factory=list)
    calibrations: list[Calibration] = field(name="calibration", default_factory=list)
    sensitivities: list[Sensitivity] = field(name="sensitivity", default_factory=list)


class Paper(Struct, frozen=True):
    """A paper with its claims, and the folder they come from."""

    name: str
    folder: Path
    file: PaperFile
    claims: list[Claim]

    @property
    def about(self) -> About:
        """Who says what where."""
        return self.file.about

    def experiment(self, identity: str) -> Experiment:
        """The experiment of that id.

        Raises:
            PaperError: there is none.
        """
        for experiment in self.file.experiments:
            if experiment.id == identity:
                return experiment
        known = ", ".join(experiment.id for experiment in self.file.experiments)
        raise PaperError(f"{self.folder}: no experiment {identity!r}; there are {known}")


def find_papers() -> Path:
    """The folder `papers` of the current folder, or of the checkout that this package is run from.

    Raises:
        PaperError: there is none.
    """
    for folder in (Path("papers"), Path(__file__).resolve().parents[3] / "papers"):
        if folder.is_dir() and any(folder.glob("*/paper.toml")):
            return folder
    raise PaperError(
        "no folder papers here: run airtcp papers in a checkout, or name it with --papers DIR"
    )


def load_papers(folder: Path, names: list[str] | None = None) -> list[Paper]:
    """The papers of a folder in the order of their numbers; `names` chooses some.

    A name is the folder's, or the paper's number.

    Raises:
        PaperError: a file is missing or wrong, or a name is unknown.
    """
    papers = [_load(file.parent) for file in folder.glob("*/paper.toml")]
    papers.sort(key=lambda paper: paper.about.number)
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
        PaperError: it cannot be read, is no TOML, or a key is wrong.
    """
    try:
        return msgspec.toml.decode(path.read_bytes(), type=kind)
    except OSError as error:
        raise PaperError(f"{path}: cannot be read ({error.strerror})") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PaperError(f"{path}: {error}") from error


def _load(folder: Path) -> Paper:
    paper = Paper(
        folder.name,
        folder,
        read_toml(folder / "paper.toml", PaperFile),
        read_toml(folder / "claims.toml", ClaimsFile).claims,
    )
    _check(paper)
    return paper


def _check(paper: Paper) -> None:
    """That everything named exists, before anything runs."""
    figures = {figure.id for figure in paper.file.figures}
    for claim in paper.claims:
        if claim.explained_by and claim.explained_by not in figures:
            raise PaperError(
                f"{paper.folder}/claims.toml: claim {claim.id}: explained_by = "
                f"{claim.explained_by!r}: no such figure; there are {', '.join(sorted(figures))}"
            )
        for part in claim.parts:
            experiment = paper.experiment(part.experiment)
            if part.along and part.paper and len(part.paper) != len(part.places):
                raise PaperError(
                    f"{paper.folder}/claims.toml: claim {claim.id}: {len(part.paper)} numbers of "
                    f"the paper for {len(part.places)} places: expected as many"
                )
            where = f"{paper.folder}/claims.toml: claim {claim.id}"
            for coordinates in _named(part.along, part.places, part):
                _resolve(experiment, coordinates, where)
    for figure in paper.file.figures:
        paper.experiment(figure.experiment)
    for calibration in paper.file.calibrations:
        paper.experiment(calibration.experiment)
    for sensitivity in paper.file.sensitivities:
        paper.experiment(sensitivity.experiment)


def _named(along: str, places: list[Value], part: Any) -> list[dict[str, Value]]:
    """The points a part names, one for each place."""
    sides = [part.baseline, part.treated] if part.baseline or part.treated else [{}]
    moves: list[dict[str, Value]] = [{along: place} for place in places] if along else [{}]
    starts = [part.at, part.than] if part.than else [part.at]
    return [{**start, **side, **move} for start in starts for side in sides for move in moves]


def _resolve(experiment: Experiment, coordinates: dict[str, Value], where: str) -> None:
    try:
        experiment.coordinates(coordinates)
    except KeyError as error:
        raise PaperError(f"{where}: {error.args[0]}") from error
