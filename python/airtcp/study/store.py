"""The store of finished cells: a folder that is one Parquet dataset, `cells/*.parquet`.

A file holds a batch of cells. It is written whole under a name that nobody else uses, and then
renamed to one that its cells give it: readers never see half of it, processes that share the
folder do not meet, and a killed study loses the batch it had not written, never one it had.
"""

import hashlib
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from airtcp.catalogue import BASELINE
from airtcp.files import write_whole
from airtcp.study.cells import Cell, CellKey, cell_frame

if TYPE_CHECKING:
    import polars as pl

BATCH_CELLS = 512
"""A batch of this many finished cells is written at once."""
BATCH_S = 1.0
"""A batch is written at the latest when its first cell is this old, in seconds."""

_KEY = ["scenario_hash", "remedy", "seed", "engine_version"]


class StoreError(OSError):
    """Finished cells cannot be kept; says where, why, and what is kept."""


class Store:
    """A folder of finished cells, made if absent.

    Raises:
        StoreError: the folder cannot be made or written; said before anything runs.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: list[Cell] = []
        self._waiting_since = 0.0
        self._kept = 0
        with self._explained():
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        self._index: dict[CellKey, Path] = {}
        self._read: set[Path] = set()
        self._look()

    @property
    def folder(self) -> Path:
        """Where the files are."""
        return self._folder

    @property
    def kept(self) -> int:
        """The number of cells written since it was opened."""
        return self._kept

    def find(self, keys: Iterable[CellKey]) -> dict[CellKey, Cell]:
        """Those of the cells that are finished.

        A file that cannot be read counts as not written: its cells are computed again.
        """
        self._look()
        wanted: dict[Path, set[CellKey]] = {}
        for key in keys:
            if key in self._index:
                wanted.setdefault(self._index[key], set()).add(key)
        found: dict[CellKey, Cell] = {}
        for file, here in wanted.items():
            frame = _read(file, [*_KEY, "summary"])
            if frame is not None:
                for *parts, summary in frame.iter_rows():
                    key = _key_of(parts)
                    if key in here:
                        found[key] = Cell(key, summary)
        return found

    def put(self, cell: Cell) -> None:
        """Takes a finished cell, and writes the batch when it is full or old enough.

        Raises:
            StoreError: the batch cannot be written.
        """
        now = time.monotonic()
        if not self._waiting:
            self._waiting_since = now
        self._waiting.append(cell)
        if len(self._waiting) >= BATCH_CELLS or now - self._waiting_since >= BATCH_S:
            self.flush()

    def flush(self) -> None:
        """Writes what waits; afterwards it is there whole.

        Raises:
            StoreError: it cannot be written.
        """
        cells, self._waiting = self._waiting, []
        if not cells:
            return
        buffer = BytesIO()
        cell_frame(cells).write_parquet(buffer)
        path = self._folder / f"{_batch_digest(cells)}.parquet"
        with self._explained():
            write_whole(path, buffer.getvalue())
        self._read.add(path)
        self._kept += len(cells)
        for cell in cells:
            self._index[cell.key] = path

    def _look(self) -> None:
        """Takes in the files that have come, also from another process."""
        for file in sorted(set(self._folder.glob("*.parquet")) - self._read):
            self._read.add(file)
            for key in _keys_in(file):
                self._index[key] = file

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = f"finished runs cannot be kept here ({error.strerror or error})"
            remedy = "make room or name another folder with --out"
            if self._kept:
                remedy = (
                    f"the {self._kept} kept so far are whole: make room, and the same command "
                    "goes on from there"
                )
            raise StoreError(error.errno, f"{reason}; {remedy}", str(self._folder)) from error


def _batch_digest(cells: Sequence[Cell]) -> str:
    """The name of a batch: the same cells give the same file, whoever computes them."""
    digests = sorted(cell.key.digest for cell in cells)
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:32]


def _keys_in(file: Path) -> Iterator[CellKey]:
    frame = _read(file, _KEY)
    if frame is not None:
        yield from map(_key_of, frame.iter_rows())


def _key_of(parts: Sequence[object]) -> CellKey:
    scenario_hash, remedy, seed, engine_version = parts
    assert isinstance(seed, int)
    name = "" if remedy == BASELINE else str(remedy)
    return CellKey(str(scenario_hash), name, seed, str(engine_version))


def _read(file: Path, columns: list[str]) -> "pl.DataFrame | None":
    """These columns of a file; None where it is torn, or no file of cells."""
    import polars as pl

    try:
        # From bytes: a file that another process replaces meanwhile is read as one or the other.
        return pl.read_parquet(BytesIO(file.read_bytes()), columns=columns).select(columns)
    except (OSError, ValueError, pl.exceptions.PolarsError):
        return None
