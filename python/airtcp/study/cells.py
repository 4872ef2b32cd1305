"""Finished cells of a study, kept so that nothing is computed twice.

A cell is one scenario, one remedy and one seed. Each is a Parquet file of one row, written under
another name and then renamed: a killed study loses the cells in flight, never a finished one.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from airtcp import _core
from airtcp.summary import RunSummary, parse_summary, retransmitted_share, total


@dataclass(frozen=True)
class CellKey:
    """What a cell's result depends on, and nothing else."""

    scenario_hash: str
    """The core's hash of the scenario as written, with the content of the files it reads."""
    remedy: str
    """The remedies laid over it, as the user names them; empty for the baseline."""
    seed: int
    engine_version: str

    @cached_property
    def digest(self) -> str:
        """The name of the cell's file."""
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

    def row(self) -> dict[str, object]:
        """The cell as a row of the dataset: its key, the totals over its flows, all as JSON."""
        summary = self.summary
        return {
            "remedy": self.key.remedy or BASELINE,
            "seed": self.key.seed,
            "goodput_bps": float(summary["goodput_bps"]),
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
            "scenario": summary["scenario"],
            "scenario_hash": self.key.scenario_hash,
            "engine_version": self.key.engine_version,
            "summary": self.summary_json,
        }


BASELINE = "baseline"
"""The remedy column of the scenario as written."""

_SCHEMA = pl.Schema(
    {
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
        "summary": pl.String,
    }
)


def cell_frame(cells: Iterable[Cell]) -> pl.DataFrame:
    """Cells as a table, one row each."""
    return pl.DataFrame([cell.row() for cell in cells], schema=_SCHEMA)


class CellStore:
    """The folder of finished cells; all of it is one Parquet dataset, `cells/*.parquet`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    def get(self, key: CellKey) -> Cell | None:
        """The finished cell, or None when it has yet to be computed.

        A file that cannot be read, or is another cell's, counts as not computed.
        """
        try:
            frame = pl.read_parquet(self._path(key), glob=False)
            (row,) = frame.iter_rows(named=True)
            found = CellKey(
                row["scenario_hash"],
                "" if row["remedy"] == BASELINE else row["remedy"],
                row["seed"],
                row["engine_version"],
            )
        except (OSError, ValueError, KeyError, pl.exceptions.PolarsError):
            return None
        return Cell(key, row["summary"]) if found == key else None

    def put(self, cell: Cell) -> None:
        """Saves a finished cell; afterwards it is there whole."""
        path = self._path(cell.key)
        partial = path.with_suffix(".partial")
        cell_frame([cell]).write_parquet(partial)
        partial.replace(path)

    def _path(self, key: CellKey) -> Path:
        return self._directory / f"{key.digest}.parquet"


def cell_key(scenario_hash: str, remedy: str, seed: int) -> CellKey:
    """The key of a cell computed by this engine."""
    return CellKey(scenario_hash, remedy, seed, _core.engine_version)
