"""The plan of a comparison: a scenario as written and under each remedy, on common seeds."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from airtcp._core import Scenario, ScenarioError
from airtcp.comparison.compared import Comparison
from airtcp.comparison.everything import ALL, Applicable, applicable
from airtcp.comparison.execute import Results
from airtcp.comparison.perturbation import perturbed
from airtcp.comparison.plan import Plan, PlannedCell, seed_by_seed, seeded_cells
from airtcp.core.catalogue import BASELINE
from airtcp.core.loading import load_scenario, remedy_names

MAX_SEEDS = 100_000
"""Maximum number of seeds of one comparison: more would only resolve negligible differences."""


@dataclass(frozen=True)
class ComparisonPlan:
    """A scenario and its remedies, checked, as a plan."""

    scenario: Scenario
    variants: Mapping[str, Scenario]
    """The scenario as written and under each remedy, by the remedy's name."""
    seeds: tuple[int, ...]
    is_search: bool
    refused: Mapping[str, str]
    sized: Mapping[str, str]
    settings: Mapping[str, object]
    """Settings applied to the scenario, by dotted key."""
    cells: tuple[PlannedCell, ...]
    """Ordered seed by seed, so that an interrupted run leaves whole pairs."""

    @property
    def plan(self) -> Plan:
        """The cells as a plan."""
        return Plan(self.cells)

    def result(self, results: Results, metric: str = "goodput") -> Comparison:
        """The comparison, from the results of a plan that has these cells."""
        finished = tuple(results[cell.key] for cell in self.cells)
        return Comparison(
            self.scenario,
            tuple(self.variants),
            self.seeds,
            finished,
            metric,
            self.is_search,
            refused=self.refused,
            settings=self.settings,
            sized=self.sized,
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
        remedies: names of remedies, at least one; "a+b" applies two together; ["all"] is every
            remedy that applies to the link.
        seeds: number of seeds (1, 2, 3, ...) or the seeds themselves.
        settings: dotted key to value, applied to every cell. Without `perturb` among them, a
            scenario in which nothing is random is perturbed by each seed.
        where: name of the scenario in progress and errors, if there are several.

    Raises:
        ScenarioError: the scenario, a setting or a remedy is wrong.
    """
    chosen = _seeds(seeds)
    written = load_scenario(scenario, settings)
    if "perturb" not in (settings or {}):
        written = perturbed(written)
    found = Applicable([], {}, {})
    if is_search := list(remedies) == [ALL]:
        found = applicable(written)
        remedies = found.taken
    variants = {BASELINE: written} | _variants(written, remedies)
    scenario_hash = written.hash()
    cells = seed_by_seed(
        seeded_cells(
            scenario_hash, variant, remedy, chosen, ", ".join(filter(None, (where, remedy)))
        )
        for remedy, variant in variants.items()
    )
    return ComparisonPlan(
        written,
        variants,
        chosen,
        is_search,
        found.refused,
        found.sized,
        dict(settings or {}),
        cells,
    )


def _seeds(seeds: int | Sequence[int]) -> tuple[int, ...]:
    """The seeds themselves, without duplicates."""
    if isinstance(seeds, int):
        if not 1 <= seeds <= MAX_SEEDS:
            raise ScenarioError(f"seeds = {seeds}: expected a number from 1 to {MAX_SEEDS}")
        return tuple(range(1, seeds + 1))
    chosen = tuple(sorted(set(seeds)))
    if not 1 <= len(chosen) <= MAX_SEEDS:
        raise ScenarioError(f"seeds: expected 1 to {MAX_SEEDS} of them, not {len(chosen)}")
    for seed in chosen:
        if not 0 <= seed < 2**64:
            raise ScenarioError(f"seed {seed}: expected a whole number from 0 to 2^64 - 1")
    return chosen


def _variants(written: Scenario, remedies: Sequence[str]) -> dict[str, Scenario]:
    """The scenario under each remedy, every name checked."""
    if not remedies:
        raise ScenarioError("no remedy to compare: `airtcp list remedies` lists them")
    variants: dict[str, Scenario] = {}
    for remedy in remedy_names(remedies):
        if remedy in variants:
            raise ScenarioError(f'remedy "{remedy}" is named twice')
        variants[remedy] = written.with_remedies(remedy)
    return variants
