"""`airtcp.compare`: rounds or fixed seeds of every remedy, then the harm to others."""

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from airtcp._core import RunError, Scenario
from airtcp.comparison.budget import Budget
from airtcp.comparison.cells import Cell, CellKey
from airtcp.comparison.compared import Comparison
from airtcp.comparison.comparison_plan import ComparisonPlan, comparison_plan
from airtcp.comparison.competing import competing_plan
from airtcp.comparison.dask import executor_at
from airtcp.comparison.everything import ALL
from airtcp.comparison.execute import Results, execute
from airtcp.comparison.harm_rounds import HarmRounds
from airtcp.comparison.horizon import with_horizon
from airtcp.comparison.metrics import METRICS, Metric
from airtcp.comparison.own_metric import OwnMetric, metric_of
from airtcp.comparison.plan import Plan
from airtcp.comparison.ranking import SMALLEST_PERCENT
from airtcp.comparison.ranking.askers import parse_askers
from airtcp.comparison.room import with_room
from airtcp.comparison.rounds import in_rounds
from airtcp.comparison.sequential import Rounds
from airtcp.comparison.statistics import ERROR
from airtcp.comparison.store import TolerantStore
from airtcp.core.loading import remedy_names
from airtcp.core.notebook_progress import notebook_progress

if TYPE_CHECKING:
    from airtcp.core.bpf import Own
    from airtcp.core.control import Factory

Progress = Callable[[int, int], object]
"""Called with the number of cells finished and the number of all."""


class UnstoredWarning(UserWarning):
    """Finished runs could not be stored: the disk is full."""


