"""The store of finished cells: a folder that is one Parquet dataset, `cells/*.parquet`.

A file holds a batch of cells. It is written whole under a unique name, and then renamed to one
derived from its cells: readers never see half of it, processes that share the folder do not
collide, and a killed study loses only the batch not yet written.

A file's name ends with a digest of its content, and each row has a checksum: data changed by a
disk, a copy or an editor are set aside with a warning, and run again.
"""

import hashlib
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from warnings import warn

from airtcp.comparison.cell_index import CellIndex
from airtcp.comparison.cells import Cell, CellKey, stored_frame
from airtcp.core.catalogue import BASELINE
from airtcp.core.extras import required
from airtcp.core.files import write_whole
from airtcp.core.forked import check_tables

BATCH_CELLS = 512
"""Number of finished cells per file."""
BATCH_S = 1.0
"""Maximum age of a batch's first cell before the batch is written, in seconds."""

_KEY = ["scenario_hash", "remedy", "seed", "engine_version"]


class DamagedCellsWarning(UserWarning):
    """Stored cells were damaged, and are run again."""


class StoreError(OSError):
    """Finished cells cannot be stored; gives the place, the reason, and the cells stored."""


class Store:
    """A folder of finished cells, created if absent.

    Raises:
        StoreError: the folder cannot be created or written; raised before anything runs.
    """

    def __init__(self, folder: Path) -> None:
        check_tables()
        self._folder = folder
        self._waiting: list[Cell] = []
        self._waiting_since = 0.0
        self._kept = 0
        with self._explained():
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        self._index = CellIndex()
        self._read: set[Path] = set()
        self._look()

    @property
    def folder(self) -> Path:
        """The folder of the files."""
        return self._folder

    @property
    def kept(self) -> int:
        """Number of cells written since it was opened."""
        return self._kept

    def find(self, keys: Iterable[CellKey]) -> dict[CellKey, Cell]:
        """Returns the finished cells among `keys`.

        A damaged cell counts as not written, with a warning: it is recomputed.
        """
        self._look()
        wanted: dict[Path, set[CellKey]] = {}
        for key in keys:
            if file := self._index.file_of(key):
                wanted.setdefault(file, set()).add(key)
        found: dict[CellKey, Cell] = {}
        for file, here in wanted.items():
            try:
                found |= {cell.key: cell for cell in _cells_in(file) if cell.key in here}
            except _DamagedError as error:
                self._set_aside(file, str(error))
        return found

    def put(self, cell: Cell) -> None:
        """Adds a finished cell, and writes the batch when it is full or old enough.

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
        """Writes the pending batch.

        Raises:
            StoreError: it cannot be written.
        """
        cells, self._waiting = self._waiting, []
        if not cells:
            return
        buffer = BytesIO()
        stored_frame(cells).write_parquet(buffer)
        content = buffer.getvalue()
        path = self._folder / f"{_batch_digest(cells)}-{_content_digest(content)}.parquet"
        with self._explained():
            write_whole(path, content)
        self._read.add(path)
        self._kept += len(cells)
        self._index.add((cell.key for cell in cells), path)

    def _look(self) -> None:
        """Indexes new files, including other processes' files."""
        for file in sorted(set(self._folder.glob("*.parquet")) - self._read):
            self._read.add(file)
            try:
                keys = list(_keys_in(file))
            except _DamagedError as error:
                self._set_aside(file, str(error))
                continue
            self._index.add(keys, file)

    def _set_aside(self, file: Path, what: str) -> None:
        """Warns of a file and ignores it from then on: its cells are recomputed and rewritten."""
        self._index.forget(file)
        # If nothing can be renamed it is found damaged next time, which is as safe.
        with suppress(OSError):
            file.replace(file.with_suffix(".damaged"))
        warn(
            f"{file}: {what}; set aside as {file.stem}.damaged, and its runs are made again",
            DamagedCellsWarning,
            stacklevel=2,
        )

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


class TolerantStore(Store):
    """A store that tolerates a full disk: if a batch is refused, the runs go on without it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.refused: StoreError | None = None
        """The first error; None while everything is stored."""

    def flush(self) -> None:
        """Writes the pending batch, unless a batch was refused before."""
        if self.refused is not None:
            self._waiting.clear()
            return
        try:
            super().flush()
        except StoreError as error:
            self.refused = error


def _batch_digest(cells: Sequence[Cell]) -> str:
    """The name of a batch: the same cells give the same file in every process."""
    digests = sorted(cell.key.digest for cell in cells)
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:32]


class _DamagedError(Exception):
    """A file that was changed after it was written, with the damaged part."""


def _keys_in(file: Path) -> Iterator[CellKey]:
    """The keys of a file's cells.

    Raises:
        _DamagedError: the file was changed after it was written.
    """
    return (_key_of(parts) for parts in _rows(file, _KEY))


def _cells_in(file: Path) -> Iterator[Cell]:
    """A file's cells.

    Raises:
        _DamagedError: the file was changed after it was written.
    """
    for *parts, summary, checksum in _rows(file, [*_KEY, "summary", "checksum"]):
        cell = Cell(_key_of(parts), str(summary))
        if cell.checksum != checksum:
            raise _DamagedError("a row is not as it was written")
        yield cell


def _key_of(parts: Sequence[object]) -> CellKey:
    scenario_hash, remedy, seed, engine_version = parts
    if not isinstance(seed, int):
        raise _DamagedError("a row has no seed")
    name = "" if remedy == BASELINE else str(remedy)
    return CellKey(str(scenario_hash), name, seed, str(engine_version))


def _rows(file: Path, columns: list[str]) -> list[tuple[object, ...]]:
    """Reads `columns` of a file.

    Raises:
        _DamagedError: it is truncated, or not a file of cells.
    """
    required("polars")
    import polars as pl

    try:
        # In one read: a file replaced meanwhile by another process is seen whole, old or new.
        content = file.read_bytes()
    except OSError as error:
        raise _DamagedError(f"cannot be read ({error.strerror})") from error
    # Before parsing: damaged lengths can ask for more memory than there is.
    if file.stem.rpartition("-")[2] != _content_digest(content):
        raise _DamagedError("is not as it was written")
    try:
        return pl.read_parquet(BytesIO(content), columns=columns).select(columns).rows()
    except (ValueError, pl.exceptions.PolarsError) as error:
        raise _DamagedError(f"is no file of cells ({error})") from error


def _content_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
