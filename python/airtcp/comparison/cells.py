"""Cells: the inputs of one run of a study, and its result."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

from airtcp import _core
from airtcp.comparison.control_counters import counters_of
from airtcp.core.catalogue import BASELINE
from airtcp.core.forked import check_tables
from airtcp.core.summary import RunSummary, parse_summary, retransmitted_share, total

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class CellKey:
    """Everything that a cell's result depends on, and nothing else."""

    scenario_hash: str
    """The core's hash of the scenario as written, with the content of the files it reads."""
    remedy: str
    """The remedies laid over it, as the user names them; empty for the baseline."""
    seed: int
    engine_version: str

    @cached_property
    def digest(self) -> str:
        """A unique name for the cell."""
        parts = [self.scenario_hash, self.remedy, self.seed, self.engine_version]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Cell:
    """A finished run of a study."""

    key: CellKey
    summary_json: str

    @cached_property
    def summary(self) -> RunSummary:
        """The run's summary."""
        return parse_summary(self.summary_json)

    @cached_property
    def totals(self) -> dict[str, object]:
        """Goodput, and for a simulated run the totals over its flows."""
        summary = self.summary
        # A run of a real kernel has no totals of this kind.
        totals = _totals(summary) if is_simulated(summary) else {}
        return totals | {"goodput_bps": float(summary["goodput_bps"])}

    def row(self) -> dict[str, object]:
        """The cell as a row of the dataset: its key, the totals over its flows, all as JSON."""
        summary = self.summary
        return self.totals | {
            "remedy": self.key.remedy or BASELINE,
            "seed": self.key.seed,
            "scenario": summary["scenario"],
            "scenario_hash": self.key.scenario_hash,
            "engine_version": self.key.engine_version,
            "counters": self.counters,
            "summary": self.summary_json,
            "checksum": self.checksum,
        }

    @property
    def counters(self) -> list[dict[str, object]]:
        """Counters of user-written controls, each with its name and the sum over the flows."""
        return [{"name": one, "value": sum_} for one, sum_ in counters_of(self.summary).items()]

    @property
    def checksum(self) -> str:
        """Checksum of the key and the summary, from which the other columns are derived."""
        text = f"{self.key.digest}\n{self.summary_json}"
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]


def is_simulated(summary: Mapping[str, object]) -> bool:
    """Whether a summary is that of a simulated run rather than a real kernel's."""
    return "flows" in summary


def _totals(summary: RunSummary) -> dict[str, object]:
    """Totals of a simulated run over its flows."""
    return {
        "delivered_bytes": total(summary, "delivered_bytes"),
        "segments_sent": total(summary, "segments_sent"),
        "segments_retransmitted": total(summary, "segments_retransmitted"),
        "retransmitted_share": retransmitted_share(summary),
        "timeouts": total(summary, "timeouts"),
        "timeouts_spurious": total(summary, "timeouts_spurious"),
        "fast_retransmits": total(summary, "fast_retransmits"),
        "flows": len(summary["flows"]),
        "duration_s": float(summary["duration_s"]),
        "digest": summary["digest"],
    }


def cell_key(scenario_hash: str, remedy: str, seed: int) -> CellKey:
    """The key of a cell computed by this engine."""
    return CellKey(scenario_hash, remedy, seed, _core.engine_version)


def cell_frame(cells: Iterable[Cell]) -> "pl.DataFrame":
    """Cells as a table, one row each."""
    import polars as pl

    check_tables()
    return pl.DataFrame([cell.row() for cell in cells], schema=_schema())


def counted_frame(cells: Sequence[Cell]) -> "pl.DataFrame":
    """The same, and before `summary` a column for each counter of a user-written control."""
    import polars as pl

    table = cell_frame(cells).drop("counters")
    rows = [counters_of(cell.summary) for cell in cells]
    names = dict.fromkeys(name for row in rows for name in row)
    columns = [pl.Series(name, [row.get(name) for row in rows], pl.Int64) for name in names]
    place = table.columns.index("digest")
    return pl.DataFrame([*table[:, :place], *columns, *table[:, place:]])


@cache
def _schema() -> "pl.Schema":
    import polars as pl

    columns: dict[str, pl.DataType | type[pl.DataType]] = {
        "remedy": pl.String,
        "seed": pl.UInt64,
        "goodput_bps": pl.Float64,
        "delivered_bytes": pl.UInt64,
        "segments_sent": pl.UInt64,
        "segments_retransmitted": pl.UInt64,
        "retransmitted_share": pl.Float64,
        "timeouts": pl.UInt64,
        "timeouts_spurious": pl.UInt64,
        "fast_retransmits": pl.UInt64,
        "flows": pl.UInt32,
        "duration_s": pl.Float64,
        "digest": pl.String,
        "scenario": pl.String,
        "scenario_hash": pl.String,
        "engine_version": pl.String,
        "counters": pl.List(pl.Struct({"name": pl.String, "value": pl.Int64})),
        "summary": pl.String,
        "checksum": pl.String,
    }
    return pl.Schema(columns)
