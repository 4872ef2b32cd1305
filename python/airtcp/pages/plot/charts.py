"""A chart: lines with intervals for numeric x, points with bars for names."""

from dataclasses import dataclass
from textwrap import wrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from airtcp.pages.plot.frame import frame
from airtcp.pages.plot.style import BLUE, LIGHT, house_style, line_colours
from airtcp.pages.plot.widths import widest_inches

Place = float | int | str
"""Position of a point on x."""

_WIDTH_INCHES = 7.8
_LEGEND_INCHES = 0.42
"""Width of a legend, apart from its names."""
_SINE_OF_25 = 0.43


@dataclass(frozen=True)
class Line:
    """One line: means and half 95 % intervals at each x, and the paper's numbers if any."""

    name: str
    means: tuple[float | None, ...]
    halves: tuple[float, ...]
    paper: tuple[float | None, ...]


@dataclass(frozen=True)
class Chart:
    """A chart as numbers, in the unit that its y label names."""

    title: str
    x_label: str
    y_label: str
    x: tuple[Place, ...]
    lines: tuple[Line, ...]
    seeds: int
    caption: str = ""
    is_gain: bool = False

    @property
    def is_numeric(self) -> bool:
        """Whether x is a quantity rather than a list of names."""
        return all(isinstance(place, int | float) for place in self.x)

    def figure(self) -> Figure:
        """Means and 95 % intervals; the paper's are hollow diamonds of the same colour."""
        colours = line_colours([line.name for line in self.lines])
        has_paper = any(number is not None for line in self.lines for number in line.paper)
        names = [line.name for line in self.lines] + (["the paper"] if has_paper else [])
        names = [_wrapped(name) for name in names]
        legend = _LEGEND_INCHES + widest_inches(names)
        with house_style():
            figure = Figure(figsize=(_WIDTH_INCHES, 3.7))
            axes = figure.subplots()
            for index, line in enumerate(self.lines):
                self._draw(axes, index, line, colours[line.name])
            bottom = self._name_places(axes, _WIDTH_INCHES - 0.95 - legend)
            axes.margins(y=0.08)
            if self.is_gain:
                axes.axhline(0.0, color=LIGHT.foreground, linewidth=0.8)
            else:
                axes.set_ylim(bottom=0.0, top=1.05 * axes.get_ylim()[1])
            if _spans_decades(self):
                axes.set_xscale("log")
            axes.set_xlabel(self.x_label)
            axes.set_ylabel(self.y_label)
            if has_paper:
                axes.plot(
                    [], [], "D", markerfacecolor="none", color=LIGHT.foreground, label="the paper"
                )
            axes.legend(
                loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, handlelength=1.6
            )
            frame(figure, left=0.85, right=0.1 + legend, top=0.12, bottom=bottom)
        return figure

    def _draw(self, axes: Axes, index: int, line: Line, colour: str) -> None:
        if self.is_numeric:
            _curve(axes, np.asarray(self.x, dtype=np.float64), line, colour)
            return
        width = 0.6 / max(1, len(self.lines))
        shift = (index - (len(self.lines) - 1) / 2) * width
        _points(axes, np.arange(len(self.x), dtype=np.float64) + shift, line, colour)

    def _name_places(self, axes: Axes, inches: float) -> float:
        """Writes the names of places below axes of this width; returns the height below."""
        if self.is_numeric:
            return 0.55
        names = [str(place) for place in self.x]
        axes.set_xticks(range(len(names)), names)
        axes.grid(visible=False, axis="x")
        if widest_inches(names) < 0.9 * inches / len(names):
            return 0.55
        axes.tick_params(axis="x", labelrotation=25)
        for label in axes.get_xticklabels():
            label.set_horizontalalignment("right")
            label.set_rotation_mode("anchor")
        return 0.5 + _SINE_OF_25 * widest_inches(names)


@dataclass(frozen=True)
class Distances:
    """Distance of each place of a calibration from the paper's facts, as shares."""

    distances: tuple[tuple[str, float], ...]
    chosen: str

    def figure(self) -> Figure:
        """One bar per place, the nearest on top."""
        rows = sorted(self.distances, key=lambda row: row[1], reverse=True)
        with house_style():
            figure = Figure(figsize=(7.2, 0.7 + 0.24 * len(rows)))
            axes = figure.subplots()
            for place, (name, distance) in enumerate(rows):
                colour = BLUE if name == self.chosen else LIGHT.baseline
                axes.barh(place, 100 * distance, color=colour, height=0.7)
            names = [name for name, _ in rows]
            axes.set_yticks(range(len(rows)), names, fontsize=9)
            axes.set_ylim(-0.6, len(rows) - 0.4)
            axes.set_xlabel("mean distance from the paper's facts (%); blue: chosen")
            axes.grid(visible=False, axis="y")
            frame(figure, left=0.2 + widest_inches(names), right=0.15, top=0.1, bottom=0.55)
        return figure


def _wrapped(name: str) -> str:
    return "\n".join(wrap(name, 30, break_long_words=False))


def _spans_decades(chart: Chart) -> bool:
    if not chart.is_numeric:
        return False
    places = [float(place) for place in chart.x]
    return min(places) > 0 and max(places) / min(places) >= 100


def _curve(axes: Axes, positions: np.ndarray, line: Line, colour: str) -> None:
    means = np.array([np.nan if mean is None else mean for mean in line.means])
    halves = np.array(line.halves)
    axes.plot(positions, means, color=colour, marker="o", markersize=3.5, label=_wrapped(line.name))
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
        label=_wrapped(line.name),
    )
    _paper(axes, positions, line, colour)


def _paper(axes: Axes, positions: np.ndarray, line: Line, colour: str) -> None:
    numbers = [np.nan if number is None else number for number in line.paper]
    if not all(np.isnan(numbers)):
        axes.plot(
            positions, numbers, "D", markerfacecolor="none", color=colour, markersize=7, zorder=5
        )
