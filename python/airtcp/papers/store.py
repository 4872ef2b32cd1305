"""Finished points of experiments: one Parquet file each, with a row a seed.

A file is written under another name and then renamed: what is interrupted loses the points in
flight, never a finished one.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from airtcp.study.cells import Cell, CellKey, cell_frame


class PointStore:
    """The folder of finished points; all of it is one Parquet dataset, `cells/*.parquet`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    def get(self, keys: Sequence[CellKey]) -> list[Cell] | None:
        """The point's cells in the order of `keys`, or None when it has yet to be computed.

        A file that cannot be read, or is another point's, counts as not computed.
        """
        try:
            frame = pl.read_parquet(
                self._path(keys),
                columns=["scenario_hash", "seed", "engine_version", "summary"],
                glob=False,
            )
        except (OSError, ValueError, pl.exceptions.PolarsError):
            return None
        rows = list(frame.iter_rows(named=True))
        if [(row["scenario_hash"], row["seed"], row["engine_version"]) for row in rows] != [
            (key.scenario_hash, key.seed, key.engine_version) for key in keys
        ]:
            return None
        return [Cell(key, row["summary"]) for key, row in zip(keys, rows, strict=True)]

    def put(self, cells: Sequence[Cell]) -> None:
        """Saves a finished point; afterwards it is there whole."""
        path = self._path([cell.key for cell in cells])
        partial = path.with_suffix(".partial")
        cell_frame(cells).write_parquet(partial)
        partial.replace(path)

    def _path(self, keys: Sequence[CellKey]) -> Path:
        digest = hashlib.sha256("".join(key.digest for key in keys).encode()).hexdigest()[:32]
        return self._directory / f"{digest}.parquet"
