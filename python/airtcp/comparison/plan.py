"""Plans: the cells of a study, each with everything needed to run it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from airtcp._core import Scenario
from airtcp.comparison.cells import CellKey, cell_key
from airtcp.core.catalogue import BASELINE


@dataclass(frozen=True)
class Observation:
    """A way of running a cell that yields more than the summary of a plain run.

    `run` takes the scenario and the seed and returns the summary as JSON, with more fields. It is a
    module-level function, so that another process can call it by name.
    """

    name: str
    """Part of the cell's key: another observation makes another cell."""
    run: Callable[[Scenario, int], str]


@dataclass(frozen=True)
class PlannedCell:
    """One run of a plan. Two cells with the same key are the same run."""

    key: CellKey
    scenario: Scenario = field(compare=False)
    """The scenario to run: settings and remedies applied."""
    words: str = field(compare=False)
    """Description of the cell, for progress and errors."""
    observation: Observation | None = field(default=None, compare=False)


class Plan:
    """The cells of a study in execution order, without duplicates."""

    def __init__(self, cells: Iterable[PlannedCell] = ()) -> None:
        self._cells: dict[CellKey, PlannedCell] = {}
        for cell in cells:
            self.add(cell)

    def add(self, cell: PlannedCell) -> None:
        """Adds a cell, unless it is planned already."""
        self._cells.setdefault(cell.key, cell)

    def add_all(self, other: "Plan") -> None:
        """Adds the cells of another plan."""
        for cell in other:
            self.add(cell)

    def __iter__(self) -> Iterator[PlannedCell]:
        return iter(self._cells.values())

    def __len__(self) -> int:
        return len(self._cells)


def planned_cell(
    scenario_hash: str,
    scenario: Scenario,
    remedy: str,
    seed: int,
    words: str,
    observation: Observation | None = None,
) -> PlannedCell:
    """A cell of this engine.

    Args:
        scenario_hash: the hash of the scenario as written, before remedies.
        scenario: the scenario with the remedies applied.
        remedy: their names, empty for the baseline.
        seed: the seed.
        words: description of the cell, for progress and errors.
        observation: how it is run, if its summary is not enough.
    """
    name = f"{observation.name} {remedy}".rstrip() if observation else remedy
    return PlannedCell(cell_key(scenario_hash, name, seed), scenario, words, observation)


def seeded_cells(
    scenario_hash: str,
    scenario: Scenario,
    remedy: str,
    seeds: Iterable[int],
    words: str,
    observation: Observation | None = None,
) -> tuple[PlannedCell, ...]:
    """A variant of a scenario with each of these seeds.

    Args:
        scenario_hash: the hash of the scenario as written, before remedies.
        scenario: the scenario with the remedies applied.
        remedy: their names; `BASELINE` or nothing for the baseline.
        seeds: the seeds, in the order of the cells.
        words: description of the variant, for progress and errors; the seed is added to it.
        observation: how it is run, if its summary is not enough.
    """
    name = "" if remedy == BASELINE else remedy
    return tuple(
        planned_cell(
            scenario_hash,
            scenario,
            name,
            seed,
            f"{words}, seed {seed}" if words else f"seed {seed}",
            observation,
        )
        for seed in seeds
    )


def seed_by_seed(variants: Iterable[Sequence[PlannedCell]]) -> tuple[PlannedCell, ...]:
    """The cells of all variants with the first seed, then with the second, and so on.

    Pairs are complete early, and an interrupted run leaves few incomplete ones.
    """
    return tuple(chain.from_iterable(zip(*variants, strict=True)))
