"""Lays a figure of marks out on a canvas: where its scales, marks, texts and keys are, in points.

`vector` has the canvas that writes SVG, `tikz` the one that writes source for LaTeX.
"""

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from airtcp.pages.plot.marks import (
    KEY_LINE_INCHES,
    KEY_POINTS,
    KEY_ROW_INCHES,
    Area,
    Dots,
    Line,
    Panel,
    Places,
    Plot,
    Words,
    key_width,
)
from airtcp.pages.plot.style import LIGHT
from airtcp.pages.plot.ticks import shares
from airtcp.pages.plot.widths import widest_inches

INCH = 72.0
"""Points, the unit of the drawing."""
_TICK, _PAD = 3.5, 3.5
"""Length of a tick mark, and the space between it and its text, in points."""
_TICK_POINTS, _LABEL_POINTS, _TITLE_POINTS, _WORDS_POINTS = 9.0, 10.0, 11.0, 9.0
CAPITAL, BELOW = 0.73, 0.21
"""Height of a capital letter, and of the parts below the line, as shares of the size."""

Reals = NDArray[np.float64]
Segment = tuple[float, float, float, float]
"""x and y of its begin, x and y of its end."""


@dataclass(frozen=True)
class Text:
    """One line of text."""

    text: str
    x: float
    y: float
    """Of its writing line."""
    size: float
    anchor: str
    """The part of it at x: "start", "middle" or "end"."""
    is_bold: bool = False
    is_turned: bool = False
    """Whether it reads upwards."""


class Canvas(Protocol):
    """Takes the parts of a figure, the lowest first; points from its upper left corner."""

    columns: float
    """Columns in a point of width in which a long line keeps its first, lowest, highest, last."""

    def segments(self, segments: Sequence[Segment], colour: str, width: float) -> None:
        """Horizontal and vertical lines."""

    def line(self, x: Reals, y: Reals, mark: Line) -> None:
        """A line through places; NaN interrupts it."""

    def area(self, x: Reals, y: Reals, mark: Area) -> None:
        """A filled outline."""

    def dots(self, x: Reals, y: Reals, mark: Dots) -> None:
        """Dots at places; no dot for NaN."""

    def text(self, text: Text) -> None:
        """A line of text."""

    def within(self, box: Segment, name: str) -> AbstractContextManager[None]:
        """Clips to a box, its left, top, right and bottom; `name` is unique in the figure."""


def lay_out(plot: Plot, canvas: Canvas) -> None:
    """Draws a figure on a canvas."""
    if plot.note is not None:
        top = 0.1 * INCH
        _text(canvas, plot.note.text, 0.01 * plot.width * INCH, top, plot.note.size, upright="top")
    _key_above(canvas, plot)
    for place, panel in enumerate(plot.panels):
        _PanelLayout(panel, str(place), canvas).draw()


