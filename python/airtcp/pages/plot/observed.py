"""Interface of a run for its figures."""

from typing import TYPE_CHECKING, Protocol

from airtcp._core import Table
from airtcp.core.summary import RunSummary

if TYPE_CHECKING:
    import polars as pl


class Observed(Protocol):
    """A finished run and its tables; see `airtcp.Run`."""

    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def summary(self) -> RunSummary: ...  # noqa: D102
    def arrow(self, table: str) -> Table: ...  # noqa: D102
    @property
    def samples(self) -> "pl.DataFrame": ...  # noqa: D102
    @property
    def events(self) -> "pl.DataFrame": ...  # noqa: D102
    @property
    def frames(self) -> "pl.DataFrame": ...  # noqa: D102
    @property
    def agents(self) -> "pl.DataFrame": ...  # noqa: D102