def compare(
    scenario: Scenario | str | os.PathLike[str],
    remedies: Sequence[str] | str = (ALL,),
    seeds: int | Sequence[int] | None = None,
    settings: Mapping[str, object] | None = None,
    *,
    bpf: "Own" = None,
    control: "Factory | Sequence[Factory] | None" = None,
    metric: str | Metric | OwnMetric = "goodput",
    can: str = "all",
    smallest: float = SMALLEST_PERCENT,
    rounds: Rounds | None = None,
    harm: bool = False,
    horizon: bool = False,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Runs a scenario as written and with each remedy, all on the same seeds.

    Args:
        scenario: a path, TOML text, or a `Scenario` (see `load_scenario`).
        remedies: names of remedies, one or several; "a+b" applies two together. None takes every
            remedy that applies to the link, with intervals that hold jointly.
        seeds: number of seeds (1, 2, 3, ...) or the seeds themselves. None runs rounds until the
            answer is decided.
        settings: dotted key to value, applied to every cell.
        bpf: a congestion control for the kernel's BPF, `my.bpf.o` or `my.bpf.c`, as one more
            remedy; alone where no other is named.
        control: congestion controls in Python, one class or several with the methods of
            `airtcp.Control`, as further remedies. They run one after the other, in this process,
            and are not stored: a class has no content by which a stored run could be found.
        metric: the metric that ranks the remedies: one of `airtcp.comparison.metrics.METRICS`, or a
            function of a run's summary (more is better); an `airtcp.comparison.metrics.Metric` can
            define the opposite, and a unit.
        can: what you may change, one or several with commas of `my-machine`, `server`,
            `access-point`, `sender`, `receiver`, `all`: the best of a search is the best deployable
            one.
        smallest: the smallest effect worth having, in per cent: a smaller one is excluded.
        rounds: the bounds of the rounds if `seeds` is None.
        harm: whether to measure the remedies' cost to others too, by runs in which an unchanged
            flow competes with one that has the remedy. In a search, for remedies worth a row; in
            rounds, on more seeds until the best remedy's harm is decided.
        horizon: whether to run the best remedy longer, too, to show whether its gain lasts.
        out: a folder; finished cells are stored in and reused from its folder `cells`.
        jobs: number of parallel runs; None takes the processors this process may use.
        dask: the address of a Dask scheduler; its workers then run the cells.
        progress: called at the start and after each cell. None shows a bar in a Jupyter notebook.

    Raises:
        ScenarioError: the scenario, a setting or a remedy is wrong; before anything runs.
        RunError: a cell could not be finished; the others are finished and saved first.
        OSError: `out` cannot be created or written. If it is full later, the comparison has the
            error as `unstored`, with a warning.
    """
    names = remedy_names(remedies)
    if bpf is not None:
        from airtcp.core.bpf import with_own

        names = list(with_own([name for name in names if name != ALL], bpf))
    if control is not None:
        from airtcp.core.registered import refuse_elsewhere
        from airtcp.core.registered import remedies as control_remedies

        refuse_elsewhere(out=out, dask=dask)
        names = [*(name for name in names if name != ALL), *control_remedies(control)]
    compared = run_comparison(
        scenario,
        names,
        seeds,
        settings,
        metric=metric,
        can=can,
        smallest=smallest,
        rounds=rounds,
        harm=harm,
        horizon=horizon,
        out=out,
        jobs=jobs,
        dask=dask,
        progress=progress or notebook_progress(),
    )
    if compared.unstored is not None:
        warnings.warn(f"{compared.unstored}", UnstoredWarning, stacklevel=2)
    return compared


def run_comparison(
    scenario: Scenario | str | os.PathLike[str],
    remedies: Sequence[str] = (ALL,),
    seeds: int | Sequence[int] | None = None,
    settings: Mapping[str, object] | None = None,
    *,
    metric: str | Metric | OwnMetric = "goodput",
    can: str = "all",
    smallest: float = SMALLEST_PERCENT,
    rounds: Rounds | None = None,
    harm: bool = False,
    horizon: bool = False,
    chosen_from: int = 0,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Runs a scenario as written and with each remedy; see `airtcp.compare`.

    `chosen_from` is the number of settings from which the remedies were chosen, on other seeds:
    their intervals then hold jointly, as in a search. It is 0 for remedies not chosen so.
    """
    decisive = metric_of(metric)
    metric, decides_on_others = decisive.name, decisive.is_of_others
    parse_askers(can)
    store = None if out is None else TolerantStore(Path(out) / "cells")
    budget = Budget((rounds or Rounds()).most_cpu_s) if seeds is None else Budget()
    done: dict[CellKey, Cell] = {}

    def run(plan: Plan) -> Results:
        before = sum(cell.key not in done for cell in plan)
        earlier = len(done)

        def told(finished: int, cells: int, _: str) -> None:
            if progress:
                # Counts only the cells of this plan that no earlier plan had.
                progress(earlier + finished - (cells - before), earlier + before)
            budget.check()

        results = execute(
            plan, out=store, known=done, jobs=jobs, executor=executor_at(dask), progress=told
        )
        done.update(results)
        return results

    def outcome(planned: ComparisonPlan, error: float = ERROR) -> Comparison:
        compared = planned.result(run(planned.plan), "goodput" if decides_on_others else metric)
        compared = replace(compared, can=can, smallest=smallest, error=error)
        if chosen_from:
            compared = replace(compared, is_search=True, chosen_from=chosen_from)
        return compared if decides_on_others else with_room(compared, scenario, settings, run)

    def planned_for(number: int | Sequence[int]) -> ComparisonPlan:
        return comparison_plan(scenario, remedies, number, settings)

    if seeds is None:
        compared = in_rounds(planned_for, outcome, rounds or Rounds(), budget)
    else:
        compared = outcome(planned_for(seeds))
    if decides_on_others and compared.decisive:
        competing = competing_plan(compared.scenario, compared.remedies[1:], compared.seeds)
        compared = replace(
            compared,
            metric=metric,
            competing=competing.result(run(competing.plan)),
            not_competing=competing.refused,
        )
    elif harm and compared.decisive:
        design = (rounds or Rounds()) if seeds is None else None
        compared = HarmRounds(run, design, budget).measured(compared)
    if horizon and compared.decisive:
        compared = with_horizon(compared, run, budget)
    if not compared.decisive:
        if decides_on_others:
            why = next(iter(compared.not_competing.values()))
            raise RunError(f'metric "{metric}": no remedy has it here: {why}')
        raise RunError(f'metric "{metric}": the runs of this scenario have none{_how(metric)}')
    return compared if store is None else replace(compared, unstored=store.refused)


def _how(metric: str) -> str:
    """How to get a metric that needs probes under load."""
    companions = METRICS[metric].under_load
    if not companions:
        return ""
    return f": give --under-load {companions[0]}, or flows.under_load in the scenario"
