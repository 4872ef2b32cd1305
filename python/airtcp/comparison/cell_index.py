"""Which file of a store has a cell, in twelve bytes a cell: an index of millions fits in memory.

A cell is known by the first eight bytes of its key's digest. Two of a million cells have the same
with a probability of one in 37 million; one of them then counts as not stored, and is run again.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from airtcp.comparison.cells import CellKey

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MAX_RECENT = 65_536
"""Cells, or an eighth of the others, that are added before they are sorted in among these."""


class CellIndex:
    """The file of each cell of a store."""

    def __init__(self) -> None:
        self._files: list[Path] = []
        self._recent: dict[int, int] = {}
        """Recently added cells, and the places of their files."""
        self._sorted: tuple[NDArray[np.uint64], NDArray[np.uint32]] | None = None
        """All others, in order, and the places of their files."""

    def add(self, keys: Iterable[CellKey], file: Path) -> None:
        """Notes that a file has these cells, in place of another file if there was one."""
        place = len(self._files)
        self._files.append(file)
        self._recent.update((_number(key), place) for key in keys)
        sorted_in = 0 if self._sorted is None else len(self._sorted[0])
        if len(self._recent) >= max(_MAX_RECENT, sorted_in // 8):
            self._sort_in()

    def file_of(self, key: CellKey) -> Path | None:
        """The file that has a cell; None without one."""
        number = _number(key)
        place = self._recent.get(number)
        if place is None and self._sorted is not None:
            numbers, places = self._sorted
            found = int(numbers.searchsorted(numbers.dtype.type(number)))
            if found < len(numbers) and int(numbers[found]) == number:
                place = int(places[found])
        return None if place is None else self._files[place]

    def forget(self, file: Path) -> None:
        """Forgets the cells of a file."""
        import numpy as np

        self._sort_in()
        if self._sorted is None:
            return
        numbers, places = self._sorted
        forgotten = [place for place, one in enumerate(self._files) if one == file]
        kept = ~np.isin(places, forgotten)
        self._sorted = numbers[kept], places[kept]

    def _sort_in(self) -> None:
        """Moves the recent cells to the others, whose places they override."""
        import numpy as np

        if not self._recent:
            return
        numbers = np.fromiter(self._recent.keys(), np.uint64, len(self._recent))
        places = np.fromiter(self._recent.values(), np.uint32, len(self._recent))
        self._recent.clear()
        if self._sorted is not None:
            numbers = np.concatenate((numbers, self._sorted[0]))
            places = np.concatenate((places, self._sorted[1]))
        # The first of equal numbers, which is the recent one.
        numbers, first = np.unique(numbers, return_index=True)
        self._sorted = numbers, places[first]


def _number(key: CellKey) -> int:
    return int(key.digest[:16], 16)
