"""Runs a comparison: rounds or fixed seeds, then the harm to others."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

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

Progress = Callable[[int, int], object]
"""Called with the number of cells finished and the number of all."""


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
    their intervals then hold jointly, as those of a search. It is 0 for remedies not chosen so.
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
            beside=competing.result(run(competing.plan)),
            not_beside=competing.refused,
        )
    elif harm and compared.decisive:
        design = (rounds or Rounds()) if seeds is None else None
        compared = HarmRounds(run, design, budget).measured(compared)
    if horizon and compared.decisive:
        compared = with_horizon(compared, run, budget)
    if not compared.decisive:
        if decides_on_others:
            why = next(iter(compared.not_beside.values()))
            raise RunError(f'metric "{metric}": no remedy has it here: {why}')
        raise RunError(f'metric "{metric}": the runs of this scenario have none{_how(metric)}')
    return compared if store is None else replace(compared, unstored=store.refused)


def _how(metric: str) -> str:
    """How to get a metric that needs probes under load."""
    companions = METRICS[metric].beside
    if not companions:
        return ""
    return f": give --beside {companions[0]}, or flows.beside in the scenario"
