"""Execution on many machines: an executor that hands cells to the workers of a Dask cluster.

The plan, the store and the keys are as on a single machine: a study can be started with Dask and
continued without it, and vice versa. Workers need the same version of airtcp, and no files: a
scenario carries its recordings.

The scheduler's memory does not depend on the cells' results: it has a few tasks for each thread of
a worker, each of many cells, and results go from the workers to this process without passing it. It
logs the last thousand messages to each worker (`distributed.admin.low-level-log-length`), and with
them their cells, which are therefore compressed.
"""

import re
import time
import zlib
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from airtcp import _core
from airtcp._core import AirtcpError, RunError, Scenario, ScenarioError
from airtcp.comparison.control_counters import cell_summary
from airtcp.comparison.execute import Executor, Finished
from airtcp.comparison.plan import Observation, PlannedCell
from airtcp.core.extras import required

TASK_S = 2.0
"""Minimum run time of a task, in seconds: with less, Dask's overhead shows."""
_FIRST_CELLS = 4
_MAX_CELLS = 4096
_TASKS_A_THREAD = 2
"""Queued tasks per worker thread: enough to keep it busy, few enough to rebalance."""

_Work = tuple[Scenario, int, Observation | None]


class Dask:
    """Runs cells on a cluster; `address` is its scheduler's, such as tcp://10.0.0.1:8786.

    The number of cells of a task is learned from the first ones, and kept for later calls.

    Raises:
        AirtcpError: no scheduler answers.
        ModuleNotFoundError: distributed is not installed.
    """

    def __init__(self, address: str, timeout_s: float = 10.0) -> None:
        self._size = _FIRST_CELLS
        required("distributed")
        from distributed import Client

        try:
            # Results pass the scheduler only if this process cannot reach a worker.
            self._client: Client = Client(
                address, timeout=timeout_s, set_as_default=False, direct_to_workers=True
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise AirtcpError(f"no Dask scheduler answers at {address}: {error}") from error

    def __call__(
        self, cells: Sequence[PlannedCell], finished: Finished
    ) -> list[tuple[PlannedCell, AirtcpError]]:
        """See `Executor`."""
        from distributed import as_completed

        waiting = deque(cells)
        failed: list[tuple[PlannedCell, AirtcpError]] = []
        running: dict[Any, list[PlannedCell]] = {}
        done = as_completed([], loop=self._client.loop)

        def hand_out() -> None:
            threads = sum(self._client.nthreads().values()) or 1
            while waiting and len(running) < _TASKS_A_THREAD * threads:
                # The last tasks are short, so that no thread waits long for another's.
                share = -(-len(waiting) // (_TASKS_A_THREAD * threads))
                batch = [waiting.popleft() for _ in range(min(self._size, share))]
                work = packed((cell.scenario, cell.key.seed, cell.observation) for cell in batch)
                # A cell is a pure function: a worker that dies costs only time.
                future = self._client.submit(run_cells, work, pure=False, retries=3)
                running[future] = batch
                done.add(future)

        try:
            hand_out()
            for future in done:
                batch = running.pop(future)
                try:
                    seconds, results = future.result()
                except Exception as error:
                    reason = RunError(f"on the cluster: {error}")
                    failed += [(cell, reason) for cell in batch]
                else:
                    for cell, (summary, trouble) in zip(batch, results, strict=True):
                        if summary is None:
                            failed.append((cell, RunError(trouble)))
                        else:
                            finished(cell, summary)
                    each = max(seconds / len(batch), 1e-6)
                    self._size = min(max(round(TASK_S / each), 1), _MAX_CELLS)
                hand_out()
        except BaseException:
            self._client.cancel(list(running))
            raise
        return failed


def executor_at(address: str | None) -> Executor | None:
    """The executor for a Dask scheduler's address; without one None, which means threads.

    Raises:
        ScenarioError: not an address.
        AirtcpError: Dask is not installed, or no scheduler answers.
    """
    if address is None:
        return None
    if not _ADDRESS.fullmatch(address):
        raise ScenarioError(
            f"dask {address}: expected the address of a scheduler, such as tcp://10.0.0.1:8786, "
            "which `dask scheduler` prints; on this machine alone runs share its processors "
            "without Dask"
        )
    return Dask(address)


_ADDRESS = re.compile(r"([a-z]+://)?[^\s/]+:[0-9]{1,5}")


def packed(work: Iterable[_Work]) -> bytes:
    """Cells for a worker, compressed: a study's scenarios differ in few bytes."""
    from distributed.protocol import pickle

    return zlib.compress(pickle.dumps(list(work)), level=1)


def run_cells(work: bytes) -> tuple[float, list[tuple[str | None, str]]]:
    """Runs packed cells one after another; returns the seconds, and each summary or error."""
    from distributed.protocol import pickle

    cells: Sequence[_Work] = pickle.loads(zlib.decompress(work))
    begun = time.monotonic()
    results: list[tuple[str | None, str]] = []
    for scenario, seed, observation in cells:
        try:
            if observation:
                results.append((observation.run(scenario, seed), ""))
            else:
                results.append((cell_summary(_core.run(scenario, seed)), ""))
        except AirtcpError as error:
            results.append((None, str(error)))
    return time.monotonic() - begun, results
