"""Execution: every cell of a plan run once, in threads of the core; what is stored is not run."""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Protocol

from airtcp import _core
from airtcp._core import AirtcpError, RunError
from airtcp.study.cells import Cell, CellKey
from airtcp.study.plan import Plan, PlannedCell
from airtcp.study.store import Store

Progress = Callable[[int, int, str], object]
"""Called with the number of cells finished, the number of all, and what the last one was."""

Finished = Callable[[PlannedCell, str], object]
"""Takes a finished cell and its summary as JSON."""

Results = Mapping[CellKey, Cell]
"""Every cell of a plan by its key."""

_AT_ONCE = 2048
"""Runs in one batch for the core: it holds all of their results until the last is finished."""


class Executor(Protocol):
    """A runner of cells: threads here, or any other implementation.

    Calls `finished` in the calling thread, once for each cell that could be run, in any order; an
    exception from it ends everything. Returns the cells that failed, each with its error.
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
        plan: what to run.
        out: a folder; finished cells are kept in its folder `cells`, and found there again. Or the
            store itself, for several plans: its index is then read once.
        known: cells of earlier plans, which are not run again.
        jobs: runs at the same time; None takes the processors this process may use.
        progress: called at the start and after each cell.
        executor: what runs them; threads by default.

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
        # After Ctrl-C too what is finished is kept, also what was not told before it came.
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
        raise RunError(f"{planned.words}: {error}{more}")
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
        return [*self._observe(observed, finished), *self._run(plain, finished)]

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
        """Runs cells by their observation; the core lets go of the interpreter while it runs."""
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


def processors() -> int:
    """The processors this process may use, which in a container are fewer than there are."""
    return len(os.sched_getaffinity(0))


def _observed(cell: PlannedCell) -> str:
    assert cell.observation is not None
    return cell.observation.run(cell.scenario, cell.key.seed)


def _told(
    cells: Sequence[PlannedCell], finished: Finished, index: int, result: _core.RunResult
) -> None:
    finished(cells[index], result.summary())
