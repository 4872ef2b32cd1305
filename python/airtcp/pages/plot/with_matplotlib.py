"""Makes a matplotlib figure of marks: for PNG, PDF and further changes."""

from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from matplotlib.ticker import NullFormatter, NullLocator
from matplotlib.transforms import Affine2DBase, ScaledTranslation, blended_transform_factory

from airtcp.pages.plot.marks import Area, Dots, Line, Panel, Plot, Scale, Shape, Words
from airtcp.pages.plot.style import LIGHT, house_style

_WORDS_POINTS = 9.0


def figure_of(plot: Plot) -> Figure:
    """The figure, its texts and scales as the marks have them."""
    with house_style():
        figure = Figure(figsize=(plot.width, plot.height))
        for panel in plot.panels:
            bottom = plot.height - panel.top - panel.height
            place = (
                panel.left / plot.width,
                bottom / plot.height,
                panel.width / plot.width,
                panel.height / plot.height,
            )
            _draw(figure, figure.add_axes(place), panel)
        if plot.note is not None:
            top = 1.0 - 0.1 / plot.height
            figure.text(0.01, top, plot.note.text, va="top", fontsize=plot.note.size)
        if plot.key:
            figure.legend(
                [Line2D([], [], **_look(line)) for _, line in plot.key],
                [name for name, _ in plot.key],
                loc="upper left",
                ncols=plot.key_columns,
                borderaxespad=0.2,
            )
    return figure


def _draw(figure: Figure, axes: Axes, panel: Panel) -> None:
    _set_scale(axes, "x", panel.x)
    _set_scale(axes, "y", panel.y)
    axes.set_title(panel.title)
    if panel.label_inches is not None:
        inches = figure.dpi_scale_trans + ScaledTranslation(
            0.0, 0.0, cast(Affine2DBase, axes.transAxes)
        )
        across = blended_transform_factory(inches, axes.transAxes)
        axes.yaxis.set_label_coords(-panel.label_inches, 0.5, transform=across)
    for mark in panel.marks:
        match mark:
            case Line():
                axes.plot(mark.x, mark.y, label=mark.name or "_", **_look(mark))
            case Area():
                outline = Polygon(
                    np.column_stack((mark.x, mark.y)),
                    facecolor=mark.colour,
                    edgecolor=mark.colour if mark.has_edge else "none",
                    alpha=mark.opacity,
                    zorder=2,
                )
                axes.add_patch(outline)
            case Dots():
                _draw_dots(axes, mark)
            case Words():
                _draw_words(axes, mark)
    if panel.key_columns:
        axes.legend(loc="upper right", ncols=panel.key_columns)


def _look(line: Line) -> dict[str, Any]:
    style = "--" if line.is_dashed else "-"
    return {"color": line.colour, "linewidth": line.width, "linestyle": style}


def _set_scale(axes: Axes, which: str, scale: Scale) -> None:
    axis = axes.xaxis if which == "x" else axes.yaxis
    if scale.is_log:
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    (axes.set_xlim if which == "x" else axes.set_ylim)(scale.first, scale.last)
    axis.set_ticks([place for place, _ in scale.ticks], [text for _, text in scale.ticks])
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())
    axis.set_label_text(scale.label)
    axis.grid(visible=scale.has_grid)
    if not scale.has_tick_marks:
        axis.set_tick_params(length=0)


def _draw_dots(axes: Axes, mark: Dots) -> None:
    axes.scatter(
        mark.x,
        mark.y,
        # The area of the circle's square, and that of the diamond.
        s=mark.size**2,
        marker=mark.shape.value if mark.shape is Shape.DIAMOND else "o",
        color=mark.colour,
        alpha=mark.opacity,
        edgecolors=LIGHT.background if mark.has_edge else "none",
        zorder=3,
    )


def _draw_words(axes: Axes, mark: Words) -> None:
    axes.annotate(
        mark.text,
        xy=(mark.x, mark.y),
        xycoords=("axes fraction" if mark.x_is_share else "data", "data"),
        xytext=mark.offset,
        textcoords="offset points",
        va=mark.upright,
        ha="center" if mark.is_centred else "left",
        fontsize=_WORDS_POINTS,
        fontweight="bold" if mark.is_bold else "normal",
        annotation_clip=False,
        zorder=4,
    )
