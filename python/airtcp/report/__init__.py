"""The report of a comparison: one HTML page that needs no other file, and the same as data."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib.figure import Figure

from airtcp.plot import TIMELINE_PROBES
from airtcp.plot.comparison import comparison_figure
from airtcp.plot.style import DARK, LIGHT, Theme, png_bytes, remedy_colours, svg_bytes
from airtcp.plot.timeline import timeline_figure
from airtcp.report.tables import Table, cost_table, goodput_table, seeds_table, timeline_rows
from airtcp.runs import Run, run
from airtcp.study.cells import BASELINE
from airtcp.study.compare import Comparison

_MOST_TIMELINES = 8
"""Beside the best remedy's, so many remedies at most get a timeline of their own."""


class Draw(Protocol):
    """Draws a figure in a theme."""

    def __call__(self, *, theme: Theme) -> Figure: ...  # noqa: D102


@dataclass(frozen=True)
class ReportFigure:
    """A figure of the report with its words and its table."""

    name: str
    title: str
    caption: str
    light: str
    dark: str
    table: Table


def write_report(comparison: Comparison, directory: Path, command: str | None = None) -> Path:
    """Writes index.html, comparison.csv and each figure as PNG and SVG; returns index.html's path.

    Runs the first seed once more with probes, for the baseline and each remedy shown.

    Raises:
        OSError: the directory cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    comparison.table.write_csv(directory / "comparison.csv")
    figures = [
        report_figure(
            directory,
            "comparison",
            "Goodput against the baseline",
            "Each dot is one seed: the remedy's goodput minus the baseline's over the same channel."
            " The diamond is their mean, the bar its 95 % confidence interval."
            " A bar that crosses the line at zero shows no difference.",
            partial(comparison_figure, comparison),
            seeds_table(comparison),
        ),
        *_timelines(comparison, directory),
    ]
    page = directory / "index.html"
    page.write_text(
        environment()
        .get_template("report.html.j2")
        .render(
            comparison=comparison,
            goodput=goodput_table(comparison),
            cost=cost_table(comparison),
            figures=figures,
            command=command,
            digests=comparison.cells.select("remedy", "seed", "digest").iter_rows(),
            engine_version=comparison.cells["engine_version"][0],
            scenario=comparison.cells["scenario"][0],
            scenario_hash=comparison.cells["scenario_hash"][0],
        ),
        encoding="utf-8",
    )
    return page


def fragment(comparison: Comparison) -> str:
    """The verdict, the table and the figure of a comparison, as HTML for notebooks."""
    return (
        environment()
        .get_template("fragment.html.j2")
        .render(
            comparison=comparison,
            goodput=goodput_table(comparison),
            figure=data_url(comparison_figure(comparison)),
        )
    )


def _timelines(comparison: Comparison, directory: Path) -> list[ReportFigure]:
    """The baseline beside the best remedy, then beside each of the others."""
    others = [remedy for remedy in comparison.remedies[1:] if remedy != comparison.best]
    shown = [comparison.best, *others[:_MOST_TIMELINES]]
    seed = comparison.seeds[0]
    runs = {remedy: _observed(comparison, remedy, seed) for remedy in (BASELINE, *shown)}
    figures = []
    for index, remedy in enumerate(shown):
        pair = [(name, runs[name]) for name in (BASELINE, remedy)]
        figures.append(
            report_figure(
                directory,
                "timeline" if index == 0 else f"timeline-{index + 1}",
                f"{remedy} beside the baseline, seed {seed}",
                "One flow of one run each. Above, ticks where the sender's timer expired, where "
                "it did so although the segment had arrived or was still under way (spurious), "
                "and where duplicate acknowledgments brought a fast retransmit; then the "
                "congestion window, the smoothed round-trip time with the retransmission "
                "timeout, and the goodput.",
                _draw_timeline(comparison, pair),
                timeline_rows(pair),
            )
        )
    return figures


def _draw_timeline(comparison: Comparison, pair: Sequence[tuple[str, Run]]) -> Draw:
    """A remedy has the same colour here as in the comparison figure."""

    def draw(*, theme: Theme) -> Figure:
        colours = remedy_colours(comparison.remedies, theme)
        return timeline_figure(pair, colours=colours, theme=theme)

    return draw


def _observed(comparison: Comparison, remedy: str, seed: int) -> Run:
    remedies = [] if remedy == BASELINE else [remedy]
    return run(comparison.scenario, seed, remedies=remedies, probes=TIMELINE_PROBES)


def report_figure(
    directory: Path, name: str, title: str, caption: str, draw: Draw, table: Table
) -> ReportFigure:
    """Draws a figure in both themes, and writes it as PNG and SVG."""
    light = draw(theme=LIGHT)
    (directory / f"{name}.png").write_bytes(png_bytes(light))
    (directory / f"{name}.svg").write_bytes(svg_bytes(light))
    return ReportFigure(name, title, caption, data_url(light), data_url(draw(theme=DARK)), table)


def data_url(figure: Figure) -> str:
    """A figure as a URL that holds it."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg_bytes(figure)).decode()


def environment() -> Environment:
    """Where the templates of all reports are."""
    return Environment(
        loader=PackageLoader("airtcp.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
