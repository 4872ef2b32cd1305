"""A scenario as written against each remedy, on common seeds: the plan, and what came out."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING

from airtcp._core import Scenario, ScenarioError
from airtcp.catalogue import BASELINE
from airtcp.scenarios import check_remedy, load_scenario
from airtcp.study.cells import Cell, cell_frame
from airtcp.study.everything import ALL, applicable
from airtcp.study.execute import Results
from airtcp.study.metrics import METRICS as METRICS_BY_NAME
from airtcp.study.metrics import needless_share
from airtcp.study.plan import Plan, PlannedCell, planned_cell
from airtcp.study.statistics import Outcome, PairedDifference, paired_difference
from airtcp.summary import RunSummary

if TYPE_CHECKING:
    import polars as pl

METRICS = ("goodput_bps", "retransmitted_share", "timeouts", "timeouts_spurious")
"""The measurements of a run that a comparison pairs; the first decides which remedy is best."""


_FLOOD_SHARE = 0.05
_FLOOD_FACTOR = 2.0
_MOST_SHOWN = 12
"""Rows of a search; a list of all says little more than its best and its worst."""

MOST_SEEDS = 100_000
"""The most seeds of one comparison: more tell no smaller difference that anybody would care for."""


@dataclass(frozen=True)
class ComparedRuns:
    """The finished cells of a comparison, and what they say.

    `remedies` begins with "baseline", the scenario as written, and keeps the order given.
    """

    scenario: Scenario
    remedies: tuple[str, ...]
    seeds: tuple[int, ...]
    finished: tuple[Cell, ...]
    metric: str = "goodput"
    """The metric that decides which remedy is best, one of `airtcp.study.metrics.METRICS`."""
    is_search: bool = False
    """Whether every remedy there is was tried: the intervals then hold for all at once."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """The remedies of a search that have no place on the link, and why."""
    beside: Mapping[str, Sequence[RunSummary]] = field(default_factory=dict)
    """Runs in which an unchanged flow shares the link with one that has the remedy, where made: in
    the order of the seeds, "baseline" among them."""
    not_beside: Mapping[str, str] = field(default_factory=dict)
    """The remedies for which that makes no sense, and why."""

    @property
    def among(self) -> int:
        """Number of comparisons that the intervals hold for at once."""
        return len(self.remedies) - 1 if self.is_search else 1

    @cached_property
    def cells(self) -> "pl.DataFrame":
        """One row a cell: remedy, seed, totals, digest, and the whole summary as JSON."""
        return cell_frame(self.finished)

    def values(self, remedy: str, metric: str) -> list[float]:
        """The measurements of one remedy in the order of the seeds."""
        import polars as pl

        chosen = self.cells.filter(pl.col("remedy") == remedy).sort("seed")
        return [float(value) for value in chosen[metric]]

    @cached_property
    def differences(self) -> dict[str, dict[str, PairedDifference]]:
        """For each remedy but the baseline, the paired difference of each of `METRICS`."""
        return {
            remedy: {
                metric: paired_difference(
                    self.values(BASELINE, metric), self.values(remedy, metric), self.among
                )
                for metric in METRICS
            }
            for remedy in self.remedies[1:]
        }

    @cached_property
    def summaries(self) -> dict[str, list[RunSummary]]:
        """The runs of each remedy in the order of the seeds."""
        by: dict[str, list[RunSummary]] = {remedy: [] for remedy in self.remedies}
        for cell in sorted(self.finished, key=lambda cell: cell.key.seed):
            by[cell.key.remedy or BASELINE].append(cell.summary)
        return by

    def runs_for(self, metric: str) -> Mapping[str, Sequence[RunSummary]]:
        """The runs of each remedy that a metric is measured on."""
        return self.beside if METRICS_BY_NAME[metric].is_of_others else self.summaries

    def compared(self, metric: str) -> dict[str, PairedDifference]:
        """For each remedy but the baseline, the paired difference of a metric.

        Over the seeds in which both runs have it; a remedy without any is left out.
        """
        measure = METRICS_BY_NAME[metric].of
        measured = {
            name: [measure(run) for run in runs] for name, runs in self.runs_for(metric).items()
        }
        differences = {}
        for remedy in self.remedies[1:]:
            if remedy not in measured:
                continue
            pairs = [
                (before, after)
                for before, after in zip(measured[BASELINE], measured[remedy], strict=True)
                if before is not None and after is not None
            ]
            if pairs:
                before, after = zip(*pairs, strict=True)
                differences[remedy] = paired_difference(before, after, self.among)
        return differences

    @cached_property
    def decisive(self) -> dict[str, PairedDifference]:
        """The paired differences of the metric that decides, for each remedy that has it."""
        return self.compared(self.metric)

    @cached_property
    def harm(self) -> dict[str, PairedDifference]:
        """Goodput of an unchanged flow beside each remedy, against beside another unchanged flow.

        The paired differences of its goodput, for the remedies in `beside`.
        """
        return self.compared("harm")

    def is_better(self, remedy: str) -> bool:
        """Whether a remedy is shown to improve what decides."""
        higher = METRICS_BY_NAME[self.metric].is_better_higher
        wanted = Outcome.HIGHER if higher else Outcome.LOWER
        return remedy in self.decisive and self.decisive[remedy].outcome is wanted

    def floods(self, remedy: str) -> bool:
        """Whether a remedy sends much that the receiver has already, and the baseline does not."""
        needless = fmean(map(needless_share, self.summaries[remedy]))
        usual = fmean(map(needless_share, self.summaries[BASELINE]))
        return needless > _FLOOD_SHARE and needless > _FLOOD_FACTOR * usual

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """The remedies, best first: those shown to help, then the others, each by their mean.

        A remedy that helps by flooding the link comes after those that help without.
        """
        sign = 1 if METRICS_BY_NAME[self.metric].is_better_higher else -1

        def rank(remedy: str) -> tuple[bool, bool, float]:
            mean = sign * self.decisive[remedy].mean
            return not self.is_better(remedy), self.is_better(remedy) and self.floods(remedy), -mean

        return tuple(sorted(self.decisive, key=rank))

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """The remedies worth a row: all that were asked for; of a search, those that differ."""
        if not self.is_search:
            return self.ranked
        differ = {Outcome.HIGHER, Outcome.LOWER, Outcome.NO_INTERVAL}
        worth = [name for name in self.ranked if self.decisive[name].outcome in differ]
        helpful = [name for name in worth if self.is_better(name)]
        if METRICS_BY_NAME[self.metric].is_of_others:
            # Those that cost others something are what was asked for.
            helpful = worth
        return tuple((helpful or worth or self.ranked)[:_MOST_SHOWN])

    @property
    def best(self) -> str:
        """The remedy that improves most what decides, among those shown to if any is."""
        return self.ranked[0]

    @cached_property
    def table(self) -> "pl.DataFrame":
        """One row a remedy, baseline first: means over the seeds and the goodput's difference.

        The columns `beside_…` are the difference in goodput of an unchanged flow beside it, in per
        cent, where that was measured.
        """
        import polars as pl

        means = self.cells.group_by("remedy").agg(pl.col(*_MEANS).mean())
        rows = [
            {"remedy": BASELINE, "n": len(self.seeds)},
            *(
                {
                    "remedy": remedy,
                    **_difference_row(by["goodput_bps"]),
                    **_harm_row(self.harm.get(remedy)),
                }
                for remedy, by in self.differences.items()
            ),
        ]
        schema = {"remedy": pl.String, "n": pl.UInt32}
        schema |= dict.fromkeys(_DIFFERENCE_COLUMNS, pl.Float64)
        schema |= {"outcome": pl.String} | dict.fromkeys(_HARM_COLUMNS, pl.Float64)
        return pl.DataFrame(rows, schema=schema).join(
            means, on="remedy", how="left", maintain_order="left"
        )


@dataclass(frozen=True)
class ComparisonPlan:
    """A scenario and its remedies, checked, as a plan."""

    scenario: Scenario
    variants: Mapping[str, Scenario]
    """The scenario as written and under each remedy, by the remedy's name."""
    seeds: tuple[int, ...]
    is_search: bool
    refused: Mapping[str, str]
    cells: tuple[PlannedCell, ...]
    """Seed by seed: what is finished after a kill is whole pairs."""

    @property
    def plan(self) -> Plan:
        """The cells as a plan."""
        return Plan(self.cells)

    def result(self, results: Results, metric: str = "goodput") -> ComparedRuns:
        """The comparison, from the results of a plan that has these cells."""
        finished = tuple(results[cell.key] for cell in self.cells)
        return ComparedRuns(
            self.scenario,
            tuple(self.variants),
            self.seeds,
            finished,
            metric,
            self.is_search,
            self.refused,
        )


