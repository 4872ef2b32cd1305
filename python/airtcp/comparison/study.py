"""Studies: plans of runs, their execution, the store of finished cells, and statistics.

>>> import airtcp
>>> result = airtcp.study.run("classifiers", seeds=1)  # doctest: +SKIP
>>> result.table()  # doctest: +SKIP
"""

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from airtcp.comparison.grid import GridResult
    from airtcp.comparison.metrics import Metric
    from airtcp.comparison.own_metric import OwnMetric
    from airtcp.core.bpf import Own


def run(
    file: str | os.PathLike[str],
    seeds: int | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    metric: "str | Metric | OwnMetric | None" = None,
    bpf: "Own" = None,
) -> "GridResult":
    """Runs a study: every remedy of its file on every link and stack.

    Args:
        file: a path, or the name of a study that comes with airtcp.
        seeds: number of seeds; None takes the file's.
        out: a folder; finished cells are stored in and reused from its folder `cells`.
        jobs: number of parallel runs; None takes the processors this process may use.
        dask: the address of a Dask scheduler; its workers then run the cells.
        metric: the metric to compare, as `airtcp.compare` takes it; None takes the file's.
        bpf: a congestion control for the kernel's BPF, `my.bpf.o` or `my.bpf.c`, as one more
            remedy.

    Raises:
        ScenarioError: the file, a link or a stack is wrong; before anything runs.
        RunError: a run could not be finished.
        OSError: the file cannot be read, or `out` not be written.
    """
    from airtcp.comparison.grid import load_grid
    from airtcp.comparison.grid_run import run_grid
    from airtcp.core.bpf import with_own
    from airtcp.core.shipped import find

    grid = load_grid(find(file, "studies") if isinstance(file, str) else Path(file))
    grid = replace(grid, remedies=with_own(grid.remedies, bpf))
    return run_grid(grid, seeds, None if out is None else Path(out), jobs, dask=dask, metric=metric)
