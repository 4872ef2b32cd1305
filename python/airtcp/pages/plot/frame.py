"""Margins in inches, from the widths of their texts.

Matplotlib's layout engines draw a figure once or twice to measure it. Here the margins are known
before anything is drawn.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from airtcp.core.bpf import with_program_names
from airtcp.pages.plot.widths import text_inches

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def fitted(name: str, inches: float) -> str:
    """The name of a remedy, shortened in the middle if it is wider; tables have it whole."""
    name = with_program_names(name)
    kept = len(name)
    while kept > 1 and text_inches(_shortened(name, kept)) > inches:
        kept -= 1
    return _shortened(name, kept)


def _shortened(name: str, kept: int) -> str:
    if kept >= len(name):
        return name
    return f"{name[: kept - kept // 2]}…{name[len(name) - kept // 2 :]}"


def frame(
    figure: "Figure",
    *,
    left: float,
    right: float,
    top: float,
    bottom: float,
    between_rows: float = 0.0,
    between_columns: float = 0.0,
    rows: int = 1,
    columns: int = 1,
    is_rigid: bool = False,
) -> None:
    """Sets the margins around the axes of a figure, and between them, in inches.

    A rigid figure has texts in its axes that need their width; any other may be made narrower.
    """
    margins = _Margins(left, right, top, bottom, between_rows, between_columns, rows, columns)
    margins.apply(figure)
    if not is_rigid:
        _MARGINS[figure] = margins


def narrowed(figure: "Figure", inches: float) -> bool:
    """Makes a figure narrower, with the same margins; returns whether it was.

    Its axes keep at least a readable width each, and then it stays wider.
    """
    margins = _MARGINS.get(figure)
    if margins is None:
        return False
    width = max(inches, margins.sides + _NARROWEST_INCHES * margins.columns)
    if width >= figure.get_figwidth():
        return False
    figure.set_size_inches(width, figure.get_figheight())
    margins.apply(figure)
    return True


@dataclass(frozen=True)
class _Margins:
    """In inches, around the axes and between their rows and columns."""

    left: float
    right: float
    top: float
    bottom: float
    between_rows: float
    between_columns: float
    rows: int
    columns: int

    @property
    def sides(self) -> float:
        """The width of a figure apart from its axes."""
        return self.left + self.right + (self.columns - 1) * self.between_columns

    def apply(self, figure: "Figure") -> None:
        width, height = figure.get_size_inches()
        each_width = (width - self.sides) / self.columns
        ends = self.top + self.bottom + (self.rows - 1) * self.between_rows
        each_height = (height - ends) / self.rows
        figure.subplots_adjust(
            left=self.left / width,
            right=1.0 - self.right / width,
            top=1.0 - self.top / height,
            bottom=self.bottom / height,
            wspace=self.between_columns / each_width,
            hspace=self.between_rows / each_height,
        )


_MARGINS: "WeakKeyDictionary[Figure, _Margins]" = WeakKeyDictionary()
_NARROWEST_INCHES = 1.8
"""Minimum width of axes, which have room for a label and a few ticks there."""
