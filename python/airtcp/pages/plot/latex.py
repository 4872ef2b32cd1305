"""A drawing as source for LaTeX: its marks written directly, or its figure of matplotlib."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from airtcp.pages.plot.layout import INCH, Reals, Segment, Text, lay_out
from airtcp.pages.plot.marks import Area, Dots, Line, Plot, Shape
from airtcp.pages.plot.plotted import PlotInTwoWidths, Plotted
from airtcp.pages.plot.style import LIGHT
from airtcp.pages.plot.tikz import Box, Ink, Picture, Step, circle, line
from airtcp.pages.plot.vector import DASHES, EDGE

if TYPE_CHECKING:
    from airtcp.pages.plot.svg import Drawing

_COLUMNS_AN_INCH = 150.0
"""In which a long line keeps its first, lowest, highest and last point: half its thickness."""


def latex_of(drawing: "Drawing", width: float) -> str:
    """The source of a drawing for a width in inches, in its variant that needs less scaling."""
    if isinstance(drawing, Plotted):
        return latex_of_plot(_for_width(drawing, width), width)
    # Loads matplotlib.
    from airtcp.pages.plot.latex_of_figure import latex_of_figure
    from airtcp.pages.plot.printed import for_width

    return latex_of_figure(for_width(drawing, width), width)


def latex_of_plot(plot: Plot, width: float) -> str:
    """The source of a figure of marks, scaled to a width in inches."""
    canvas = _TikzCanvas(plot, width / plot.width)
    lay_out(plot, canvas)
    return canvas.picture.source()


def _for_width(drawing: Plotted, width: float) -> Plot:
    plot = drawing.plot()
    if isinstance(drawing, PlotInTwoWidths) and width < plot.width:
        narrow = drawing.narrow_plot()
        if abs(narrow.width - width) < abs(plot.width - width):
            return narrow
    return plot


class _TikzCanvas:
    """A picture of TikZ as a canvas."""

    def __init__(self, plot: Plot, scale: float) -> None:
        self.scale = scale
        self.columns = _COLUMNS_AN_INCH / INCH * scale
        self.height = plot.height * INCH
        self.picture = Picture(plot.width * INCH * scale, self.height * scale)

    def segments(self, segments: Sequence[Segment], colour: str, width: float) -> None:
        steps, last = [], None
        for x, y, to_x, to_y in segments:
            if (x, y) != last:
                steps.append(Step("move", (self._place(x, y),)))
            steps.append(Step("line", (self._place(to_x, to_y),)))
            last = to_x, to_y
        self.picture.path(Ink(colour, width * self.scale), steps)

    def line(self, x: Reals, y: Reals, mark: Line) -> None:
        width = mark.width * self.scale
        dashes = tuple(width * length for length in DASHES) if mark.is_dashed else ()
        self.picture.path(Ink(mark.colour, width, dashes), self._line(x, y))

    def area(self, x: Reals, y: Reals, mark: Area) -> None:
        edge = mark.colour if mark.has_edge else None
        ink = Ink(edge, self.scale, (), mark.opacity, mark.colour, mark.opacity)
        self.picture.path(ink, [*self._line(x, y), Step("close")])

    def dots(self, x: Reals, y: Reals, mark: Dots) -> None:
        edge = LIGHT.background if mark.has_edge else None
        ink = Ink(edge, EDGE * self.scale, fill=mark.colour, fill_opacity=mark.opacity)
        if mark.shape is Shape.CIRCLE:
            shape = circle(mark.size / 2 * self.scale)
        else:
            half = mark.size / math.sqrt(2) * self.scale
            shape = [*line((-half, 0.0, half, 0.0), (0.0, half, 0.0, -half)), Step("close")]
        places = map(self._place, x.tolist(), y.tolist())
        self.picture.marks(ink, shape, places)

    def text(self, text: Text) -> None:
        self.picture.text(
            text.text,
            self._place(text.x, text.y),
            text.size * self.scale,
            text.anchor,
            angle=90.0 if text.is_turned else 0.0,
            is_bold=text.is_bold,
        )

    @contextmanager
    def within(self, box: Segment, name: str) -> Iterator[None]:
        left, top, right, bottom = box
        corners: Box = (*self._place(left, bottom), *self._place(right, top))
        self.picture.clip = corners
        yield
        self.picture.clip = None

    def _place(self, x: float, y: float) -> tuple[float, float]:
        return x * self.scale, (self.height - y) * self.scale

    def _line(self, x: Reals, y: Reals) -> list[Step]:
        return line((x * self.scale).tolist(), ((self.height - y) * self.scale).tolist())
