"""Runs experiments: every point with every seed as a plan, then the measurements of its runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from airtcp._core import AirtcpError, Scenario
from airtcp.comparison.cells import CellKey
from airtcp.comparison.execute import Executor, execute
from airtcp.comparison.plan import Plan, planned_cell
from airtcp.comparison.store import Store
from airtcp.core.loading import load_scenario
from airtcp.papers.experiment import Coordinates, Experiment, Point, Points, RunExtent
from airtcp.papers.measures import measures_of
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.sampled import PEAKS, WATCHED
from airtcp.papers.unset import without_unset

Progress = Callable[[int, int], object]
"""Called with the number of finished runs, and the total."""


@dataclass
class PlannedExperiments:
    """Experiments as a plan: for each point the keys of its cells, seed by seed.

    `outcomes` has the seeds and the refused points; measurements once the plan has been run.
    """

    plan: Plan = field(default_factory=Plan)
    keys: dict[tuple[str, Coordinates], list[CellKey]] = field(default_factory=dict)
    outcomes: Outcomes = field(default_factory=Outcomes)


def plan_experiments(
    experiments: Sequence[tuple[Path, Experiment]],
    *,
    extent: RunExtent = "full",
    first_seed: int = 1,
    only: Points | None = None,
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
        planned.outcomes.seeds[experiment.id] = tuple(range(first_seed, first_seed + count))
        for point in experiment.points(quick=extent != "full"):
            if only is None or point.coordinates in only.get(experiment.id, ()):
                _plan_point(folder, experiment, point, planned)
    return planned


def carry_out(
    planned: Sequence[PlannedExperiments],
    *,
    out: Path | Store | None = None,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> list[Outcomes]:
    """Runs several plans as one, shared runs only once; returns the outcomes of each.

    Args:
        planned: the plans.
        out: a folder; finished cells are stored in and reused from its folder `cells`. Or the store
            itself.
        jobs: number of parallel runs; None takes the processors this process may use.
        executor: runs the cells; threads by default.
        progress: called at the start and after each run.

    Raises:
        RunError: a run failed.
        OSError: a cell cannot be saved.
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
    for one in planned:
        for place, keys in one.keys.items():
            one.outcomes.measured[place] = [measured[key] for key in keys]
    return [one.outcomes for one in planned]


def scenario_of(folder: Path, point: Point) -> Scenario:
    """The scenario of a point, with its remedies applied.

    Raises:
        ScenarioError: a key, a value or a remedy is wrong.
    """
    written = _written(folder, point)
    return written.with_remedies(point.remedies) if point.remedies else written


def _written(folder: Path, point: Point) -> Scenario:
    """The scenario of a point without its remedies."""
    path = (folder / point.scenario).resolve()
    settings = without_unset(path, point.settings)
    # Whole tables first, so that single keys can change them.
    return load_scenario(path, dict(sorted(settings.items(), key=lambda one: one[0].count("."))))


def _plan_point(
    folder: Path, experiment: Experiment, point: Point, planned: PlannedExperiments
) -> None:
    """Adds a point of an experiment; records it if it is refused."""
    observation = WATCHED if experiment.sampled else PEAKS if experiment.peaks else None
    place = experiment.id, point.coordinates
    written = scenario = _written(folder, point)
    if point.remedies:
        try:
            scenario = written.with_remedies(point.remedies)
        except AirtcpError as error:
            if not experiment.partial:
                raise
            planned.outcomes.refused[place] = str(error)
            return
    digest = written.hash()
    where = ", ".join(f"{axis} {place}" for axis, place in point.coordinates)
    keys = planned.keys[place] = []
    for seed in planned.outcomes.seeds[experiment.id]:
        words = f"{experiment.id} ({where}), seed {seed}"
        cell = planned_cell(digest, scenario, point.remedies, seed, words, observation)
        planned.plan.add(cell)
        keys.append(cell.key)
