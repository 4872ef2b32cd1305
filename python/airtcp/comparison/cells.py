"""Cells: the inputs of one run of a study, and its result."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from airtcp import _core
from airtcp.comparison.control_counters import counters_of
from airtcp.core.catalogue import BASELINE
from airtcp.core.rows import Rows
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


def cell_rows(cells: Sequence[Cell]) -> Rows:
    """Cells as a table, one row each, with a column for each counter of a user-written control."""
    counters = [counters_of(cell.summary) for cell in cells]
    names = dict.fromkeys(name for one in counters for name in one)
    types: dict[str, str] = {}
    for name, kind in _TYPES.items():
        # Before the columns that identify a run.
        types |= dict.fromkeys(names, "int64") if name == "digest" else {}
        types[name] = kind
    rows = (cell.row() | one for cell, one in zip(cells, counters, strict=True))
    return Rows(rows, types)


def stored_frame(cells: Iterable[Cell]) -> "pl.DataFrame":
    """Cells as a table with the same columns for all controls: their counters are in one."""
    kept = list(cells)
    table = Rows((cell.row() for cell in kept), _TYPES).frame()
    import polars as pl

    kind = pl.List(pl.Struct({"name": pl.String, "value": pl.Int64}))
    counters = pl.Series("counters", [cell.counters for cell in kept], kind)
    return table.insert_column(table.columns.index("summary"), counters)


_TYPES = {
    "remedy": "string",
    "seed": "uint64",
    "goodput_bps": "float64",
    "delivered_bytes": "uint64",
    "segments_sent": "uint64",
    "segments_retransmitted": "uint64",
    "retransmitted_share": "float64",
    "timeouts": "uint64",
    "timeouts_spurious": "uint64",
    "fast_retransmits": "uint64",
    "flows": "uint32",
    "duration_s": "float64",
    "digest": "string",
    "scenario": "string",
    "scenario_hash": "string",
    "engine_version": "string",
    "summary": "string",
    "checksum": "string",
}
