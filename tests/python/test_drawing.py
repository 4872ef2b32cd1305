"""Figures drawn by several processes."""

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from airtcp.pages import drawing
from airtcp.pages.drawing import Sheet, draw_all
from airtcp.pages.plot.comparison import DifferenceRow, DifferenceRows
from airtcp.pages.plot.svg import svg_of


def sheets(count: int) -> list[Sheet]:
    return [
        Sheet(
            f"figure-{number}",
            DifferenceRows(1e6, (DifferenceRow("sack", (1e3 * number, 2e3), 2e3, 1e3, "+0.2 %"),)),
        )
        for number in range(count)
    ]


def test_workers_draw_what_one_process_draws(tmp_path: Path) -> None:
    alone, shared = tmp_path / "alone", tmp_path / "shared"
    alone.mkdir()
    shared.mkdir()
    by_one = draw_all(alone, sheets(5), processes=1)
    assert draw_all(shared, sheets(5), processes=2) == by_one
    assert len(set(by_one)) == 5
    names = sorted(path.name for path in shared.iterdir())
    assert names == [f"figure-{number}.svg" for number in range(5)]
    for name in names:
        assert (shared / name).read_bytes() == (alone / name).read_bytes()


def test_a_worker_that_cannot_start_leaves_its_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert len(draw_all(tmp_path, sheets(4), processes=2)) == 4
    assert len(list(tmp_path.iterdir())) == 4


def test_an_unwritable_folder_is_one_error_from_either_process(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(FileNotFoundError, match="missing"):
        draw_all(missing, sheets(3), processes=2)


@dataclass(frozen=True)
class Teller:
    """A drawing that records which process draws it."""

    def figure(self) -> Figure:
        figure = Figure()
        figure.text(0, 0, f"process {os.getpid()}")
        return figure


def test_the_work_is_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The worker finds the drawing in this module.
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    told = [Sheet(f"teller-{number}", Teller()) for number in range(2 * drawing.FEWEST_EACH)]
    svgs = draw_all(tmp_path, told, processes=2)
    here = [f"process {os.getpid()}" in svg for svg in svgs]
    assert here == [True, False] * drawing.FEWEST_EACH


def test_numbers_that_people_read_keep_their_digits() -> None:
    """Coordinates are shortened, ticks are not: 0.0025 is not 0.00."""
    figure = Figure()
    axes = figure.subplots()
    axes.plot([0.0, 1 / 3], [0.0, 1 / 7])
    axes.set_xticks([0.0025, 0.005], ["0.0025", "0.005"])
    svg = svg_of(figure, "ticks")
    assert ">0.0025</text>" in svg
    coordinates = re.findall(r' d="([^"]*)"', svg)
    assert coordinates
    assert not any(re.search(r"\d\.\d{3}", path) for path in coordinates)
