"""Writes a figure of marks as SVG, in the look of `airtcp.pages.plot.style`."""

import math
from collections.abc import Iterator
from html import escape

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
    Shape,
    Words,
    key_width,
)
from airtcp.pages.plot.style import LIGHT, variable
from airtcp.pages.plot.ticks import shares
from airtcp.pages.plot.widths import widest_inches

_INCH = 72.0
"""Points, the unit of the drawing."""
_TICK, _PAD = 3.5, 3.5
"""Length of a tick mark, and the space between it and its text, in points."""
_TICK_POINTS, _LABEL_POINTS, _TITLE_POINTS, _WORDS_POINTS = 9.0, 10.0, 11.0, 9.0
_EDGE = 1.4
_CAPITAL, _BELOW = 0.73, 0.21
"""Height of a capital letter, and of the parts below the line, as shares of the size."""
_PER_POINT = 4
"""Columns in a point of width in which a long line keeps its first, lowest, highest and last."""
_STYLE = (
    "stroke-linejoin: round; stroke-linecap: butt; font-family: 'DejaVu Sans', Verdana, sans-serif"
)

_Reals = NDArray[np.float64]


def svg_of_plot(plot: Plot, name: str) -> str:
    """The text of an `<svg>` element, its colours CSS variables.

    Args:
        plot: the figure.
        name: distinguishes its ids from other figures' in the same page.
    """
    width, height = plot.width * _INCH, plot.height * _INCH
    size = f'width="{_short(width)}pt" height="{_short(height)}pt"'
    parts = [
        f'<svg style="{_STYLE}" {size} viewBox="0 0 {_short(width)} {_short(height)}" '
        'xmlns="http://www.w3.org/2000/svg" version="1.1">',
        f'<rect width="100%" height="100%" fill="{variable(LIGHT.background)}"/>',
    ]
    if plot.note is not None:
        top = 0.1 * _INCH
        parts.append(_text(plot.note.text, 0.01 * width, top, plot.note.size, upright="top"))
    parts += _key_above(plot)
    for place, panel in enumerate(plot.panels):
        parts += _Drawn(panel, f"{name}-{place}").parts()
    parts.append("</svg>\n")
    return "\n".join(parts)


