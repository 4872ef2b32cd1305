"""The store of finished cells: what is damaged is never believed."""

import json
import random
import warnings
from pathlib import Path

import pytest

from airtcp.comparison import cell_index
from airtcp.comparison.cells import Cell, CellKey
from airtcp.comparison.store import DamagedCellsWarning, Store

SUMMARY = {
    "scenario": "s",
    "seed": 1,
    "goodput_bps": 1e6,
    "duration_s": 2.0,
    "digest": "d",
    "flows": [],
}


def cells(count: int) -> list[Cell]:
    """Cells of a study that nobody ran: the store does not look into them."""
    return [
        Cell(CellKey("hash", "sack", seed, "0"), json.dumps({**SUMMARY, "goodput_bps": 1e6 + seed}))
        for seed in range(count)
    ]


@pytest.fixture
def written(tmp_path: Path) -> tuple[Path, list[Cell]]:
    """A folder with a file of cells, and the cells."""
    store, kept = Store(tmp_path), cells(20)
    for cell in kept:
        store.put(cell)
    store.flush()
    return tmp_path, kept


def test_what_is_written_is_found(written: tuple[Path, list[Cell]]) -> None:
    folder, kept = written
    assert Store(folder).find(cell.key for cell in kept) == {cell.key: cell for cell in kept}


def test_cells_are_found_however_many_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index sorts its cells in after every third; the later of two files with a cell counts."""
    monkeypatch.setattr(cell_index, "_MAX_RECENT", 3)
    index, kept = cell_index.CellIndex(), cells(40)
    where: dict[CellKey, Path] = {}
    draws = random.Random(1)
    for number in range(30):
        some = draws.sample(kept, 4)
        index.add((cell.key for cell in some), tmp_path / str(number))
        where |= {cell.key: tmp_path / str(number) for cell in some}
    assert {cell.key: index.file_of(cell.key) for cell in kept} == {
        cell.key: where.get(cell.key) for cell in kept
    }
    forgotten = where[kept[0].key]
    index.forget(forgotten)
    left = {key: file for key, file in where.items() if file != forgotten}
    assert all(index.file_of(cell.key) == left.get(cell.key) for cell in kept)
    assert len(left) < len(where)


def test_no_flipped_bit_is_believed(written: tuple[Path, list[Cell]]) -> None:
    folder, kept = written
    (file,) = folder.glob("*.parquet")
    content = file.read_bytes()
    random.seed(24)
    for at in {0, len(content) - 1, *random.sample(range(len(content)), 300)}:
        damaged = bytearray(content)
        damaged[at] ^= 1 << random.randrange(8)
        file.write_bytes(damaged)
        with pytest.warns(DamagedCellsWarning, match="not as it was written; set aside"):
            found = Store(folder).find(cell.key for cell in kept)
        assert found == {}, at
        assert not file.exists()


@pytest.mark.parametrize("length", [0, 3, 100])
def test_a_torn_file_is_run_again_and_said(written: tuple[Path, list[Cell]], length: int) -> None:
    folder, kept = written
    (file,) = folder.glob("*.parquet")
    file.write_bytes(file.read_bytes()[:length])
    with pytest.warns(DamagedCellsWarning):
        store = Store(folder)
    assert store.find(cell.key for cell in kept) == {}
    for cell in kept:
        store.put(cell)
    store.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(Store(folder).find(cell.key for cell in kept)) == len(kept)


def test_a_row_that_was_edited_is_not_believed(written: tuple[Path, list[Cell]]) -> None:
    """By somebody who gives the file the name that belongs to its content, too."""
    import polars as pl

    from airtcp.comparison.store import _content_digest

    folder, kept = written
    (file,) = folder.glob("*.parquet")
    frame = pl.read_parquet(file)
    file.unlink()
    frame = frame.with_columns(pl.col("summary").str.replace("1000003", "9000003"))
    frame.write_parquet(folder / "edited.parquet")
    content = (folder / "edited.parquet").read_bytes()
    (folder / "edited.parquet").rename(folder / f"x-{_content_digest(content)}.parquet")
    with pytest.warns(DamagedCellsWarning, match="a row is not as it was written"):
        assert Store(folder).find(cell.key for cell in kept) == {}