class _PanelLayout:
    """A panel, and how its scales map to points."""

    def __init__(self, panel: Panel, name: str, canvas: Canvas) -> None:
        self.panel, self.name, self.canvas = panel, name, canvas
        self.left, self.top = panel.left * INCH, panel.top * INCH
        self.width, self.height = panel.width * INCH, panel.height * INCH
        self.bottom, self.right = self.top + self.height, self.left + self.width

    def across(self, places: Places) -> Reals:
        """Horizontal positions."""
        return self.left + self.width * shares(self.panel.x, places)

    def along(self, places: Places) -> Reals:
        """Vertical positions."""
        return self.bottom - self.height * shares(self.panel.y, places)

    def draw(self) -> None:
        """Its parts, the lowest first."""
        self._grid()
        with self.canvas.within((self.left, self.top, self.right, self.bottom), self.name):
            for mark in self.panel.marks:
                if isinstance(mark, Line | Area):
                    self._outline(mark)
        for mark in self.panel.marks:
            if isinstance(mark, Dots):
                self.canvas.dots(self.across(mark.x), self.along(mark.y), mark)
        self._axes()
        for mark in self.panel.marks:
            if isinstance(mark, Words):
                self._words(mark)
        self._key()

    def _outline(self, mark: Line | Area) -> None:
        x, y = self.across(mark.x), self.along(mark.y)
        x, y = _visible(x, y, self.width, self.canvas.columns)
        if isinstance(mark, Line):
            self.canvas.line(x, y, mark)
        else:
            self.canvas.area(x, y, mark)

    def _grid(self) -> None:
        segments: list[Segment] = []
        if self.panel.x.has_grid:
            places = self.across([one for one, _ in self.panel.x.ticks]).tolist()
            segments += [(place, self.top, place, self.bottom) for place in places]
        if self.panel.y.has_grid:
            places = self.along([one for one, _ in self.panel.y.ticks]).tolist()
            segments += [(self.left, place, self.right, place) for place in places]
        if segments:
            self.canvas.segments(segments, LIGHT.grid, 0.6)

    def _axes(self) -> None:
        x, y = self.panel.x, self.panel.y
        edge = [
            (self.left, self.top, self.left, self.bottom),
            (self.left, self.bottom, self.right, self.bottom),
        ]
        self.canvas.segments(edge, LIGHT.grid, 0.8)
        across = self.across([place for place, _ in x.ticks]).tolist()
        along = self.along([place for place, _ in y.ticks]).tolist()
        marks: list[Segment] = []
        if x.has_tick_marks:
            marks += [(one, self.bottom, one, self.bottom + _TICK) for one in across]
        if y.has_tick_marks:
            marks += [(self.left, one, self.left - _TICK, one) for one in along]
        if marks:
            self.canvas.segments(marks, LIGHT.foreground, 0.8)
        below = self.bottom + _TICK + _PAD
        for place, (_, text) in zip(across, x.ticks, strict=True):
            _text(self.canvas, text, place, below, _TICK_POINTS, upright="top", anchor="middle")
        beside = self.left - (_TICK if y.has_tick_marks else 0.0) - _PAD
        for place, (_, text) in zip(along, y.ticks, strict=True):
            _text(self.canvas, text, beside, place, _TICK_POINTS, anchor="end")
        if x.label:
            middle, top = self.left + self.width / 2, below + 1.5 * _TICK_POINTS
            _text(self.canvas, x.label, middle, top, _LABEL_POINTS, upright="top", anchor="middle")
        if y.label:
            self._y_label(beside)
        if self.panel.title:
            title, above = self.panel.title, self.top - 6.0
            _text(self.canvas, title, self.left, above, _TITLE_POINTS, upright="line", is_bold=True)

    def _y_label(self, beside: float) -> None:
        if self.panel.label_inches is None:
            texts = (text for _, text in self.panel.y.ticks)
            right = beside - widest_inches(texts, _TICK_POINTS) * INCH - 6.0
        else:
            right = self.left - self.panel.label_inches * INCH
        middle = self.top + self.height / 2
        label = self.panel.y.label
        self.canvas.text(Text(label, right, middle, _LABEL_POINTS, "middle", is_turned=True))

    def _words(self, mark: Words) -> None:
        x = self.left + self.width * mark.x if mark.x_is_share else self.across([mark.x])[0]
        y = self.along([mark.y])[0] - mark.offset[1]
        _text(
            self.canvas,
            mark.text,
            float(x) + mark.offset[0],
            float(y),
            _WORDS_POINTS,
            upright=mark.upright,
            anchor="middle" if mark.is_centred else "start",
            is_bold=mark.is_bold,
        )

    def _key(self) -> None:
        named = [mark for mark in self.panel.marks if isinstance(mark, Line) and mark.name]
        columns = self.panel.key_columns
        if not named or not columns:
            return
        each = [key_width(mark.name) + 0.15 for mark in named]
        rows = -(-len(named) // columns)
        widths = [max(each[first : first + rows]) for first in range(0, len(named), rows)]
        left = self.right / INCH - sum(widths)
        top = self.panel.top + 0.05
        for place, mark in enumerate(named):
            column, row = divmod(place, rows)
            begin = left + sum(widths[:column])
            _key_entry(self.canvas, mark.name, mark, begin, top + KEY_ROW_INCHES * row)


def _key_above(canvas: Canvas, plot: Plot) -> None:
    rows = max(1, -(-len(plot.key) // plot.key_columns))
    each = [key_width(name) + 0.25 for name, _ in plot.key]
    widths = [max(each[first : first + rows]) for first in range(0, len(each), rows)]
    for place, (name, line) in enumerate(plot.key):
        column, row = divmod(place, rows)
        _key_entry(canvas, name, line, 0.1 + sum(widths[:column]), 0.05 + 0.2 * row)


def _key_entry(canvas: Canvas, name: str, line: Line, left: float, top: float) -> None:
    middle = (top + KEY_ROW_INCHES / 2) * INCH
    begin, length = left * INCH, (KEY_LINE_INCHES - 0.1) * INCH
    canvas.line(np.array([begin, begin + length]), np.array([middle, middle]), line)
    _text(canvas, name, begin + KEY_LINE_INCHES * INCH, middle, KEY_POINTS)


def _visible(x: Reals, y: Reals, width: float, columns: float) -> tuple[Reals, Reals]:
    """Thins a line that has many more points than columns.

    In each column its first, lowest, highest and last point stay, in their order.
    """
    if len(x) <= 8 * columns * width:
        return x, y
    places = np.floor(np.nan_to_num(x) * columns).astype(np.int64)
    places = np.where(np.isfinite(x + y), places, np.iinfo(np.int64).min)
    begins = np.flatnonzero(np.r_[True, np.diff(places) != 0])
    ends = np.r_[begins[1:], len(x)]
    kept: set[int] = set()
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        kept |= {begin, end - 1}
        if end - begin > 2 and math.isfinite(y[begin]):
            kept |= {begin + int(y[begin:end].argmin()), begin + int(y[begin:end].argmax())}
    order = sorted(kept)
    return x[order], y[order]


def _text(
    canvas: Canvas,
    text: str,
    x: float,
    y: float,
    size: float,
    *,
    upright: str = "center",
    anchor: str = "start",
    is_bold: bool = False,
) -> None:
    """The lines of a text; `upright` names the part at y: "line" is the writing line."""
    if not text:
        return
    lines = text.split("\n")
    leading = 1.2 * size
    first = {
        "center": y + CAPITAL / 2 * size - leading * (len(lines) - 1) / 2,
        "top": y + CAPITAL * size,
        "bottom": y - BELOW * size - leading * (len(lines) - 1),
        "line": y,
    }[upright]
    for row, line in enumerate(lines):
        canvas.text(Text(line, x, first + leading * row, size, anchor, is_bold))


def short(value: float) -> str:
    """A coordinate with at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