class _Drawn:
    """A panel, and how its scales map to points."""

    def __init__(self, panel: Panel, name: str) -> None:
        self.panel, self.name = panel, name
        self.left, self.top = panel.left * _INCH, panel.top * _INCH
        self.width, self.height = panel.width * _INCH, panel.height * _INCH
        self.bottom, self.right = self.top + self.height, self.left + self.width

    def across(self, places: Places) -> _Reals:
        """Horizontal positions."""
        return self.left + self.width * shares(self.panel.x, places)

    def along(self, places: Places) -> _Reals:
        """Vertical positions."""
        return self.bottom - self.height * shares(self.panel.y, places)

    def parts(self) -> Iterator[str]:
        """The elements, the lowest first."""
        yield from self._grid()
        box = _rectangle(self.left, self.top, self.width, self.height)
        yield f'<clipPath id="{self.name}"><rect {box}/></clipPath>'
        yield f'<g clip-path="url(#{self.name})">'
        for mark in self.panel.marks:
            if isinstance(mark, Line | Area):
                yield self._outline(mark)
        yield "</g>"
        for mark in self.panel.marks:
            if isinstance(mark, Dots):
                yield self._dots(mark)
        yield from self._axes()
        for mark in self.panel.marks:
            if isinstance(mark, Words):
                yield self._words(mark)
        yield from self._key()

    def _grid(self) -> Iterator[str]:
        path = ""
        if self.panel.x.has_grid:
            for place in self.across([one for one, _ in self.panel.x.ticks]).tolist():
                path += f"M{_short(place)} {_short(self.top)}V{_short(self.bottom)}"
        if self.panel.y.has_grid:
            for place in self.along([one for one, _ in self.panel.y.ticks]).tolist():
                path += f"M{_short(self.left)} {_short(place)}H{_short(self.right)}"
        if path:
            yield _stroke(path, LIGHT.grid, 0.6)

    def _axes(self) -> Iterator[str]:
        x, y = self.panel.x, self.panel.y
        edge = f"M{_short(self.left)} {_short(self.top)}V{_short(self.bottom)}H{_short(self.right)}"
        yield _stroke(edge, LIGHT.grid, 0.8)
        marks = ""
        across = self.across([place for place, _ in x.ticks]).tolist()
        along = self.along([place for place, _ in y.ticks]).tolist()
        if x.has_tick_marks:
            marks += "".join(f"M{_short(one)} {_short(self.bottom)}v{_TICK}" for one in across)
        if y.has_tick_marks:
            marks += "".join(f"M{_short(self.left)} {_short(one)}h-{_TICK}" for one in along)
        if marks:
            yield _stroke(marks, LIGHT.foreground, 0.8)
        below = self.bottom + _TICK + _PAD
        for place, (_, text) in zip(across, x.ticks, strict=True):
            yield _text(text, place, below, _TICK_POINTS, upright="top", anchor="middle")
        beside = self.left - (_TICK if y.has_tick_marks else 0.0) - _PAD
        for place, (_, text) in zip(along, y.ticks, strict=True):
            yield _text(text, beside, place, _TICK_POINTS, anchor="end")
        if x.label:
            middle, top = self.left + self.width / 2, below + 1.5 * _TICK_POINTS
            yield _text(x.label, middle, top, _LABEL_POINTS, upright="top", anchor="middle")
        if y.label:
            yield self._y_label(beside)
        if self.panel.title:
            above = self.top - 6.0
            yield _text(
                self.panel.title, self.left, above, _TITLE_POINTS, upright="line", is_bold=True
            )

    def _y_label(self, beside: float) -> str:
        if self.panel.label_inches is None:
            texts = (text for _, text in self.panel.y.ticks)
            right = beside - widest_inches(texts, _TICK_POINTS) * _INCH - 6.0
        else:
            right = self.left - self.panel.label_inches * _INCH
        middle = self.top + self.height / 2
        turn = f' transform="rotate(-90 {_short(right)} {_short(middle)})"'
        label = self.panel.y.label
        return _text(
            label, right, middle, _LABEL_POINTS, upright="line", anchor="middle", more=turn
        )

    def _outline(self, mark: Line | Area) -> str:
        path = _path(self.across(mark.x), self.along(mark.y), self.width)
        if isinstance(mark, Line):
            return _stroke(path, mark.colour, mark.width, is_dashed=mark.is_dashed)
        ink = variable(mark.colour)
        edge = f' stroke="{ink}" stroke-opacity="{mark.opacity:g}"' if mark.has_edge else ""
        return f'<path d="{path}z" fill="{ink}" fill-opacity="{mark.opacity:g}"{edge}/>'

    def _dots(self, mark: Dots) -> str:
        points = zip(self.across(mark.x).tolist(), self.along(mark.y).tolist(), strict=True)
        edge = (
            f' stroke="{variable(LIGHT.background)}" stroke-width="{_EDGE}"'
            if mark.has_edge
            else ""
        )
        faint = f' fill-opacity="{mark.opacity:g}"' if mark.opacity < 1.0 else ""
        half = _short(mark.size / (2 if mark.shape is Shape.CIRCLE else math.sqrt(2)))
        diamond = f"l{half} -{half}l{half} {half}l-{half} {half}z"
        each = []
        for x, y in points:
            if not math.isfinite(x + y):
                continue
            if mark.shape is Shape.CIRCLE:
                each.append(f'<circle cx="{_short(x)}" cy="{_short(y)}" r="{half}"/>')
            else:
                each.append(f'<path d="M{_short(x - float(half))} {_short(y)}{diamond}"/>')
        return f'<g fill="{variable(mark.colour)}"{faint}{edge}>{"".join(each)}</g>'

    def _words(self, mark: Words) -> str:
        x = self.left + self.width * mark.x if mark.x_is_share else self.across([mark.x])[0]
        y = self.along([mark.y])[0] - mark.offset[1]
        return _text(
            mark.text,
            float(x) + mark.offset[0],
            float(y),
            _WORDS_POINTS,
            upright=mark.upright,
            anchor="middle" if mark.is_centred else "start",
            is_bold=mark.is_bold,
        )

    def _key(self) -> Iterator[str]:
        named = [mark for mark in self.panel.marks if isinstance(mark, Line) and mark.name]
        columns = self.panel.key_columns
        if not named or not columns:
            return
        each = [key_width(mark.name) + 0.15 for mark in named]
        rows = -(-len(named) // columns)
        widths = [max(each[first : first + rows]) for first in range(0, len(named), rows)]
        left = self.right / _INCH - sum(widths)
        top = self.panel.top + 0.05
        for place, mark in enumerate(named):
            column, row = divmod(place, rows)
            yield from _key_entry(
                mark.name, mark, left + sum(widths[:column]), top + KEY_ROW_INCHES * row
            )


def _key_above(plot: Plot) -> Iterator[str]:
    rows = max(1, -(-len(plot.key) // plot.key_columns))
    each = [key_width(name) + 0.25 for name, _ in plot.key]
    widths = [max(each[first : first + rows]) for first in range(0, len(each), rows)]
    for place, (name, line) in enumerate(plot.key):
        column, row = divmod(place, rows)
        yield from _key_entry(name, line, 0.1 + sum(widths[:column]), 0.05 + 0.2 * row)


def _key_entry(name: str, line: Line, left: float, top: float) -> Iterator[str]:
    middle = (top + KEY_ROW_INCHES / 2) * _INCH
    begin, length = left * _INCH, (KEY_LINE_INCHES - 0.1) * _INCH
    path = f"M{_short(begin)} {_short(middle)}h{_short(length)}"
    yield _stroke(path, line.colour, line.width, is_dashed=line.is_dashed)
    yield _text(name, begin + KEY_LINE_INCHES * _INCH, middle, KEY_POINTS)


def _path(x: _Reals, y: _Reals, width: float) -> str:
    """The path through points; where they are dense, through the visible ones."""
    path, is_first = "", True
    if len(x) > 8 * _PER_POINT * width:
        x, y = _seen(x, y)
    for across, along in zip(x.tolist(), y.tolist(), strict=True):
        if not math.isfinite(across + along):
            is_first = True
            continue
        path += f"{'M' if is_first else 'L'}{_short(across)} {_short(along)}"
        is_first = False
    return path


def _seen(x: _Reals, y: _Reals) -> tuple[_Reals, _Reals]:
    """Of the points of each column its first, lowest, highest and last, in their order."""
    columns = np.floor(np.nan_to_num(x) * _PER_POINT).astype(np.int64)
    columns = np.where(np.isfinite(x + y), columns, np.iinfo(np.int64).min)
    begins = np.flatnonzero(np.r_[True, np.diff(columns) != 0])
    ends = np.r_[begins[1:], len(x)]
    kept: set[int] = set()
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        kept |= {begin, end - 1}
        if end - begin > 2 and math.isfinite(y[begin]):
            kept |= {begin + int(y[begin:end].argmin()), begin + int(y[begin:end].argmax())}
    order = sorted(kept)
    return x[order], y[order]


def _text(
    text: str,
    x: float,
    y: float,
    size: float,
    *,
    upright: str = "center",
    anchor: str = "start",
    is_bold: bool = False,
    more: str = "",
) -> str:
    """The lines of a text; `upright` names the part at y: "line" is the writing line."""
    if not text:
        return ""
    lines = text.split("\n")
    leading = 1.2 * size
    first = {
        "center": y + _CAPITAL / 2 * size - leading * (len(lines) - 1) / 2,
        "top": y + _CAPITAL * size,
        "bottom": y - _BELOW * size - leading * (len(lines) - 1),
        "line": y,
    }[upright]
    head = f'style="font-size: {size:g}px" fill="{variable(LIGHT.foreground)}"{more}'
    if anchor != "start":
        head += f' text-anchor="{anchor}"'
    if is_bold:
        head += ' font-weight="bold"'
    return "\n".join(
        f'<text x="{_short(x)}" y="{_short(first + leading * row)}" {head}>'
        f"{escape(line, quote=False)}</text>"
        for row, line in enumerate(lines)
    )


def _stroke(path: str, colour: str, width: float, *, is_dashed: bool = False) -> str:
    dashes = f' stroke-dasharray="{3.7 * width:.2f} {1.6 * width:.2f}"' if is_dashed else ""
    ink = f'stroke="{variable(colour)}" stroke-width="{width:g}"'
    return f'<path d="{path}" fill="none" {ink}{dashes}/>'


def _rectangle(left: float, top: float, width: float, height: float) -> str:
    return f'x="{_short(left)}" y="{_short(top)}" width="{_short(width)}" height="{_short(height)}"'


def _short(value: float) -> str:
    """A coordinate with at most two decimals."""
    text = f"{value:.2f}"
    return text.rstrip("0").rstrip(".")
