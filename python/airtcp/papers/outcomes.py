"""Carrying experiments out: every point with every seed, in parallel, finished runs kept."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from airtcp import _core
from airtcp._core import AirtcpError, RunError, Scenario
from airtcp.papers.experiment import Coordinates, Experiment, Value
from airtcp.papers.measures import Measures, measures_of
from airtcp.papers.windows import watched
from airtcp.scenarios import load_scenario
from airtcp.study.cells import Cell, CellKey, CellStore, cell_key
from airtcp.study.statistics import PairedDifference, paired_difference

Progress = Callable[[int, int], object]
"""Called with the number of runs finished, and of all."""

_WATCHED = "watched:"
"""Runs whose window was sampled are other cells than those without."""


@dataclass
class Outcomes:
    """What was measured: of each experiment and point, one set of measurements a seed, in order.

    `refused` says of points whose remedies their link has no place for why.
    """

    seeds: dict[str, tuple[int, ...]] = field(default_factory=dict)
    measured: dict[tuple[str, Coordinates], list[Measures]] = field(default_factory=dict)
    refused: dict[tuple[str, Coordinates], str] = field(default_factory=dict)

    def values(
        self, experiment: Experiment, measure: str, *at: Mapping[str, Value]
    ) -> list[float] | None:
        """One measurement a seed, in the order of the seeds; None where the point was refused."""
        runs = self.measured.get((experiment.id, experiment.coordinates(*at)))
        return None if runs is None else [run[measure] for run in runs]

    def difference(
        self,
        experiment: Experiment,
        measure: str,
        at: Mapping[str, Value],
        baseline: Mapping[str, Value],
        treated: Mapping[str, Value],
    ) -> PairedDifference | None:
        """`treated` against `baseline`, both at `at`, seed by seed; None where one was refused."""
        before = self.values(experiment, measure, at, baseline)
        after = self.values(experiment, measure, at, treated)
        if before is None or after is None:
            return None
        return paired_difference(before, after)


@dataclass(frozen=True)
class _Wanted:
    """A run to be made."""

    experiment: Experiment
    coordinates: Coordinates
    scenario: Scenario
    key: CellKey


def carry_out(
    experiments: Sequence[tuple[Path, Experiment]],
    *,
    quick: bool = False,
    first_seed: int = 1,
    out: Path | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Outcomes:
    """Runs every point of every experiment; what `out` holds already is not run again.

    Args:
        experiments: each with the folder its scenario's path starts from.
        quick: with the experiments' few seeds in place of their full number.
        first_seed: the seeds count up from here; sets of seeds that are apart share no run.
        out: a folder; finished runs are saved in its folder `cells`.
        jobs: runs at the same time; None takes the processors this process may use.
        progress: called at the start and after each run.

    Raises:
        ScenarioError: a scenario or a remedy is wrong; before anything runs.
        RunError: a run failed.
    """
    store = CellStore(out / "cells") if out is not None else None
    outcomes = Outcomes()
    wanted: list[_Wanted] = []
    for folder, experiment in experiments:
        count = experiment.quick if quick else experiment.seeds
        seeds = tuple(range(first_seed, first_seed + count))
        outcomes.seeds[experiment.id] = seeds
        wanted += _wanted(folder, experiment, seeds, outcomes)
    finished: dict[int, Cell] = {}
    for index, want in enumerate(wanted):
        found = store.get(want.key) if store else None
        if found:
            finished[index] = found
    if progress:
        progress(len(finished), len(wanted))

    def keep(index: int, summary: str) -> None:
        cell = Cell(wanted[index].key, summary)
        if store:
            store.put(cell)
        finished[index] = cell
        if progress:
            progress(len(finished), len(wanted))

    missing = [index for index in range(len(wanted)) if index not in finished]
    for index in missing:
        if wanted[index].experiment.sampled:
            summary, _ = watched(wanted[index].scenario, wanted[index].key.seed)
            keep(index, summary)
    plain = [index for index in missing if not wanted[index].experiment.sampled]
    results = _core.run_many(
        [(wanted[index].scenario, wanted[index].key.seed) for index in plain],
        jobs or len(os.sched_getaffinity(0)),
        lambda position, result: keep(plain[position], result.summary()),
    )
    for index, result in zip(plain, results, strict=True):
        if isinstance(result, RunError):
            where = ", ".join(f"{axis} {place}" for axis, place in wanted[index].coordinates)
            raise RunError(f"{wanted[index].experiment.id} ({where}): {result}")
    for index, want in enumerate(wanted):
        measures = measures_of(finished[index].summary)
        outcomes.measured.setdefault((want.experiment.id, want.coordinates), []).append(measures)
    return outcomes


def scenario_at(folder: Path, experiment: Experiment, coordinates: Coordinates) -> Scenario:
    """The scenario of one point, its remedies laid over it."""
    for point in experiment.points():
        if point.coordinates == coordinates:
            written = load_scenario(folder / point.scenario, _ordered(point.settings))
            return written.with_remedies(point.remedies) if point.remedies else written
    raise KeyError(coordinates)


def _wanted(
    folder: Path, experiment: Experiment, seeds: tuple[int, ...], outcomes: Outcomes
) -> list[_Wanted]:
    """The runs of an experiment; points that are refused are noted in `outcomes`."""
    wanted: list[_Wanted] = []
    for point in experiment.points():
        path = (folder / point.scenario).resolve()
        written = load_scenario(path, _ordered(point.settings))
        scenario = written
        if point.remedies:
            try:
                scenario = written.with_remedies(point.remedies)
            except AirtcpError as error:
                if not experiment.partial:
                    raise
                outcomes.refused[experiment.id, point.coordinates] = str(error)
                continue
        remedies = (_WATCHED if experiment.sampled else "") + point.remedies
        digest = written.hash()
        wanted += [
            _Wanted(experiment, point.coordinates, scenario, cell_key(digest, remedies, seed))
            for seed in seeds
        ]
    return wanted


def _ordered(settings: Mapping[str, object]) -> dict[str, object]:
    """Whole tables first, so that single keys can change them."""
    return dict(sorted(settings.items(), key=lambda item: not isinstance(item[1], dict)))
