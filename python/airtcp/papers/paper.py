"""A paper as data: `papers/<name>/paper.toml` with its experiments and figures, `claims.toml`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct, field

from airtcp.papers.claims import Claim
from airtcp.papers.experiment import Datum, Experiment, Value
from airtcp.papers.facts import Fact
from airtcp.papers.readings import JointReading, OpenPoint
from airtcp.papers.texts import NumberSpec


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

    def data(self, experiment: Experiment) -> Iterator[Datum]:
        """The measurements that it shows."""
        is_window = self.kind == "window"
        places = [{}] if is_window else [{self.x: x} for x in experiment.axis(self.x).places]
        for series in self.series:
            measure = series.measure or self.measure
            for place in places:
                here = {**self.at, **series.at, **place}
                yield Datum(measure, here)
                yield Datum(measure, {**here, **series.baseline})


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

    def data(self, experiment: Experiment) -> Iterator[Datum]:
        """Every target at every place, and at the chosen one, which is one of them."""
        for place in (self.chosen, *experiment.axis(self.axis).places):
            for target in self.targets:
                yield Datum(target.measure, {**self.at, **target.at, self.axis: place})


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

    def data(self, experiment: Experiment) -> Iterator[Datum]:
        """Both sides of every gain at every place, and at the default, which is one of them."""
        for place in (self.default, *experiment.axis(self.axis).places):
            for gain in self.gains:
                for side in (gain.baseline, gain.treated):
                    yield Datum(gain.measure, {**gain.at, self.axis: place, **side})


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

    def claim(self, identity: str) -> Claim:
        """The claim with that id."""
        return next(claim for claim in self.claims if claim.id == identity)

    def experiment(self, identity: str) -> Experiment:
        """The experiment with that id, which the check of the paper has found."""
        return self.experiments[identity]
