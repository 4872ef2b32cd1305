"""Sweeps: a comparison at every combination of some settings, as one table."""

import os
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airtcp._core import ScenarioError
from airtcp.loading import remedy_names
from airtcp.study.comparison_plan import comparison_plan
from airtcp.study.dask import executor_at
from airtcp.study.execute import execute
from airtcp.study.plan import Plan

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


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


def plot_sweep(table: "pl.DataFrame", axis: str | None = None) -> "Figure":
    """The gain of each remedy of a sweep along an axis, with 95 % intervals.

    Args:
        table: what `sweep` returns.
        axis: the horizontal axis; None takes the first with several values. Each combination of the
            others has a panel.

    Raises:
        ScenarioError: the table is not from a sweep, or has no such axis.
    """
    from airtcp.plot.sweep import SweepLines, SweepPanel

    if "remedy" not in table.columns or "difference_percent" not in table.columns:
        raise ScenarioError("table: expected what airtcp.sweep returns")
    axes = table.columns[: table.columns.index("remedy")]
    if axis is None:
        axis = next((one for one in axes if table[one].n_unique() > 1), axes[0] if axes else None)
    if axis not in axes:
        raise ScenarioError(f"axis = {axis!r}: expected one of {', '.join(axes) or 'no axes'}")
    values = table[axis].unique(maintain_order=True).to_list()
    if table[axis].dtype.is_numeric():
        values.sort()
    others = [one for one in axes if one != axis]
    panels = [
        SweepPanel(", ".join(f"{key} = {value}" for key, value in zip(others, at, strict=True)), of)
        for at, of in _panels(table, axis, others, values)
    ]
    return SweepLines(axis, tuple(values), tuple(panels)).figure()


def _panels(
    table: "pl.DataFrame", axis: str, others: list[str], values: list[Any]
) -> list[tuple[tuple[object, ...], Any]]:
    """For each combination of the other axes the lines of its remedies."""
    from airtcp.plot.sweep import SweepLine

    rows: dict[tuple[object, ...], dict[str, dict[int, tuple[float, float]]]] = {}
    for row in table.iter_rows(named=True):
        percent, low = row["difference_percent"], row["ci95_low_percent"]
        if percent is None:
            continue
        panel = rows.setdefault(tuple(row[key] for key in others), {})
        half = 0.0 if low is None else percent - low
        panel.setdefault(row["remedy"], {})[values.index(row[axis])] = (percent, half)
    return [
        (
            at,
            tuple(
                SweepLine(
                    remedy,
                    tuple(sorted(points)),
                    tuple(points[place][0] for place in sorted(points)),
                    tuple(points[place][1] for place in sorted(points)),
                )
                for remedy, points in panel.items()
            ),
        )
        for at, panel in rows.items()
    ]
