"""A scenario as written against each remedy, on common seeds: the plan, and what came out."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from airtcp._core import Scenario, ScenarioError
from airtcp.catalogue import BASELINE
from airtcp.scenarios import load_scenario
from airtcp.study.cells import Cell, cell_frame
from airtcp.study.execute import Results
from airtcp.study.plan import Plan, PlannedCell, planned_cell
from airtcp.study.statistics import Outcome, PairedDifference, paired_difference

if TYPE_CHECKING:
    import polars as pl

METRICS = ("goodput_bps", "retransmitted_share", "timeouts", "timeouts_spurious")
"""The measurements of a run that a comparison pairs; the first decides which remedy is best."""


@dataclass(frozen=True)
class ComparedRuns:
    """The finished cells of a comparison, and what they say.

    `remedies` begins with "baseline", the scenario as written, and keeps the order given.
    """

    scenario: Scenario
    remedies: tuple[str, ...]
    seeds: tuple[int, ...]
    finished: tuple[Cell, ...]

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
                    self.values(BASELINE, metric), self.values(remedy, metric)
                )
                for metric in METRICS
            }
            for remedy in self.remedies[1:]
        }

    @cached_property
    def best(self) -> str:
        """The remedy with the highest mean goodput, among those shown to raise it if any is."""
        goodput = {remedy: by["goodput_bps"] for remedy, by in self.differences.items()}
        shown = [name for name, by in goodput.items() if by.outcome is Outcome.HIGHER]
        return max(shown or goodput, key=lambda name: goodput[name].mean)

    @cached_property
    def table(self) -> "pl.DataFrame":
        """One row a remedy, baseline first: means over the seeds and the goodput's difference."""
        import polars as pl

        means = self.cells.group_by("remedy").agg(pl.col(*_MEANS).mean())
        rows = [
            {"remedy": BASELINE, "n": len(self.seeds)},
            *(
                {"remedy": remedy, **_difference_row(by["goodput_bps"])}
                for remedy, by in self.differences.items()
            ),
        ]
        schema = {"remedy": pl.String, "n": pl.UInt32}
        schema |= dict.fromkeys(_DIFFERENCE_COLUMNS, pl.Float64)
        schema |= {"outcome": pl.String}
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
    cells: tuple[PlannedCell, ...]
    """Seed by seed: what is finished after a kill is whole pairs."""

    @property
    def plan(self) -> Plan:
        """The cells as a plan."""
        return Plan(self.cells)

    def result(self, results: Results) -> ComparedRuns:
        """What came out, from the results of a plan that has these cells."""
        finished = tuple(results[cell.key] for cell in self.cells)
        return ComparedRuns(self.scenario, tuple(self.variants), self.seeds, finished)


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
        remedies: what to compare, at least one; "a+b" applies two together.
        seeds: their number (1, 2, 3, ...) or the seeds themselves.
        settings: dotted key to value, applied to every cell.
        where: what the scenario is called in progress and errors, when there are several.

    Raises:
        ScenarioError: the scenario, a setting or a remedy is wrong.
    """
    chosen = tuple(range(1, seeds + 1)) if isinstance(seeds, int) else tuple(sorted(set(seeds)))
    if not chosen:
        raise ScenarioError("seeds: expected at least one")
    written = load_scenario(scenario, settings)
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
    return ComparisonPlan(written, variants, chosen, cells)


def _variants(written: Scenario, remedies: Sequence[str]) -> dict[str, Scenario]:
    """The scenario under each remedy, every name checked."""
    if not remedies:
        raise ScenarioError("no remedy to compare: `airtcp remedies` lists them")
    variants: dict[str, Scenario] = {}
    for remedy in remedies:
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
