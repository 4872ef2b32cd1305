"""The latency figures: a distribution for each remedy, and box plots."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from airtcp.core.catalogue import BASELINE
from airtcp.pages.plot.frame import fitted, frame, widest_inches
from airtcp.pages.plot.style import LIGHT, house_style, remedy_colours
from airtcp.pages.plot.svg import InTwoWidths

WHISKERS = (5.0, 95.0)
"""Percentiles at the ends of the whiskers."""
_BOX = (25.0, 75.0)
_MARKED = 99.0
_WIDE = 20.0
"""Minimum ratio of the largest to the smallest value for a logarithmic axis."""
_ROW_INCHES = 0.52
_KINDS = ("rtt", "delivery")


@dataclass(frozen=True)
class Quantiles:
    """Quantiles of a distribution."""

    percent: tuple[float, ...]
    """The shares, ascending from 0 to 100."""
    ms: tuple[float, ...]
    """The latencies in milliseconds."""

    def at(self, percent: float) -> float:
        """The latency at this percentile, in milliseconds."""
        return float(np.interp(percent, self.percent, self.ms))


@dataclass(frozen=True)
class RemedyLatency:
    """One remedy's latencies over all seeds; None if not measured."""

    remedy: str
    rtt: Quantiles | None
    delivery: Quantiles | None

    def of(self, kind: str) -> Quantiles | None:
        """The latencies of a kind, "rtt" or "delivery"."""
        return self.rtt if kind == "rtt" else self.delivery


_TITLES = {
    "rtt": "round trip of a data packet (ms)",
    "delivery": "from write to reading, over bytes (ms)",
}


@dataclass(frozen=True)
class LatencyDistributions(InTwoWidths):
    """For each remedy the cumulative distribution over packets, or bytes."""

    remedies: tuple[RemedyLatency, ...]

    def _drawn(self, width: float, *, is_narrow: bool) -> Figure:
        columns = 1 if is_narrow else 2
        names = [one.remedy for one in self.remedies]
        colours = remedy_colours([BASELINE, *(name for name in names if name != BASELINE)])
        in_a_row = 3 if columns == 2 else 2
        rows = -(-len(names) // in_a_row)
        panels = len(_KINDS) // columns
        with house_style():
            figure = Figure(figsize=(width, 3.4 * panels + 0.5 + 0.22 * rows))
            for place, kind in enumerate(_KINDS):
                axes = figure.add_subplot(panels, columns, place + 1)
                for one in self.remedies:
                    quantiles = one.of(kind)
                    if quantiles is not None:
                        axes.plot(
                            quantiles.ms,
                            quantiles.percent,
                            color=colours[one.remedy],
                            linewidth=1.8,
                            linestyle="--" if one.remedy == BASELINE else "-",
                            label=one.remedy,
                        )
                axes.set_ylim(0, 101)
                axes.set_xlabel(_TITLES[kind])
                if place % columns == 0:
                    axes.set_ylabel("share that took no longer (%)")
                _scale(axes, self.remedies, kind)
            handles = {
                label: handle
                for axes in figure.axes
                for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
            }
            figure.legend(
                handles.values(),
                [fitted(name, width / in_a_row - 0.7) for name in handles],
                loc="upper left",
                ncols=in_a_row,
                borderaxespad=0.2,
            )
            frame(
                figure,
                left=0.7,
                right=0.2,
                top=0.25 + 0.22 * rows,
                bottom=0.6,
                between_columns=0.6,
                between_rows=0.7,
                columns=columns,
                rows=panels,
            )
        return figure


@dataclass(frozen=True)
class LatencyBoxes(InTwoWidths):
    """For each remedy a box from the 25th to the 75th percentile, with whiskers."""

    remedies: tuple[RemedyLatency, ...]

    def _drawn(self, width: float, *, is_narrow: bool) -> Figure:
        columns = 1 if is_narrow else 2
        remedies = [one.remedy for one in self.remedies]
        colours = remedy_colours([BASELINE, *(name for name in remedies if name != BASELINE)])
        names = [fitted(name, 0.4 * width) for name in remedies]
        with house_style():
            panels = len(_KINDS) // columns
            height = 0.45 + panels * (0.8 + _ROW_INCHES * len(names))
            figure = Figure(figsize=(width, height))
            for place, kind in enumerate(_KINDS):
                axes = figure.add_subplot(panels, columns, place + 1)
                for row, one in enumerate(self.remedies):
                    quantiles = one.of(kind)
                    if quantiles is not None:
                        _draw_box(axes, row, quantiles, colours[one.remedy])
                axes.set_yticks(
                    range(len(names)), names if place % columns == 0 else [""] * len(names)
                )
                axes.set_ylim(len(names) - 0.5, -0.5)
                axes.tick_params(axis="y", length=0)
                axes.grid(visible=False, axis="y")
                axes.set_xlabel(_TITLES[kind])
                _scale(axes, self.remedies, kind)
            figure.text(
                0.01,
                1.0 - 0.1 / figure.get_figheight(),
                "Boxes from the 25th to the 75th percentile with the median, whiskers from the "
                "5th to the 95th, dots at the 99th"
                if columns == 2
                else "Boxes 25 to 75 %, whiskers 5 to 95 %, dots 99 %",
                va="top",
                fontsize=9,
            )
            frame(
                figure,
                left=0.2 + widest_inches(names),
                right=0.2,
                top=0.45,
                bottom=0.6,
                between_columns=0.3,
                between_rows=0.7,
                columns=columns,
                rows=panels,
            )
        return figure


def _draw_box(axes: Axes, row: int, quantiles: Quantiles, colour: str) -> None:
    low, high = (quantiles.at(percent) for percent in WHISKERS)
    first, third = (quantiles.at(percent) for percent in _BOX)
    # One path: a line for each would take as long as the rest of the figure.
    end = [row - 0.14, row + 0.14]
    across = [low, low, np.nan, low, first, np.nan, third, high, np.nan, high, high]
    along = [*end, np.nan, row, row, np.nan, row, row, np.nan, *end]
    axes.plot(across, along, color=colour, linewidth=1.6)
    axes.barh(
        row, third - first, left=first, height=0.5, color=colour, alpha=0.35, edgecolor=colour
    )
    median = quantiles.at(50.0)
    axes.plot([median, median], [row - 0.25, row + 0.25], color=LIGHT.foreground, linewidth=2.0)
    axes.scatter(quantiles.at(_MARKED), row, s=18, color=colour, zorder=3)


def _scale(axes: Axes, remedies: tuple[RemedyLatency, ...], kind: str) -> None:
    """A logarithmic axis if the latencies span too much for a linear one."""
    known = [found for one in remedies if (found := one.of(kind)) is not None]
    if not known:
        axes.text(0.5, 0.5, "not measured", transform=axes.transAxes, ha="center")
        return
    low = min(one.at(WHISKERS[0]) for one in known)
    high = max(one.at(_MARKED) for one in known)
    if low > 0 and high > _WIDE * low:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        # Minor labels would be powers of ten with exponents too small to read.
        axes.xaxis.set_minor_locator(NullLocator())
    # A few extremely late packets would leave no room for the others.
    axes.set_xlim(0.9 * low if axes.get_xscale() == "log" else None, 1.15 * high)
