"""The figure of a sweep: each remedy's gain along an axis, a panel for each of the other axes."""

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from airtcp.pages.plot.frame import fitted, frame
from airtcp.pages.plot.style import LIGHT, house_style, remedy_colours

_NAME_INCHES = 1.6
"""Widest name in the legend, which has four columns."""
_WIDE = 20.0
"""Minimum ratio of the largest to the smallest value for a logarithmic axis."""


@dataclass(frozen=True)
class SweepLine:
    """A remedy along the axis: the gain at each of its values, in per cent, with its interval."""

    remedy: str
    at: tuple[int, ...]
    """Indices of the values on the axis."""
    percent: tuple[float, ...]
    half: tuple[float, ...]
    """Half the 95 % interval; 0 without one."""


@dataclass(frozen=True)
class SweepPanel:
    """The lines at one combination of the other axes."""

    title: str
    lines: tuple[SweepLine, ...]


@dataclass(frozen=True)
class SweepLines:
    """The figure's numbers and words."""

    axis: str
    values: tuple[float | str, ...]
    panels: tuple[SweepPanel, ...]

    def figure(self) -> Figure:
        """Panels stacked vertically; a line per remedy with its intervals as bars."""
        remedies = list(dict.fromkeys(line.remedy for one in self.panels for line in one.lines))
        # The baseline's colour is used for the zero line.
        colours = remedy_colours(["baseline", *remedies])
        count = len(self.panels)
        numbers = [value for value in self.values if not isinstance(value, str)]
        is_numeric = len(numbers) == len(self.values)
        with house_style():
            figure = Figure(figsize=(9.0, 0.9 + 3.0 * count))
            grid = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
            for axes, panel in zip(grid, self.panels, strict=True):
                axes.axhline(0.0, color=LIGHT.baseline, linewidth=1.2, zorder=1)
                for line in panel.lines:
                    places = [numbers[at] if is_numeric else at for at in line.at]
                    axes.errorbar(
                        places,
                        line.percent,
                        yerr=line.half,
                        color=colours[line.remedy],
                        marker="o",
                        markersize=4,
                        linewidth=1.6,
                        capsize=3,
                        label=line.remedy,
                    )
                axes.set_title(panel.title)
                axes.set_ylabel("gain in goodput (%)")
            self._scale(grid[-1], numbers, is_numeric=is_numeric)
            handles, labels = grid[0].get_legend_handles_labels()
            names = [fitted(name, _NAME_INCHES) for name in labels]
            figure.legend(handles, names, loc="upper left", ncols=4, borderaxespad=0.2)
            frame(figure, left=0.8, right=0.3, top=0.6, bottom=0.6, rows=count, between_rows=0.4)
        return figure

    def _scale(self, axes: Axes, numbers: list[float], *, is_numeric: bool) -> None:
        axes.set_xlabel(self.axis)
        if not is_numeric:
            axes.set_xticks(range(len(self.values)), [str(value) for value in self.values])
            return
        if min(numbers) > 0 and max(numbers) > _WIDE * min(numbers):
            axes.set_xscale("log")
        axes.set_xticks(sorted(set(numbers)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.minorticks_off()
