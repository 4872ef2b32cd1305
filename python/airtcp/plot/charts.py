"""A chart: lines with bands where x is a quantity, points with bars where it is names."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from airtcp.papers.charts import Chart, Line
from airtcp.papers.experiment import Value
from airtcp.plot.style import BLUE, LIGHT, Theme, drawn_in, line_colours


def chart_figure(chart: Chart, theme: Theme = LIGHT) -> Figure:
    """Means and 95 % intervals; the paper's numbers are hollow diamonds of the same colour."""
    colours = line_colours([line.name for line in chart.lines], theme)
    with drawn_in(theme):
        figure = Figure(figsize=(7.2, 3.9))
        axes = figure.subplots()
        positions = (
            np.asarray(chart.x, dtype=np.float64)
            if chart.is_numeric
            else np.arange(len(chart.x), dtype=np.float64)
        )
        for index, line in enumerate(chart.lines):
            colour = colours[line.name]
            if chart.is_numeric:
                _curve(axes, positions, line, colour)
            else:
                width = 0.6 / max(1, len(chart.lines))
                shift = (index - (len(chart.lines) - 1) / 2) * width
                _points(axes, positions + shift, line, colour)
        if not chart.is_numeric:
            axes.set_xticks(positions, [str(place) for place in chart.x])
            axes.grid(visible=False, axis="x")
            if len(chart.x) > 6 or max(len(str(place)) for place in chart.x) > 14:
                axes.tick_params(axis="x", labelrotation=25)
                for label in axes.get_xticklabels():
                    label.set_horizontalalignment("right")
        axes.margins(y=0.08)
        if chart.is_gain:
            axes.axhline(0.0, color=theme.foreground, linewidth=0.8)
        else:
            axes.set_ylim(bottom=0.0, top=1.05 * axes.get_ylim()[1])
        if _spans_decades(chart):
            axes.set_xscale("log")
        axes.set_xlabel(chart.x_label)
        axes.set_ylabel(chart.y_label)
        if any(number is not None for line in chart.lines for number in line.paper):
            axes.plot(
                [], [], "D", markerfacecolor="none", color=theme.foreground, label="the paper"
            )
        axes.legend(
            loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, handlelength=1.6
        )
        figure.tight_layout()
    return figure


def distance_figure(
    distances: Mapping[Value, float], chosen: Value, theme: Theme = LIGHT
) -> Figure:
    """How far each place of a calibration is from the paper's facts, the nearest on top."""
    places = sorted(distances, key=lambda place: distances[place], reverse=True)
    with drawn_in(theme):
        figure = Figure(figsize=(7.2, 0.9 + 0.24 * len(places)))
        axes = figure.subplots()
        for row, place in enumerate(places):
            colour = BLUE if place == chosen else theme.baseline
            axes.barh(row, 100 * distances[place], color=colour, height=0.7)
        axes.set_yticks(range(len(places)), [str(place) for place in places], fontsize=8)
        axes.set_xlabel("mean distance from the paper's facts (%); blue: chosen")
        axes.grid(visible=False, axis="y")
        figure.tight_layout()
    return figure


def _spans_decades(chart: Chart) -> bool:
    if not chart.is_numeric:
        return False
    places = [float(place) for place in chart.x]
    return min(places) > 0 and max(places) / min(places) >= 100


def _curve(axes: Axes, positions: np.ndarray, line: Line, colour: str) -> None:
    means = np.array([np.nan if mean is None else mean for mean in line.means])
    halves = np.array(line.halves)
    axes.plot(positions, means, color=colour, marker="o", markersize=3.5, label=line.name)
    axes.fill_between(positions, means - halves, means + halves, color=colour, alpha=0.18, lw=0)
    _paper(axes, positions, line, colour)


def _points(axes: Axes, positions: np.ndarray, line: Line, colour: str) -> None:
    means = np.array([np.nan if mean is None else mean for mean in line.means])
    axes.errorbar(
        positions,
        means,
        yerr=np.array(line.halves),
        fmt="o",
        color=colour,
        markersize=5,
        capsize=2,
        label=line.name,
    )
    _paper(axes, positions, line, colour)


def _paper(axes: Axes, positions: np.ndarray, line: Line, colour: str) -> None:
    numbers = [np.nan if number is None else number for number in line.paper]
    if not all(np.isnan(numbers)):
        axes.plot(
            positions, numbers, "D", markerfacecolor="none", color=colour, markersize=7, zorder=5
        )
