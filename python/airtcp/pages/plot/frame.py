"""Margins in inches, from the widths of their texts.

Matplotlib's layout engines draw a figure once or twice to measure it. Here the margins are known
before anything is drawn.
"""

from collections.abc import Iterable
from functools import cache

from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from airtcp.core.bpf import with_program_names

_POINTS_AN_INCH = 72.0


@cache
def text_inches(text: str, points: float = 9.0) -> float:
    """The width of the widest line of a text, in inches."""
    font = FontProperties(family="DejaVu Sans", size=points)
    widths = [
        text_to_path.get_text_width_height_descent(line, font, ismath=False)[0]
        for line in text.split("\n")
    ]
    return float(max(widths)) / _POINTS_AN_INCH


def widest_inches(texts: Iterable[str], points: float = 9.0) -> float:
    """The width of the widest of some texts, in inches; 0 without any."""
    return max((text_inches(text, points) for text in texts), default=0.0)


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
    figure: Figure,
    *,
    left: float,
    right: float,
    top: float,
    bottom: float,
    between_rows: float = 0.0,
    between_columns: float = 0.0,
    rows: int = 1,
    columns: int = 1,
) -> None:
    """Sets the margins around the axes of a figure, and between them, in inches."""
    width, height = figure.get_size_inches()
    each_width = (width - left - right - (columns - 1) * between_columns) / columns
    each_height = (height - top - bottom - (rows - 1) * between_rows) / rows
    figure.subplots_adjust(
        left=left / width,
        right=1.0 - right / width,
        top=1.0 - top / height,
        bottom=bottom / height,
        wspace=between_columns / each_width,
        hspace=between_rows / each_height,
    )
