"""Runs a grid in batches, so that its memory hardly grows with the number of its cells.

A batch has whole comparisons, each of a link and a stack. It is planned, run and reduced to the
entries of the result before the next one is planned: a study of a million cells has some thousand
of them in memory, or one comparison's if that has more. Without a store a cell that comparisons of
different batches share is run in each of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean

from airtcp._core import AirtcpError, RunError
from airtcp.comparison.cells import CellKey
from airtcp.comparison.compared import Comparison
from airtcp.comparison.comparison_plan import ComparisonPlan, comparison_plan
from airtcp.comparison.competing import CompetingPlan, competing_plan
from airtcp.comparison.control_counters import means, zero_sentence
from airtcp.comparison.dask import executor_at
from airtcp.comparison.execute import Executor, Progress, Results, execute
from airtcp.comparison.grid import Entry, Grid, GridResult, Setting, combined
from airtcp.comparison.metrics import METRICS, Metric
from airtcp.comparison.own_metric import OwnMetric, metric_of
from airtcp.comparison.plan import Plan
from airtcp.comparison.store import TolerantStore
from airtcp.core.catalogue import BASELINE
from airtcp.core.loading import load_scenario

BATCH_CELLS = 8192
"""Cells from which on a batch gets no further comparison: some ten seconds for eight processors
if a run takes ten milliseconds, and a hundred megabytes while their summaries are compared.
"""


def run_grid(
    grid: Grid,
    seeds: int | None = None,
    out: Path | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    dask: str | None = None,
    metric: str | Metric | OwnMetric | None = None,
) -> GridResult:
    """Runs a grid; cells in `out` are not recomputed.

    Compares `metric`, as `airtcp.compare` takes it; None takes the file's.

    A remedy that does not apply to a link is noted with the core's message and does not stop the
    rest.

    Raises:
        ScenarioError: a link or a stack is wrong; before anything runs.
        RunError: a run could not be finished; the others of its batch are finished first.
        OSError: `out` cannot be made or written.
    """
    decisive = metric_of(grid.metric if metric is None else metric, grid.folder)
    count = seeds or grid.seeds
    batches = _batches(_pairs(grid, decisive.is_of_others), count)
    running = _Running(
        decisive.name,
        count,
        None if out is None else TolerantStore(out / "cells"),
        jobs,
        executor_at(dask),
        None
        if progress is None
        else _OverAll(progress, count * sum(batch.cells for batch in batches)),
    )
    for batch in batches:
        running.run(batch.pairs)
    if not running.baselines:
        companions = METRICS[decisive.name].under_load
        how = f': give --set flows.under_load=["{companions[0]}"]' if companions else ""
        raise RunError(f'metric "{decisive.name}": the runs of this study have none{how}')
    unstored = None if running.store is None else running.store.refused
    return GridResult(
        grid, count, tuple(running.entries), running.baselines, decisive.name, unstored
    )


@dataclass(frozen=True)
class _Pair:
    """A link and a stack, with the remedies that apply there, and why the others do not."""

    link: Setting
    stack: Setting
    remedies: tuple[str, ...]
    """All of the grid's."""
    accepted: tuple[str, ...]
    refused: Mapping[str, str]
    is_of_others: bool
    """Whether runs with an unchanged flow are needed, too."""

    def plan(self, seeds: int) -> tuple[ComparisonPlan, CompetingPlan | None]:
        """Its runs."""
        assert self.link.scenario is not None
        settings = combined(self.link, self.stack)
        where = f"{self.link.name}, {self.stack.name}"
        planned = comparison_plan(self.link.scenario, self.accepted, seeds, settings, where)
        if not self.is_of_others:
            return planned, None
        return planned, competing_plan(planned.scenario, self.accepted, planned.seeds, where)


@dataclass
class _Batch:
    """Pairs that are planned and run together."""

    pairs: list[_Pair] = field(default_factory=list)
    cells: int = 0
    """Cells for each seed: pairs can share some."""


