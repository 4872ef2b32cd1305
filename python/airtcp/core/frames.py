"""Tables as frames of Polars, when one is asked for."""

from typing import TYPE_CHECKING, Protocol

from airtcp.core.extras import required

if TYPE_CHECKING:
    import polars as pl


class ArrowTable(Protocol):
    """A table that exports Arrow's C stream: one of the core's, or a frame."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


def frame_of(table: ArrowTable) -> "pl.DataFrame":
    """A table as a frame, without a copy of its columns.

    Raises:
        ModuleNotFoundError: Polars is not installed.
    """
    required("polars")
    import polars as pl

    return pl.DataFrame(table)
