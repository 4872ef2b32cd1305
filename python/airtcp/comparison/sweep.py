"""Sweeps: a comparison at every combination of some settings, as one table."""

import os
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airtcp._core import ScenarioError
from airtcp.comparison.comparison_plan import comparison_plan
from airtcp.comparison.dask import executor_at
from airtcp.comparison.execute import execute
from airtcp.comparison.plan import Plan
from airtcp.core.extras import required
from airtcp.core.loading import remedy_names

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
    """Compares remedies at every combination of settings, each with its baseline.

    >>> import airtcp
    >>> table = airtcp.sweep(
    ...     "lossy-pipe", {"link.loss.rate": [0.0, 0.02]}, ["sack"], seeds=2,
    ...     settings={"duration": "2 s"},
    ... )
    >>> table["link.loss.rate"].to_list(), table["remedy"].to_list()
    ([0.0, 0.0, 0.02, 0.02], ['baseline', 'sack', 'baseline', 'sack'])
    >>> figure = airtcp.plot_sweep(table)

    Args:
        scenario: a path, TOML text, or the name of a scenario that comes with airtcp.
        axes: dotted key to its values; all combinations are run.
        remedies: names of remedies, one or several; "a+b" applies two together.
        seeds: number of seeds (1, 2, 3, ...) or the seeds themselves.
        settings: dotted key to value, applied everywhere.
        out: a folder; finished cells are stored in and reused from its folder `cells`.
        jobs: number of parallel runs; None takes the processors this process may use.
        dask: the address of a Dask scheduler; its workers then run the cells.

    Returns:
        One row per combination and remedy: the values of the axes, as numbers if all values of an
        axis are, else as text, then the columns of `Comparison.table`. `plot_sweep` draws it.

    Raises:
        ScenarioError: the scenario, an axis or a remedy is wrong; before anything runs.
        RunError: a run could not be finished; the others are finished and stored first.
        OSError: a cell cannot be stored.
    """
    required("polars")
    import polars as pl

    for key, values in axes.items():
        if isinstance(values, str) or not values:
            raise ScenarioError(f"axis {key} = {values!r}: expected a list of values")
    points = [dict(zip(axes, point, strict=True)) for point in product(*axes.values())]
    typed = {key: _type_of(values) for key, values in axes.items()}
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
            *(pl.lit(typed[key](value)).alias(key) for key, value in point.items()), pl.all()
        )
        for point, comparison in zip(points, planned, strict=True)
    )


def _type_of(values: Sequence[object]) -> Callable[[Any], int | float | str]:
    """The type of an axis: its values are numbers of one kind, or text."""
    if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return int
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return float
    return str
