"""Tables of the core as columns for the page.

Plain lists from the start: a stretch has few rows, and a query would cost more than its result.
"""

from collections.abc import Collection

import polars as pl

Columns = dict[str, list[float | None]]


def columns_of(samples: pl.DataFrame, flow: int, flows: int) -> Columns:
    """The samples of one flow, reals to three decimals: more are not visible.

    At each instant all flows are sampled, in order.
    """
    columns: Columns = {}
    for column in samples.iter_columns():
        if column.name != "flow":
            values = column.to_list()[flow::flows]
            is_real = column.dtype == pl.Float64
            columns[column.name] = (
                [None if value is None else round(value, 3) for value in values]
                if is_real
                else values
            )
    return columns


def events_of(
    events: pl.DataFrame, flow: int, kinds: Collection[str]
) -> list[tuple[float, str, str | None]]:
    """Time, kind and detail of the events of one flow, of these kinds."""
    names = ("time_s", "flow", "event", "detail")
    rows = zip(*(events.get_column(name).to_list() for name in names), strict=True)
    return [
        (round(time_s, 6), kind, detail)
        for time_s, of, kind, detail in rows
        if of == flow and kind in kinds
    ]
