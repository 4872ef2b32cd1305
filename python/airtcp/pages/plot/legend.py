"""A legend above a figure's axes, in as many rows as its names need."""

from collections.abc import Sequence
from math import ceil

from matplotlib.artist import Artist
from matplotlib.figure import Figure

from airtcp.pages.plot.frame import frame


def legend_above(
    figure: Figure, handles: Sequence[Artist], columns: int, *, spacing: float
) -> None:
    """Adds the legend, and sets the margins with room for it.

    Args:
        figure: a figure with one pair of axes.
        handles: the entries of the legend.
        columns: names in a row.
        spacing: between columns, in font sizes.
    """
    top = 0.25 + 0.2 * ceil(len(handles) / columns)
    frame(figure, left=0.85, right=0.2, top=top, bottom=0.6)
    figure.legend(
        handles=handles,
        loc="upper left",
        ncols=columns,
        bbox_to_anchor=(0.01, 1.0),
        columnspacing=spacing,
        fontsize=9,
    )