@dataclass
class _Running:
    """The results so far, and everything needed for the rest."""

    metric: str
    seeds: int
    store: TolerantStore | None
    jobs: int | None
    executor: Executor | None
    progress: "_OverAll | None"
    entries: list[Entry] = field(default_factory=list)
    baselines: dict[tuple[str, str], float] = field(default_factory=dict)

    def run(self, pairs: Sequence[_Pair]) -> None:
        """Runs a batch of pairs and adds their entries."""
        plan = Plan()
        planned = [(pair, *pair.plan(self.seeds)) for pair in pairs]
        for _, comparison, competing in planned:
            plan.add_all(comparison.plan)
            if competing:
                plan.add_all(competing.plan)
        results = execute(
            plan,
            out=self.store,
            jobs=self.jobs,
            progress=self.progress,
            executor=self.executor,
        )
        if self.progress:
            self.progress.before += len(plan)
        for pair, comparison, competing in planned:
            self._add(pair, comparison, competing, results)

    def _add(
        self,
        pair: _Pair,
        planned: ComparisonPlan,
        competing: CompetingPlan | None,
        results: Results,
    ) -> None:
        compared = planned.result(results, self.metric)
        refused = dict(pair.refused)
        if competing:
            compared = replace(compared, competing=competing.result(results))
            refused |= competing.refused
        runs = compared.runs_for(self.metric).get(BASELINE, [])
        known = [value for run in runs if (value := METRICS[self.metric].of(run)) is not None]
        names = pair.link.name, pair.stack.name
        if known:
            self.baselines[names] = fmean(known)
        for remedy in pair.remedies:
            if remedy in refused:
                self.entries.append(Entry(*names, remedy, refusal=refused[remedy]))
            else:
                self.entries.append(_entry(*names, remedy, compared))


class _OverAll:
    """Progress over all batches, of which each reports its cells."""

    def __init__(self, report: Progress, cells: int) -> None:
        self._report, self._cells = report, cells
        self.before = 0
        """Cells of the batches before."""

    def __call__(self, done: int, cells: int, words: str) -> None:
        self._report(self.before + done, self._cells, words)


def _pairs(grid: Grid, is_of_others: bool) -> Iterator[_Pair]:
    """Every link with every stack, in the order of the file."""
    for link in grid.links:
        for stack in grid.stacks:
            accepted, refused = _applicable(link, stack, grid.remedies)
            yield _Pair(link, stack, grid.remedies, accepted, refused, is_of_others)


def _applicable(
    link: Setting, stack: Setting, remedies: Sequence[str]
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The remedies that apply to the link, and why the others do not."""
    assert link.scenario is not None
    scenario = load_scenario(link.scenario, combined(link, stack))
    accepted: list[str] = []
    refused: dict[str, str] = {}
    for remedy in remedies:
        try:
            scenario.with_remedies(remedy)
        except AirtcpError as error:
            refused[remedy] = str(error)
        else:
            accepted.append(remedy)
    return tuple(accepted), refused


def _batches(pairs: Iterable[_Pair], seeds: int) -> list[_Batch]:
    """Pairs in batches of some `BATCH_CELLS` cells; every pair is planned once, to count them.

    Raises:
        ScenarioError: one cannot be planned.
    """
    batches: list[_Batch] = []
    keys: set[CellKey] = set()
    for pair in pairs:
        if not batches or seeds * batches[-1].cells >= BATCH_CELLS:
            batches.append(_Batch())
            keys.clear()
        batches[-1].pairs.append(pair)
        keys.update(cell.key for plan in pair.plan(1) if plan for cell in plan.plan)
        batches[-1].cells = len(keys)
    return batches


def _entry(link: str, stack: str, remedy: str, comparison: Comparison) -> Entry:
    by = comparison.differences[remedy]
    counts = {"radio": [0, 0], "congestion": [0, 0]}
    for cell in comparison.finished:
        if cell.key.remedy != remedy:
            continue
        for flow in cell.summary["flows"]:
            counts["radio"][0] += flow["loss_events_of_radio"]
            counts["radio"][1] += flow["loss_events_of_radio_judged_right"]
            counts["congestion"][0] += flow["loss_events_of_congestion"]
            counts["congestion"][1] += flow["loss_events_of_congestion_judged_right"]
    (radio, radio_right), (congestion, congestion_right) = counts.values()
    return Entry(
        link,
        stack,
        remedy,
        fmean(comparison.values(remedy, "goodput_bps")),
        comparison.decisive.get(remedy),
        by["timeouts"],
        radio,
        radio_right / radio if radio else None,
        congestion,
        congestion_right / congestion if congestion else None,
        counters=means(comparison.summaries[remedy]),
        warning=zero_sentence(remedy, comparison.summaries[remedy]) or "",
    )