def comparison_plan(
    scenario: Scenario | str | os.PathLike[str],
    remedies: Sequence[str],
    seeds: int | Sequence[int],
    settings: Mapping[str, object] | None = None,
    where: str = "",
) -> ComparisonPlan:
    """The plan of a comparison.

    Args:
        scenario: a path, TOML text, or a `Scenario` (see `load_scenario`).
        remedies: what to compare, at least one; "a+b" applies two together; ["all"] is every
            remedy that has a place on the link.
        seeds: their number (1, 2, 3, ...) or the seeds themselves.
        settings: dotted key to value, applied to every cell.
        where: what the scenario is called in progress and errors, when there are several.

    Raises:
        ScenarioError: the scenario, a setting or a remedy is wrong.
    """
    chosen = _seeds(seeds)
    written = load_scenario(scenario, settings)
    refused: dict[str, str] = {}
    if is_search := list(remedies) == [ALL]:
        remedies, refused = applicable(written)
    variants = {BASELINE: written} | _variants(written, remedies)
    scenario_hash = written.hash()
    cells = tuple(
        planned_cell(
            scenario_hash,
            variant,
            "" if remedy == BASELINE else remedy,
            seed,
            ", ".join(text for text in (where, remedy, f"seed {seed}") if text),
        )
        for seed in chosen
        for remedy, variant in variants.items()
    )
    return ComparisonPlan(written, variants, chosen, is_search, refused, cells)


