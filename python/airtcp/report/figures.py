"""Figures of a report: drawn once, written as files, and set into the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from airtcp.plot.svg import Drawing, svg_in_page
from airtcp.report.drawing import Sheet, draw_all
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
    """Draws figures, and writes each as SVG and, on request, as PNG.

    Raises:
        OSError: a file cannot be written.
    """
    sheets = [Sheet(one.name, one.drawing) for one in planned]
    return [
        ReportFigure(
            one.name,
            one.title,
            one.caption,
            # Written by matplotlib from our own numbers, with its own escaping.
            Markup(svg_in_page(svg, f"{one.title}; its numbers are in the table below")),
            one.table,
        )
        for one, svg in zip(planned, draw_all(directory, sheets, png=png), strict=True)
    ]
