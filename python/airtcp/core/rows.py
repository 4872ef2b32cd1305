"""Rows of results, for any reader of Arrow: Polars, pandas, DuckDB, pyarrow."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from airtcp import _core
from airtcp.core.as_csv import csv_of
from airtcp.core.extras import required
from airtcp.core.forked import check_tables

if TYPE_CHECKING:
    import polars as pl


class Rows:
    """Rows with the same columns; a value that a row lacks is None.

    They export Arrow's C stream, the PyCapsule interface, and need no reader of it.

    Args:
        rows: values by column.
        types: of each column, in order: "float64", "int64", "string", "uint32" or "uint64".
    """

    def __init__(self, rows: Iterable[Mapping[str, object]], types: Mapping[str, str]) -> None:
        self._rows = list(rows)
        self._types = dict(types)

    def records(self) -> list[dict[str, object]]:
        """Each row as a dictionary with every column."""
        columns = [self._values(name) for name in self._types]
        return [dict(zip(self._types, row, strict=True)) for row in zip(*columns, strict=True)]

    def csv(self) -> str:
        """The rows as CSV, with the columns' names first."""
        return csv_of((name, kind, self._values(name)) for name, kind in self._types.items())

    def frame(self) -> "pl.DataFrame":
        """The rows as a frame of Polars.

        Raises:
            ModuleNotFoundError: Polars is not installed.
            RunError: this process was forked after another table was made.
        """
        required("polars")
        import polars as pl

        check_tables()
        return pl.DataFrame(self._table)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The stream of the Arrow PyCapsule interface."""
        return self._table.__arrow_c_stream__(requested_schema)

    @cached_property
    def _table(self) -> _core.Table:
        return _core.table([(name, kind, self._values(name)) for name, kind in self._types.items()])

    def _values(self, name: str) -> list[object]:
        values = [row.get(name) for row in self._rows]
        if self._types[name] != "float64":
            return values
        return [float(one) if isinstance(one, int) else one for one in values]
