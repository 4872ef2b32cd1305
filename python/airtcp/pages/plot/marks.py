"""A figure as marks on scales, in inches: drawn directly, or by matplotlib for other forms.

Loading matplotlib and drawing a report's figures with it takes several times as long as everything
else in a report. `vector` writes the same description as SVG, `latex` as TikZ; `with_matplotlib`
makes a figure of it for PNG, PDF and notebooks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from airtcp.pages.plot.widths import text_inches

Places = Sequence[float] | NDArray[np.float64]

NARROW_INCHES = 4.0
"""Width of a figure for a phone: its smallest text is readable at 360 CSS pixels."""
WIDE_INCHES = 9.0


@dataclass(frozen=True)
class Line:
    """A line through points; NaN interrupts it."""

    x: Places
    y: Places
    colour: str
    width: float = 1.4
    """In points."""
    is_dashed: bool = False
    name: str = ""
    """Its name in the key; empty: not there."""


@dataclass(frozen=True)
class Area:
    """A filled outline."""

    x: Places
    y: Places
    colour: str
    opacity: float
    has_edge: bool = False


class Shape(Enum):
    """The shape of dots."""

    CIRCLE = "o"
    DIAMOND = "D"


@dataclass(frozen=True)
class Dots:
    """Equal dots."""

    x: Places
    y: Places
    colour: str
    size: float
    """Diameter of a circle, side of a diamond, in points."""
    shape: Shape = Shape.CIRCLE
    opacity: float = 1.0
    has_edge: bool = False
    """Whether an edge in the background's colour separates it from its neighbours."""


@dataclass(frozen=True)
class Words:
    """A text at a point."""

    text: str
    x: float
    y: float
    x_is_share: bool = False
    """Whether x is a share of the panel's width, from its left edge."""
    offset: tuple[float, float] = (0.0, 0.0)
    """To the right and upwards from the point, in points."""
    upright: str = "center"
    """Which part of the text is at the point: "center", "bottom" or "top"."""
    is_centred: bool = False
    """Whether it is centred horizontally; otherwise it begins at the point."""
    is_bold: bool = False


Mark = Line | Area | Dots | Words


@dataclass(frozen=True)
class Scale:
    """An axis: its ends, of which the first is left or at the bottom, and its ticks."""

    first: float
    last: float
    ticks: tuple[tuple[float, str], ...] = ()
    label: str = ""
    is_log: bool = False
    has_grid: bool = True
    has_tick_marks: bool = True


@dataclass(frozen=True)
class Panel:
    """Marks on two scales, in a rectangle; inches from the left and the top of the figure."""

    left: float
    top: float
    width: float
    height: float
    x: Scale
    y: Scale
    marks: tuple[Mark, ...]
    title: str = ""
    label_inches: float | None = None
    """Distance of the y label from the panel; None: next to the ticks."""
    key_columns: int = 0
    """Columns of the key in the upper right corner; 0: no key."""


@dataclass(frozen=True)
class Note:
    """A text in the upper left corner of the figure."""

    text: str
    size: float = 10.0


@dataclass(frozen=True)
class Plot:
    """A figure's panels, and the texts around them."""

    width: float
    height: float
    panels: tuple[Panel, ...]
    note: Note | None = None
    key: tuple[tuple[str, Line], ...] = ()
    """Names and lines of the key above the panels."""
    key_columns: int = 1


@dataclass(frozen=True)
class Grid:
    """Rows and columns of panels within margins, in inches."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    columns: int = 1
    between_rows: float = 0.0
    between_columns: float = 0.0
    heights: tuple[float, ...] = field(default=(1.0,))
    """The rows' shares of the height."""

    def rectangle(self, row: int, column: int = 0) -> tuple[float, float, float, float]:
        """Left, top, width and height of a panel."""
        gaps = (self.columns - 1) * self.between_columns
        width = (self.width - self.left - self.right - gaps) / self.columns
        gaps = (len(self.heights) - 1) * self.between_rows
        each = (self.height - self.top - self.bottom - gaps) / sum(self.heights)
        left = self.left + column * (width + self.between_columns)
        top = self.top + each * sum(self.heights[:row]) + row * self.between_rows
        return left, top, width, each * self.heights[row]


KEY_LINE_INCHES = 0.35
"""Width of a key's line and the space after it."""
KEY_ROW_INCHES = 0.18
KEY_POINTS = 9.0


def key_width(name: str) -> float:
    """Width of a name and its line in a key, in inches."""
    return KEY_LINE_INCHES + text_inches(name, KEY_POINTS)
