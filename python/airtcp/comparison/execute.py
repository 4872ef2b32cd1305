"""Execution: runs every cell of a plan once, in threads of the core, except stored cells."""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Protocol

from airtcp import _core
from airtcp._core import AirtcpError, RunError
from airtcp.comparison.cells import Cell, CellKey
from airtcp.comparison.control_counters import cell_summary
from airtcp.comparison.plan import Plan, PlannedCell
from airtcp.comparison.store import Store

Progress = Callable[[int, int, str], object]
"""Called with the number of finished cells, the total, and a description of the last one."""

Finished = Callable[[PlannedCell, str], object]
"""Takes a finished cell and its summary as JSON."""

Results = Mapping[CellKey, Cell]
"""Every cell of a plan by its key."""

_AT_ONCE = 2048
"""Batch size for the core, which holds all results of a batch until the last is finished."""


class Executor(Protocol):
    """A runner of cells: threads here, or any other implementation.

    Calls `finished` in the calling thread, once for each cell that could be run, in any order; an
    exception from it ends everything. Returns the failed cells, each with its error.
    """

    def __call__(  # noqa: D102
        self, cells: Sequence[PlannedCell], finished: Finished
    ) -> list[tuple[PlannedCell, AirtcpError]]: ...


def execute(
    plan: Plan,
    *,
    out: Path | Store | None = None,
    known: Results | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Results:
    """Runs the cells of a plan that `out` does not hold yet, and returns all of them.

    Args:
        plan: the cells to run.
        out: a folder; finished cells are stored in and reused from its folder `cells`. Or the store
            itself, for several plans: its index is then read once.
        known: cells of earlier plans, which are not rerun.
        jobs: number of parallel runs; None takes the processors this process may use.
        progress: called at the start and after each cell.
        executor: runs the cells; threads by default.

    Raises:
        RunError: a cell could not be finished; the others are finished and stored first.
        StoreError: a cell cannot be stored.
    """
    store = Store(out / "cells") if isinstance(out, Path) else out
    results: dict[CellKey, Cell] = {
        cell.key: known[cell.key] for cell in plan if known and cell.key in known
    }
    if store:
        results |= store.find(cell.key for cell in plan if cell.key not in results)
    missing = [cell for cell in plan if cell.key not in results]
    found, kept = len(results), store.kept if store else 0
    if progress:
        progress(len(results), len(plan), "")

    def finished(planned: PlannedCell, summary: str) -> None:
        cell = Cell(planned.key, summary)
        results[planned.key] = cell
        if store:
            store.put(cell)
        if progress:
            progress(len(results), len(plan), planned.words)

    try:
        failed = (executor or Threads(jobs or processors()))(missing, finished)
    except BaseException:
        # Ctrl-C keeps all finished cells, including those not yet reported to the caller.
        if store:
            store.flush()
            if progress:
                progress(found + store.kept - kept, len(plan), "")
        raise
    if store:
        store.flush()
    if failed:
        planned, error = failed[0]
        more = f" ({len(failed)} runs failed in all)" if len(failed) > 1 else ""
        raise RunError(f"{planned.words}: {error}{more}") from error.__cause__
    return results


class Threads:
    """Runs cells in threads of this process."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __call__(
        self, cells: Sequence[PlannedCell], finished: Finished
    ) -> list[tuple[PlannedCell, AirtcpError]]:
        """See `Executor`."""
        observed = [cell for cell in cells if cell.observation]
        plain = [cell for cell in cells if not cell.observation]
        compiled = [cell for cell in plain if not cell.scenario.runs_in_python]
        in_python = [cell for cell in plain if cell.scenario.runs_in_python]
        return [
            *self._observe(observed, finished),
            *self._run(compiled, finished),
            *_run_in_python(in_python, finished),
        ]

    def _run(
        self, cells: Sequence[PlannedCell], finished: Finished
    ) -> list[tuple[PlannedCell, AirtcpError]]:
        failed: list[tuple[PlannedCell, AirtcpError]] = []
        for begin in range(0, len(cells), _AT_ONCE):
            batch = cells[begin : begin + _AT_ONCE]
            results = _core.run_many(
                [(cell.scenario, cell.key.seed) for cell in batch],
                self._count,
                partial(_told, batch, finished),
            )
            failed += [
                (cell, result)
                for cell, result in zip(batch, results, strict=True)
                if isinstance(result, RunError)
            ]
        return failed

    def _observe(
        self, cells: Sequence[PlannedCell], finished: Finished
    ) -> list[tuple[PlannedCell, AirtcpError]]:
        """Runs cells by their observation; the core releases the GIL while it runs."""
        failed: list[tuple[PlannedCell, AirtcpError]] = []
        if not cells:
            return failed
        pool = ThreadPoolExecutor(self._count)
        try:
            running = {pool.submit(_observed, cell): cell for cell in cells}
            for future in as_completed(running):
                try:
                    summary = future.result()
                except AirtcpError as error:
                    failed.append((running[future], error))
                else:
                    finished(running[future], summary)
        finally:
            # Not waited for: after an exception the runs in flight end by themselves.
            pool.shutdown(wait=False, cancel_futures=True)
        return failed


def _run_in_python(
    cells: Sequence[PlannedCell], finished: Finished
) -> list[tuple[PlannedCell, AirtcpError]]:
    """Runs cells with a control in Python, one after the other: they share one interpreter."""
    failed: list[tuple[PlannedCell, AirtcpError]] = []
    for cell in cells:
        try:
            summary = cell_summary(_core.run(cell.scenario, cell.key.seed))
        except AirtcpError as error:
            failed.append((cell, error))
        else:
            finished(cell, summary)
    return failed


def processors() -> int:
    """Processors available to this process; in a container fewer than the machine has."""
    return len(os.sched_getaffinity(0))


def _observed(cell: PlannedCell) -> str:
    assert cell.observation is not None
    return cell.observation.run(cell.scenario, cell.key.seed)


def _told(
    cells: Sequence[PlannedCell], finished: Finished, index: int, result: _core.RunResult
) -> None:
    finished(cells[index], cell_summary(result))
