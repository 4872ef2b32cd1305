"""Figures of a report: drawn once, written as files, and set into the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from airtcp.files import write_whole
from airtcp.plot.svg import Drawing, png_of, svg_file, svg_in_page, svg_of
from airtcp.report.tables import Table


@dataclass(frozen=True)
class PlannedFigure:
    """A figure to be drawn: its file's name, its words, its numbers, and its table."""

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
    directory: Path, planned: Sequence[PlannedFigure], *, png: bool = False
) -> list[ReportFigure]:
    """Draws figures one after another, and writes each as SVG and, on request, as PNG.

    Raises:
        OSError: a file cannot be written.
    """
    return [
        ReportFigure(
            one.name,
            one.title,
            one.caption,
            # Written by matplotlib from our own numbers, with its own escaping.
            Markup(svg_in_page(svg, f"{one.title}; its numbers are in the table below")),
            one.table,
        )
        for one in planned
        for svg in [write_figure(directory, one.name, one.drawing, png=png)]
    ]


def write_figure(directory: Path, name: str, drawing: Drawing, *, png: bool = False) -> str:
    """Draws a figure and writes its files; returns its `<svg>` element.

    Raises:
        OSError: a file cannot be written.
    """
    figure = drawing.figure()
    svg = svg_of(figure, name)
    write_whole(directory / f"{name}.svg", svg_file(svg))
    if png:
        write_whole(directory / f"{name}.png", png_of(figure))
    return svg
