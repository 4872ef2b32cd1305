"""The figure of a sweep, from its table."""

from typing import TYPE_CHECKING, Any

from airtcp._core import ScenarioError

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


def plot_sweep(table: "pl.DataFrame", axis: str | None = None) -> "Figure":
    """The gain of each remedy of a sweep along an axis, with 95 % intervals.

    Args:
        table: the result of `sweep`.
        axis: the horizontal axis; None takes the first with several values. Each combination of the
            others has a panel.

    Raises:
        ScenarioError: the table is not from a sweep, or has no such axis.
    """
    from airtcp.pages.plot.sweep import SweepLines, SweepPanel

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
    from airtcp.pages.plot.sweep import SweepLine

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
