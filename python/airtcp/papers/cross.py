"""Every paper's remedies on every paper's scenario, and two of them together."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from airtcp.catalogue import BASELINE
from airtcp.papers.experiment import Axis, Choice, Experiment
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.paper import read_toml
from airtcp.papers.rules import NEGLIGIBLE
from airtcp.study.grid import Entry, Grid, GridResult, Setting
from airtcp.study.statistics import Outcome, PairedDifference, paired_difference

MEASURE = "flow_goodput_bps"
"""What is compared: the mean over flows, each over its own life."""


class CrossLink(Struct, frozen=True, forbid_unknown_fields=True):
    """One paper's scenario."""

    name: str
    scenario: str
    settings: dict[str, Any] = field(default_factory=dict)
    quick_settings: dict[str, Any] = field(default_factory=dict)


class CrossStack(Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of sender."""

    name: str
    settings: dict[str, Any] = field(default_factory=dict)


class Cross(Struct, frozen=True, forbid_unknown_fields=True):
    """A `cross.toml`."""

    remedies: list[str]
    pairs_of: list[str]
    links: list[CrossLink] = field(name="link")
    stacks: list[CrossStack] = field(name="stack")
    seeds: int = 10
    quick: int = 2

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Every two of `pairs_of`."""
        return list(combinations(self.pairs_of, 2))

    def experiment(self, *, quick: bool = False) -> Experiment:
        """Every link, stack and remedy as one experiment."""
        links = [
            Choice(
                link.name,
                settings={**link.settings, **(link.quick_settings if quick else {})},
                scenario=link.scenario,
            )
            for link in self.links
        ]
        stacks = [Choice(stack.name, settings=stack.settings) for stack in self.stacks]
        together = [f"{one}+{other}" for one, other in self.pairs]
        names = list(dict.fromkeys([*self.remedies, *self.pairs_of, *together]))
        remedies = [Choice(BASELINE), *(Choice(name, remedies=name) for name in names)]
        return Experiment(
            id="cross",
            title="Every remedy on every paper's scenario",
            scenario="",
            seeds=self.seeds,
            quick=self.quick,
            axes=[
                Axis("link", choices=links),
                Axis("stack", choices=stacks),
                Axis("remedy", choices=remedies),
            ],
            partial=True,
        )


def load_cross(folder: Path) -> Cross:
    """The `cross.toml` of the folder of papers.

    Raises:
        PaperError: it cannot be read or is wrong.
    """
    return read_toml(folder / "cross.toml", Cross)


def cross_grid(cross: Cross, experiment: Experiment, outcomes: Outcomes) -> GridResult:
    """All of it as a grid: links and stacks across, remedies down."""
    entries = []
    baselines: dict[tuple[str, str], float] = {}
    for link in cross.links:
        for stack in cross.stacks:
            at = {"link": link.name, "stack": stack.name}
            before = outcomes.values(experiment, MEASURE, at, {"remedy": BASELINE}) or [0.0]
            baselines[link.name, stack.name] = sum(before) / len(before)
            for remedy in cross.remedies:
                difference = _difference(experiment, outcomes, at, BASELINE, remedy)
                refusal = outcomes.refused.get(
                    (experiment.id, experiment.coordinates(at, {"remedy": remedy})), ""
                )
                entries.append(
                    Entry(link.name, stack.name, remedy, difference=difference, refusal=refusal)
                )
    seeds = len(outcomes.seeds[experiment.id])
    grid = Grid(
        "cross",
        experiment.title,
        seeds,
        tuple(cross.remedies),
        tuple(Setting(link.name, {}) for link in cross.links),
        tuple(Setting(stack.name, {}) for stack in cross.stacks),
    )
    return GridResult(grid, seeds, tuple(entries), baselines)


class Company(StrEnum):
    """What two remedies are to each other."""

    COMBINE = "combine"
    """Together significantly better than the better of them alone."""
    FIGHT = "fight"
    """Together significantly worse than the better alone, and than both effects multiplied."""
    NEITHER = "neither"
    REFUSED = "n/a"


@dataclass(frozen=True)
class PairOutcome:
    """Two remedies on a link: each alone, both, and both against what one might expect.

    `against_better`: the better one alone. `against_product`: the effects of both multiplied, seed
    by seed, which is what remedies that have nothing to do with each other give.
    """

    link: str
    stack: str
    one: str
    other: str
    alone: tuple[PairedDifference | None, PairedDifference | None]
    together: PairedDifference | None
    against_better: PairedDifference | None
    against_product: PairedDifference | None
    company: Company


def pair_outcomes(cross: Cross, experiment: Experiment, outcomes: Outcomes) -> list[PairOutcome]:
    """Every pair on every link and stack that has a place for both."""
    found = []
    for link in cross.links:
        for stack in cross.stacks:
            at = {"link": link.name, "stack": stack.name}
            for one, other in cross.pairs:
                pair = _pair(experiment, outcomes, at, one, other)
                if pair.company is not Company.REFUSED:
                    found.append(pair)
    return found


def _pair(
    experiment: Experiment, outcomes: Outcomes, at: dict[str, str], one: str, other: str
) -> PairOutcome:
    both = f"{one}+{other}"
    alone = (
        _difference(experiment, outcomes, at, BASELINE, one),
        _difference(experiment, outcomes, at, BASELINE, other),
    )
    together = _difference(experiment, outcomes, at, BASELINE, both)
    link, stack = at["link"], at["stack"]
    if alone[0] is None or alone[1] is None or together is None:
        return PairOutcome(link, stack, one, other, alone, together, None, None, Company.REFUSED)
    better = one if alone[0].mean >= alone[1].mean else other
    against_better = _difference(experiment, outcomes, at, better, both)
    against_product = _against_product(experiment, outcomes, at, one, other)
    company = Company.NEITHER
    if _is(against_better, Outcome.HIGHER):
        company = Company.COMBINE
    elif _is(against_better, Outcome.LOWER) and _is(against_product, Outcome.LOWER):
        company = Company.FIGHT
    return PairOutcome(
        link, stack, one, other, alone, together, against_better, against_product, company
    )


def _is(difference: PairedDifference | None, outcome: Outcome) -> bool:
    """Whether a difference is shown, that way, and worth the name."""
    if difference is None or difference.mean_percent is None:
        return False
    return difference.outcome is outcome and abs(difference.mean_percent) >= NEGLIGIBLE


def _against_product(
    experiment: Experiment, outcomes: Outcomes, at: dict[str, str], one: str, other: str
) -> PairedDifference | None:
    names = (BASELINE, one, other, f"{one}+{other}")
    series = [outcomes.values(experiment, MEASURE, at, {"remedy": name}) for name in names]
    base, first, second, both = (values or [] for values in series)
    if not both:
        return None
    expected = [
        alone * again / before if before else 0.0
        for before, alone, again in zip(base, first, second, strict=True)
    ]
    return paired_difference(expected, both)


def _difference(
    experiment: Experiment, outcomes: Outcomes, at: dict[str, str], before: str, after: str
) -> PairedDifference | None:
    baseline = outcomes.values(experiment, MEASURE, at, {"remedy": before})
    treated = outcomes.values(experiment, MEASURE, at, {"remedy": after})
    if baseline is None or treated is None:
        return None
    return paired_difference(baseline, treated)
