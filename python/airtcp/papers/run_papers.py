"""Runs papers under their default readings and others, and judges their claims."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from airtcp.comparison.dask import executor_at
from airtcp.comparison.execute import Executor
from airtcp.comparison.store import Store
from airtcp.papers.carry_out import PlannedExperiments, carry_out, plan_experiments
from airtcp.papers.cross import load_cross
from airtcp.papers.experiment import Experiment, Points, RunExtent
from airtcp.papers.judge_readings import ToRun, judge_over_readings
from airtcp.papers.judgement import Judgement
from airtcp.papers.load import find_papers, load_papers
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.paper import Paper
from airtcp.papers.used import points_used

SEED_SETS_APART = 10_000
"""Distance between the first seeds of consecutive sets; no experiment has as many."""
FRESH_SEEDS_APART = SEED_SETS_APART // 2
"""Offset of the seeds for re-evaluating readings from the first of their set."""

Progress = Callable[[float, str], object]
"""Called with the finished share, and the current step."""


def run(
    papers: Sequence[str] | None = None,
    *,
    quick: bool = False,
    cross: bool = True,
    first_seed: int = 1,
    seed_sets: int = 1,
    readings: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    progress: Progress | None = None,
) -> Judgement:
    """Runs papers and judges their claims, as `airtcp papers` does.

    >>> import airtcp
    >>> judged = airtcp.papers.run(["performance-anomaly"], quick=True, readings=0)
    >>> {one.claim.id: str(one.verdict) for one in judged.all_claims}["6c"]
    'reproduced'

    Args:
        papers: names or numbers; None means all of them.
        quick: whether to use fewer seeds and shorter runs.
        cross: whether to run every remedy on every scenario too, if `papers` is None and the folder
            has a `cross.toml`.
        first_seed: the first seed.
        seed_sets: number of disjoint sets of seeds to judge; the figures are of the first.
        readings: maximum number of readings of each paper to judge in addition to the default; None
            runs the whole grid where it is cheap, else every departure at one point and the joint
            readings that the paper names; a quick run judges only the default.
        folder: the folder of papers; None takes airtcp's.
        out: a folder; finished runs are stored in and reused from its folder `cells`.
        jobs: number of parallel runs; None takes the processors this process may use.
        dask: the address of a Dask scheduler; its workers then make the runs.
        progress: called as the work goes on.

    Raises:
        ScenarioError: a name, a scenario, a remedy or a paper's file is wrong.
        RunError: a run failed.
        AirtcpError: no Dask scheduler answers.
        OSError: a finished run cannot be stored.
    """
    where = find_papers() if folder is None else Path(folder)
    chosen = load_papers(where, papers)
    across = load_cross(where) if cross and papers is None else None
    store = None if out is None else Store(Path(out) / "cells")
    runs = _Runs(quick, store, jobs, executor_at(dask))
    steps = _Steps(len(chosen) * seed_sets * 2 + (1 if across else 0), progress)
    most = 0 if quick and readings is None else readings

    found = Judgement(chosen, across, quick)
    for number in range(seed_sets):
        seed = first_seed + number * SEED_SETS_APART
        for paper in chosen:
            name = f"paper {paper.about.number}"
            outcomes = runs.default(paper, seed, steps.next(name, "runs"))
            judged, over = judge_over_readings(
                paper,
                outcomes,
                partial(runs.read_otherwise, paper, seed),
                most,
                told=steps.next(name, "readings"),
            )
            if number == 0:
                found.outcomes[paper.name] = outcomes
                found.claims[paper.name] = judged
                found.readings[paper.name] = over
                continue
            for one in judged:
                found.sets.setdefault(one.claim.id, []).append(one.outcome)
    if across is not None:
        told = steps.next("all remedies on all scenarios", "runs")
        found.cross_outcomes = runs.across(where, across.experiment(quick=quick), first_seed, told)
    return found


@dataclass(frozen=True)
class _Runs:
    """Runs the experiments of papers; runs found in the store are not repeated."""

    quick: bool
    store: Store | None
    jobs: int | None
    executor: Executor | None

    def default(self, paper: Paper, seed: int, told: Callable[[int, int], None]) -> Outcomes:
        """Every experiment under the default reading, at all points that are used."""
        extent: RunExtent = "quick" if self.quick else "full"
        used = points_used(paper, quick=self.quick)
        whole = _planned(paper, paper.file.experiments, used, extent, seed)
        (found,) = self._carry_out([whole], told)
        return found

    def read_otherwise(
        self, paper: Paper, seed: int, readings: Sequence[ToRun], *, fresh: bool = False
    ) -> list[Outcomes]:
        """The experiments of several readings; see `judge_readings.Run`."""
        extent: RunExtent = "quick" if self.quick else "fresh" if fresh else "few"
        first = seed + (FRESH_SEEDS_APART if fresh else 0)
        return self._carry_out([_planned(paper, *one, extent, first) for one in readings])

    def across(
        self, folder: Path, whole: Experiment, seed: int, told: Callable[[int, int], None]
    ) -> Outcomes:
        """Every remedy on every scenario."""
        extent: RunExtent = "quick" if self.quick else "full"
        planned = plan_experiments([(folder, whole)], extent=extent, first_seed=seed)
        (found,) = self._carry_out([planned], told)
        return found

    def _carry_out(
        self,
        planned: Sequence[PlannedExperiments],
        told: Callable[[int, int], None] | None = None,
    ) -> list[Outcomes]:
        return carry_out(
            planned, out=self.store, jobs=self.jobs, executor=self.executor, progress=told
        )


def _planned(
    paper: Paper, experiments: Sequence[Experiment], only: Points, extent: RunExtent, seed: int
) -> PlannedExperiments:
    own = [(paper.folder, experiment) for experiment in experiments]
    return plan_experiments(own, extent=extent, first_seed=seed, only=only)


class _Steps:
    """Reports the finished share of all steps."""

    def __init__(self, steps: int, progress: Progress | None) -> None:
        self._steps = steps
        self._progress = progress
        self._begun = -1

    def next(self, what: str, of: str) -> Callable[[int, int], None]:
        """Begins the next step; the returned function is called as it goes on."""
        self._begun += 1
        begun = self._begun

        def told(done: int, all_of_them: int) -> None:
            if self._progress:
                share = (begun + done / max(1, all_of_them)) / self._steps
                self._progress(share, f"{what}, {done} of {all_of_them} {of}")

        return told
