"""Sweeps: a comparison at every combination of some settings, as one table."""

import os
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from airtcp._core import ScenarioError
from airtcp.loading import remedy_names
from airtcp.study.comparison_plan import comparison_plan
from airtcp.study.dask import executor_at
from airtcp.study.execute import execute
from airtcp.study.plan import Plan

if TYPE_CHECKING:
    import polars as pl


def sweep(
    scenario: str | os.PathLike[str],
    axes: Mapping[str, Sequence[object]],
    remedies: Sequence[str] | str,
    seeds: int | Sequence[int] = 10,
    settings: Mapping[str, object] | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    dask: str | None = None,
) -> "pl.DataFrame":
    """Compares remedies at every combination of settings, each with its own baseline.

    >>> import airtcp
    >>> table = airtcp.sweep(
    ...     "lossy-pipe", {"link.loss.rate": [0.0, 0.02]}, ["sack"], seeds=2,
    ...     settings={"duration": "2 s"},
    ... )
    >>> table["link.loss.rate"].to_list(), table["remedy"].to_list()
    (['0.0', '0.0', '0.02', '0.02'], ['baseline', 'sack', 'baseline', 'sack'])

    Args:
        scenario: a path, TOML text, or the name of a scenario that comes with airtcp.
        axes: dotted key to the values it takes; all combinations are run.
        remedies: what to compare, one or several; "a+b" applies two together.
        seeds: their number (1, 2, 3, ...) or the seeds themselves.
        settings: dotted key to value, applied everywhere.
        out: a folder; finished cells are kept in its folder `cells`, and found there again.
        jobs: runs at the same time; None takes the processors this process may use.
        dask: the address of a Dask scheduler, whose workers then run the cells.

    Returns:
        A row a combination and remedy: the values of the axes as text, then the columns of
        `Comparison.table`.

    Raises:
        ScenarioError: the scenario, an axis or a remedy is wrong; before anything runs.
        RunError: a run could not be finished; the others are finished and stored first.
        OSError: a cell cannot be saved.
    """
    import polars as pl

    for key, values in axes.items():
        if isinstance(values, str) or not values:
            raise ScenarioError(f"axis {key} = {values!r}: expected a list of values")
    points = [dict(zip(axes, point, strict=True)) for point in product(*axes.values())]
    names = remedy_names(remedies)
    planned = [
        comparison_plan(
            scenario,
            names,
            seeds,
            {**(settings or {}), **point},
            ", ".join(f"{key} = {value}" for key, value in point.items()),
        )
        for point in points
    ]
    plan = Plan()
    for comparison in planned:
        plan.add_all(comparison.plan)
    results = execute(
        plan, out=None if out is None else Path(out), jobs=jobs, executor=executor_at(dask)
    )
    return pl.concat(
        comparison.result(results).table.select(
            *(pl.lit(str(value)).alias(key) for key, value in point.items()), pl.all()
        )
        for point, comparison in zip(points, planned, strict=True)
    )
