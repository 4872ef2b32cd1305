"""Every paper's remedies on every paper's scenario, and two of them together."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations, product
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from airtcp.comparison.grid import Entry, Grid, GridResult, Setting
from airtcp.comparison.statistics import paired_difference
from airtcp.core.catalogue import BASELINE
from airtcp.papers.estimates import Estimate, gain, p_value
from airtcp.papers.experiment import Axis, Choice, Experiment
from airtcp.papers.files import read_toml
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.rules import correct_for_number, sign_of

MEASURE = "flow_goodput_bps"
"""The measure compared: the mean over flows, each over its lifetime."""


class CrossLink(Struct, frozen=True, forbid_unknown_fields=True):
    """One paper's scenario."""

    name: str
    scenario: str
    """The file, relative to the folder of its paper."""
    settings: dict[str, Any] = field(default_factory=dict)
    quick_settings: dict[str, Any] = field(default_factory=dict)


class CrossStack(Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of sender."""

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    is_today: bool = field(default=False, name="today")
    """Whether it is the sender in common use today."""


class Cross(Struct, frozen=True, forbid_unknown_fields=True):
    """A `cross.toml`."""

    remedies: list[str]
    pairs_of: list[str]
    links: list[CrossLink] = field(name="link")
    stacks: list[CrossStack] = field(name="stack")
    seeds: int = 10
    quick: int = 4

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


def load_cross(folder: Path) -> Cross | None:
    """The `cross.toml` of the folder of papers; None if it has none.

    Raises:
        PaperError: it cannot be read or is wrong.
    """
    file = folder / "cross.toml"
    return read_toml(file, Cross) if file.exists() else None


def cross_grid(cross: Cross, experiment: Experiment, outcomes: Outcomes) -> GridResult:
    """The cross comparison as a grid: links and stacks across, remedies down."""
    entries = []
    baselines: dict[tuple[str, str], float] = {}
    for link, stack in product(cross.links, cross.stacks):
        at = {"link": link.name, "stack": stack.name}
        before = outcomes.values(experiment, MEASURE, at, {"remedy": BASELINE}) or []
        baselines[link.name, stack.name] = sum(before) / max(1, len(before))
        for remedy in cross.remedies:
            after = outcomes.values(experiment, MEASURE, at, {"remedy": remedy})
            difference = paired_difference(before, after) if before and after else None
            place = experiment.id, experiment.coordinates(at, {"remedy": remedy})
            refusal = outcomes.refused.get(place, "")
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
    """Relation between two remedies."""

    COMBINE = "combine"
    """Together better than the better of the two."""
    FIGHT = "fight"
    """Together worse than the better of the two, and than both effects multiplied."""
    NEITHER = "neither"


@dataclass(frozen=True)
class PairOutcome:
    """Two remedies on a link: gains in per cent of each, of both, and of both over the rest.

    `over_better`: over the better one. `over_product`: over the effects of both multiplied, seed by
    seed, as independent remedies give.
    """

    link: str
    stack: str
    one: str
    other: str
    alone: tuple[Estimate, Estimate]
    together: Estimate
    over_better: Estimate
    over_product: Estimate
    company: Company


def pair_outcomes(cross: Cross, experiment: Experiment, outcomes: Outcomes) -> list[PairOutcome]:
    """Every pair on every link and stack that supports both, corrected for multiplicity."""
    gains: dict[tuple[str, str, str, str], list[Estimate | None]] = {}
    p_values: dict[tuple[tuple[str, str, str, str], str], float] = {}
    for link, stack, (one, other) in product(cross.links, cross.stacks, cross.pairs):
        at = {"link": link.name, "stack": stack.name}
        base, first, second, both = (
            outcomes.values(experiment, MEASURE, at, {"remedy": name}) or []
            for name in (BASELINE, one, other, f"{one}+{other}")
        )
        if not (base and first and second and both):
            continue
        better = max(first, second, key=sum)
        multiplied = [
            a * b / before if before else 0.0
            for before, a, b in zip(base, first, second, strict=True)
        ]
        pair = link.name, stack.name, one, other
        gains[pair] = [gain(base, after) for after in (first, second, both)]
        for what, expected in (("better", better), ("product", multiplied)):
            gains[pair].append(gain(expected, both))
            p_values[pair, what] = p_value(expected, both)
    shown = correct_for_number(p_values)
    found = []
    for pair, (first_alone, second_alone, together, over_better, over_product) in gains.items():
        if not (first_alone and second_alone and together and over_better and over_product):
            continue  # a run without any delivery has no gain
        better_by = sign_of(over_better) if (pair, "better") in shown else 0
        product_by = sign_of(over_product) if (pair, "product") in shown else 0
        company = Company.NEITHER
        if better_by > 0:
            company = Company.COMBINE
        elif better_by < 0 and product_by < 0:
            company = Company.FIGHT
        alone = (first_alone, second_alone)
        found.append(PairOutcome(*pair, alone, together, over_better, over_product, company))
    return found
