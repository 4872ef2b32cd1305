"""Margins in inches, from the widths of their texts.

Matplotlib's layout engines draw a figure once or twice to measure it. Here the margins are known
before anything is drawn.
"""

from typing import TYPE_CHECKING

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
