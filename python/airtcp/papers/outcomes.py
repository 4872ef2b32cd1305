"""Carrying experiments out: every point with every seed, in parallel, finished points kept."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from airtcp import _core
from airtcp._core import AirtcpError, RunError, Scenario
from airtcp.papers.experiment import Coordinates, Experiment, Value
from airtcp.papers.measures import Measures, measures_of
from airtcp.papers.store import PointStore
from airtcp.papers.windows import watched
from airtcp.scenarios import load_scenario
from airtcp.study.cells import Cell, CellKey, cell_key
from airtcp.study.statistics import PairedDifference, paired_difference

Progress = Callable[[int, int], object]
"""Called with the number of runs finished, and of all."""

_WATCHED = "watched to the end:"
"""Runs whose window was sampled are other cells than those without."""


_AT_ONCE = 400
"""Runs whose results are held at the same time: what a run watched takes memory."""


@dataclass
class Outcomes:
    """What was measured: of each experiment and point, one set of measurements a seed, in order.

    `refused` says of points whose remedies their link has no place for why.
    """

    seeds: dict[str, tuple[int, ...]] = field(default_factory=dict)
    measured: dict[tuple[str, Coordinates], list[Measures]] = field(default_factory=dict)
    refused: dict[tuple[str, Coordinates], str] = field(default_factory=dict)

    @property
    def runs(self) -> int:
        """How many runs all of it is."""
        return sum(len(point) for point in self.measured.values())

    def values(
        self, experiment: Experiment, measure: str, *at: Mapping[str, Value]
    ) -> list[float] | None:
        """One measurement a seed, in the order of the seeds; None where the point was refused."""
        point = self.measured.get((experiment.id, experiment.coordinates(*at)))
        return None if point is None else [run[measure] for run in point]

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
    """A point to be run, with a key for each seed."""

    experiment: Experiment
    coordinates: Coordinates
    scenario: Scenario
    keys: tuple[CellKey, ...]


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
        quick: with the experiments' few seeds, and shorter, where they say so.
        first_seed: the seeds count up from here; sets of seeds that are apart share no run.
        out: a folder; finished points are saved in its folder `cells`.
        jobs: runs at the same time; None takes the processors this process may use.
        progress: called at the start and after each run.

    Raises:
        ScenarioError: a scenario or a remedy is wrong; before anything runs.
        RunError: a run failed.
    """
    store = PointStore(out / "cells") if out is not None else None
    outcomes = Outcomes()
    wanted: list[_Wanted] = []
    for folder, experiment in experiments:
        count = experiment.quick if quick else experiment.seeds
        seeds = tuple(range(first_seed, first_seed + count))
        outcomes.seeds[experiment.id] = seeds
        wanted += _points(folder, experiment, seeds, outcomes, quick)
    all_runs = sum(len(want.keys) for want in wanted)
    finished: dict[int, list[Measures]] = {}
    for index, want in enumerate(wanted):
        found = store.get(want.keys) if store else None
        if found:
            finished[index] = [measures_of(cell.summary) for cell in found]
    done = sum(len(point) for point in finished.values())
    if progress:
        progress(done, all_runs)

    summaries: dict[int, dict[int, str]] = {}

    def keep(index: int, position: int, summary: str) -> None:
        nonlocal done
        point = summaries.setdefault(index, {})
        point[position] = summary
        keys = wanted[index].keys
        if len(point) == len(keys):
            cells = [Cell(key, point[place]) for place, key in enumerate(keys)]
            if store:
                store.put(cells)
            finished[index] = [measures_of(cell.summary) for cell in cells]
            del summaries[index]
        done += 1
        if progress:
            progress(done, all_runs)

    missing = [index for index in range(len(wanted)) if index not in finished]
    for index in missing:
        if wanted[index].experiment.sampled:
            for position, key in enumerate(wanted[index].keys):
                summary, _ = watched(wanted[index].scenario, key.seed)
                keep(index, position, summary)
    runs = [
        (index, position)
        for index in missing
        if not wanted[index].experiment.sampled
        for position in range(len(wanted[index].keys))
    ]

    def on_done(batch: list[tuple[int, int]], run: int, result: _core.RunResult) -> None:
        keep(*batch[run], result.summary())

    for begin in range(0, len(runs), _AT_ONCE):
        batch = runs[begin : begin + _AT_ONCE]
        results = _core.run_many(
            [
                (wanted[index].scenario, wanted[index].keys[position].seed)
                for index, position in batch
            ],
            jobs or len(os.sched_getaffinity(0)),
            partial(on_done, batch),
        )
        for (index, _), result in zip(batch, results, strict=True):
            if isinstance(result, RunError):
                where = ", ".join(f"{axis} {place}" for axis, place in wanted[index].coordinates)
                raise RunError(f"{wanted[index].experiment.id} ({where}): {result}")
    for index, want in enumerate(wanted):
        outcomes.measured[want.experiment.id, want.coordinates] = finished[index]
    return outcomes


def scenario_at(folder: Path, experiment: Experiment, coordinates: Coordinates) -> Scenario:
    """The scenario of one point, its remedies laid over it.

    Raises:
        KeyError: the experiment has no such point.
    """
    for point in experiment.points():
        if point.coordinates == coordinates:
            written = load_scenario((folder / point.scenario).resolve(), ordered(point.settings))
            return written.with_remedies(point.remedies) if point.remedies else written
    raise KeyError(coordinates)


def ordered(settings: Mapping[str, object]) -> dict[str, object]:
    """Whole tables first, so that single keys can change them."""
    return dict(sorted(settings.items(), key=lambda item: item[0].count(".")))


def _points(
    folder: Path,
    experiment: Experiment,
    seeds: tuple[int, ...],
    outcomes: Outcomes,
    quick: bool,
) -> list[_Wanted]:
    """The points of an experiment; those that are refused are noted in `outcomes`."""
    wanted: list[_Wanted] = []
    for point in experiment.points(quick=quick):
        written = load_scenario((folder / point.scenario).resolve(), ordered(point.settings))
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
        keys = tuple(cell_key(digest, remedies, seed) for seed in seeds)
        wanted.append(_Wanted(experiment, point.coordinates, scenario, keys))
    return wanted
