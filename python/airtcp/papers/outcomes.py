"""Runs experiments: every point with every seed as a plan, and the measurements."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from airtcp._core import AirtcpError, Scenario
from airtcp.comparison.cells import CellKey
from airtcp.comparison.execute import Executor, execute
from airtcp.comparison.plan import Plan, planned_cell
from airtcp.comparison.store import Store
from airtcp.core.loading import load_scenario
from airtcp.papers.estimates import Estimate, gain
from airtcp.papers.experiment import Coordinates, Experiment, Point, RunExtent, Value
from airtcp.papers.measures import Measures, measures_of
from airtcp.papers.sampled import PEAKS, WATCHED
from airtcp.papers.unset import without_unset

Progress = Callable[[int, int], object]
"""Called with the number of finished runs, and the total."""

SelectedPoints = Mapping[str, Container[Coordinates]]
"""For each experiment by its id, the points to run; all points of an experiment not listed."""


@dataclass
class Outcomes:
    """Measurements: for each experiment and point, one set per seed, in order.

    `refused` gives the reason for points with remedies that do not apply to their link.
    """

    seeds: dict[str, tuple[int, ...]] = field(default_factory=dict)
    measured: dict[tuple[str, Coordinates], list[Measures]] = field(default_factory=dict)
    refused: dict[tuple[str, Coordinates], str] = field(default_factory=dict)

    @property
    def runs(self) -> int:
        """Number of all runs."""
        return sum(len(point) for point in self.measured.values())

    def only(self, experiment: str) -> "Outcomes":
        """Measurements of one experiment."""
        return Outcomes(
            {name: seeds for name, seeds in self.seeds.items() if name == experiment},
            {key: runs for key, runs in self.measured.items() if key[0] == experiment},
            {key: why for key, why in self.refused.items() if key[0] == experiment},
        )

    def merge(self, other: "Outcomes") -> None:
        """Adds measurements of other experiments."""
        self.seeds |= other.seeds
        self.measured |= other.measured
        self.refused |= other.refused

    def values(
        self, experiment: Experiment, measure: str, *at: Mapping[str, Value]
    ) -> list[float] | None:
        """One measurement per seed, in the order of the seeds; None if the point was refused."""
        point = self.measured.get((experiment.id, experiment.coordinates(*at)))
        return None if point is None else [run[measure] for run in point]

    def gain(
        self,
        experiment: Experiment,
        measure: str,
        at: Mapping[str, Value],
        baseline: Mapping[str, Value],
        treated: Mapping[str, Value],
    ) -> Estimate | None:
        """The gain in per cent of `treated` over `baseline`, both at `at`, seed by seed.

        None if one was refused, or the baseline measured nothing.
        """
        before = self.values(experiment, measure, at, baseline)
        after = self.values(experiment, measure, at, treated)
        if before is None or after is None:
            return None
        return gain(before, after)


@dataclass
class PlannedExperiments:
    """Experiments as a plan, and the conversion of its results.

    `keys` are for each point those of its cells, seed by seed.
    """

    plan: Plan = field(default_factory=Plan)
    seeds: dict[str, tuple[int, ...]] = field(default_factory=dict)
    keys: dict[tuple[str, Coordinates], list[CellKey]] = field(default_factory=dict)
    refused: dict[tuple[str, Coordinates], str] = field(default_factory=dict)

    def outcomes(self, measured: Mapping[CellKey, Measures]) -> Outcomes:
        """Measurements, from the results of a plan that has these cells."""
        of_points = {at: [measured[key] for key in keys] for at, keys in self.keys.items()}
        return Outcomes(dict(self.seeds), of_points, dict(self.refused))


def plan_experiments(
    experiments: Sequence[tuple[Path, Experiment]],
    *,
    extent: RunExtent = "full",
    first_seed: int = 1,
    only: SelectedPoints | None = None,
) -> PlannedExperiments:
    """Every point of every experiment with every seed, as a plan.

    Args:
        experiments: each with the folder that its scenario's path is relative to.
        extent: number of seeds; shorter runs too unless full, where experiments define it.
        first_seed: the first seed; disjoint sets of seeds share no run.
        only: the points to plan, if not all.

    Raises:
        ScenarioError: a scenario or a remedy is wrong.
    """
    planned = PlannedExperiments()
    for folder, experiment in experiments:
        count = experiment.seeds_of(extent)
        planned.seeds[experiment.id] = tuple(range(first_seed, first_seed + count))
        chosen = only.get(experiment.id) if only is not None else None
        for point in experiment.points(quick=extent != "full"):
            if chosen is None or point.coordinates in chosen:
                _plan_point(folder, experiment, point, planned)
    return planned


def carry_out(
    experiments: Sequence[tuple[Path, Experiment]],
    *,
    quick: bool = False,
    first_seed: int = 1,
    out: Path | Store | None = None,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Outcomes:
    """Runs every point of every experiment; runs found in `out` are not repeated.

    Args:
        experiments: each with the folder that its scenario's path is relative to.
        quick: whether to use the experiments' few seeds, and shorter runs, where they define them.
        first_seed: the first seed; disjoint sets of seeds share no run.
        out: a folder; finished cells are saved in its folder `cells`. Or the store itself.
        jobs: number of parallel runs; None takes the processors this process may use.
        executor: runs the cells; threads by default.
        progress: called at the start and after each run.

    Raises:
        ScenarioError: a scenario or a remedy is wrong; before anything runs.
        RunError: a run failed.
        OSError: a cell cannot be saved.
    """
    extent: RunExtent = "quick" if quick else "full"
    planned = plan_experiments(experiments, extent=extent, first_seed=first_seed)
    (outcomes,) = carry_out_planned(
        [planned], out=out, jobs=jobs, executor=executor, progress=progress
    )
    return outcomes


def carry_out_planned(
    planned: Sequence[PlannedExperiments],
    *,
    out: Path | Store | None = None,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> list[Outcomes]:
    """Runs several plans as one, shared runs only once; returns the outcomes of each.

    Args and errors as of `carry_out`.
    """
    whole = Plan()
    for one in planned:
        whole.add_all(one.plan)
    results = execute(
        whole,
        out=out,
        jobs=jobs,
        executor=executor,
        progress=None if progress is None else lambda done, runs, _: progress(done, runs),
    )
    measured = {key: measures_of(cell.summary) for key, cell in results.items()}
    return [one.outcomes(measured) for one in planned]


def scenario_at(folder: Path, experiment: Experiment, coordinates: Coordinates) -> Scenario:
    """The scenario of one point, with its remedies applied.

    Raises:
        KeyError: the experiment has no such point.
    """
    for point in experiment.points():
        if point.coordinates == coordinates:
            return built(folder, point)
    raise KeyError(coordinates)


def built(folder: Path, point: Point) -> Scenario:
    """The scenario of a point, with its remedies applied.

    Raises:
        ScenarioError: a key, a value or a remedy is wrong.
    """
    written = _written(folder, point)
    return written.with_remedies(point.remedies) if point.remedies else written


def _written(folder: Path, point: Point) -> Scenario:
    """The scenario of a point without its remedies."""
    path = (folder / point.scenario).resolve()
    return load_scenario(path, ordered(without_unset(path, point.settings)))


def ordered(settings: Mapping[str, object]) -> dict[str, object]:
    """Sorts whole tables first, so that single keys can change them."""
    return dict(sorted(settings.items(), key=lambda item: item[0].count(".")))


def _plan_point(
    folder: Path, experiment: Experiment, point: Point, planned: PlannedExperiments
) -> None:
    """Adds a point of an experiment; records it if it is refused."""
    observation = WATCHED if experiment.sampled else PEAKS if experiment.peaks else None
    written = _written(folder, point)
    scenario = written
    if point.remedies:
        try:
            scenario = written.with_remedies(point.remedies)
        except AirtcpError as error:
            if not experiment.partial:
                raise
            planned.refused[experiment.id, point.coordinates] = str(error)
            return
    digest = written.hash()
    where = ", ".join(f"{axis} {place}" for axis, place in point.coordinates)
    keys = planned.keys[experiment.id, point.coordinates] = []
    for seed in planned.seeds[experiment.id]:
        words = f"{experiment.id} ({where}), seed {seed}"
        cell = planned_cell(digest, scenario, point.remedies, seed, words, observation)
        planned.plan.add(cell)
        keys.append(cell.key)
