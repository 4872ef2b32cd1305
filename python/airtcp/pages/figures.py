"""Figures of a report: drawn once, written as files, and embedded in the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from airtcp.core.files import write_whole
from airtcp.pages.drawing import Sheet, draw_all
from airtcp.pages.latex import tabular
from airtcp.pages.plot.plotted import NarrowPlot, PlotInTwoWidths
from airtcp.pages.plot.svg import Drawing, ForPhones, Narrow, svg_in_page
from airtcp.pages.tables import Table


@dataclass(frozen=True)
class PlannedFigure:
    """A figure to draw: its file's name, its words, its numbers, and its table."""

    name: str
    title: str
    caption: str
    drawing: Drawing
    table: Table


@dataclass(frozen=True)
class ReportFigure:
    """A figure of the report with its words and its table."""

    name: str
    title: str
    caption: str
    svg: Markup
    table: Table


def drawn(
    directory: Path,
    planned: Sequence[PlannedFigure],
    *,
    png: bool = False,
    width: float | None = None,
) -> list[ReportFigure]:
    """Draws figures, and writes each as SVG and, on request, as PNG.

    With a width in inches, each is a PDF and a picture of LaTeX of that width, too, and its table
    is written as LaTeX.

    Raises:
        OSError: a file cannot be written.
    """
    sheets = [Sheet(one.name, one.drawing) for one in planned]
    sheets += [
        Sheet(f"{one.name}-narrow", narrow, is_file=False)
        for one in planned
        if (narrow := _narrow(one.drawing)) is not None
    ]
    names = (sheet.name for sheet in sheets)
    svgs = dict(zip(names, draw_all(directory, sheets, png=png, width=width), strict=True))
    if width is not None:
        for one in planned:
            write_whole(directory / f"{one.name}.tex", tabular(one.table).encode())
    return [
        ReportFigure(one.name, one.title, one.caption, _in_page(one, svgs), one.table)
        for one in planned
    ]


def _narrow(drawing: Drawing) -> Drawing | None:
    """A drawing's variant for phones; None without one."""
    if isinstance(drawing, PlotInTwoWidths):
        return NarrowPlot(drawing)
    return Narrow(drawing) if isinstance(drawing, ForPhones) else None


def _in_page(one: PlannedFigure, svgs: Mapping[str, str]) -> Markup:
    """A figure's element; both elements if it has a variant for phones: one is shown."""
    label = f"{one.title}; its numbers are in the table below"
    # Written from our numbers, with its texts escaped.
    wide = svg_in_page(svgs[one.name], label)
    narrow = svgs.get(f"{one.name}-narrow")
    if narrow is None:
        return Markup(wide)
    slim = svg_in_page(narrow, label)
    return Markup(f'<div class="roomy">{wide}</div>\n<div class="slim">{slim}</div>')