def _seeds(seeds: int | Sequence[int]) -> tuple[int, ...]:
    """The seeds themselves, each once."""
    if isinstance(seeds, int):
        if not 1 <= seeds <= MOST_SEEDS:
            raise ScenarioError(f"seeds = {seeds}: expected a number from 1 to {MOST_SEEDS}")
        return tuple(range(1, seeds + 1))
    chosen = tuple(sorted(set(seeds)))
    if not 1 <= len(chosen) <= MOST_SEEDS:
        raise ScenarioError(f"seeds: expected 1 to {MOST_SEEDS} of them, not {len(chosen)}")
    for seed in chosen:
        if not 0 <= seed < 2**64:
            raise ScenarioError(f"seed {seed}: expected a whole number from 0 to 2^64 - 1")
    return chosen


def _variants(written: Scenario, remedies: Sequence[str]) -> dict[str, Scenario]:
    """The scenario under each remedy, every name checked."""
    if not remedies:
        raise ScenarioError("no remedy to compare: `airtcp remedies` lists them")
    variants: dict[str, Scenario] = {}
    for remedy in remedies:
        check_remedy(remedy)
        if remedy in variants:
            raise ScenarioError(f'remedy "{remedy}" is named twice')
        variants[remedy] = written.with_remedies(remedy)
    return variants


_MEANS = (
    "goodput_bps",
    "retransmitted_share",
    "timeouts",
    "timeouts_spurious",
    "fast_retransmits",
)

_DIFFERENCE_COLUMNS = (
    "difference_bps",
    "ci95_low_bps",
    "ci95_high_bps",
    "difference_percent",
    "ci95_low_percent",
    "ci95_high_percent",
)

_HARM_COLUMNS = ("beside_percent", "beside_ci95_low_percent", "beside_ci95_high_percent")


def _harm_row(harm: PairedDifference | None) -> dict[str, object]:
    if harm is None:
        return {}
    return dict(
        zip(
            _HARM_COLUMNS,
            (harm.mean_percent, *(harm.interval_percent or (None, None))),
            strict=True,
        )
    )


def _difference_row(goodput: PairedDifference) -> dict[str, object]:
    low, high = goodput.interval or (None, None)
    low_percent, high_percent = goodput.interval_percent or (None, None)
    return {
        "n": goodput.n,
        "difference_bps": goodput.mean,
        "ci95_low_bps": low,
        "ci95_high_bps": high,
        "difference_percent": goodput.mean_percent,
        "ci95_low_percent": low_percent,
        "ci95_high_percent": high_percent,
        "outcome": goodput.outcome.value,
    }
