"""The round trips of a captured flow over time: queueing delay, and losses."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from airtcp.diagnosis.tables import Labels
from airtcp.pages.plot.legend import legend_above
from airtcp.pages.plot.sequence import CAUSE_COLOURS
from airtcp.pages.plot.style import LIGHT, house_style
from airtcp.pages.plot.svg import InTwoWidths

Reals = NDArray[np.float64]

_PAUSE_S = 0.1
"""Maximum gap between round trips that a line is drawn across."""
_COLUMNS = 600
"""Number of time stretches with a drawn range: more would not be visible."""


@dataclass(frozen=True)
class RoundTrips(InTwoWidths):
    """Round trips by time of departure of their data, in seconds from the first packet."""

    sent_s: Reals
    rtt_s: Reals
    """NaN if not measured."""
    base_s: float
    labels: Labels
    stops: tuple[tuple[float, float], ...]
    """Start and length of each."""
    phases: tuple[tuple[float, float, float, str], ...] = ()
    """Start, end, round trip without a queue and limit of each phase of a path that changes."""

    def _drawn(self, width: float, *, is_narrow: bool) -> Figure:
        columns = 2 if is_narrow else 6
        with house_style():
            figure = Figure(figsize=(width, 3.6))
            axes = figure.subplots()
            self._draw(axes)
            legend_above(figure, self._handles(), columns, spacing=1.2)
        return figure

    def ranges(self) -> tuple[Reals, Reals, Reals, Reals]:
        """Times, shortest, median and longest round trips of equal stretches that have some."""
        known = np.isfinite(self.rtt_s)
        times, rtts = self.sent_s[known], 1e3 * self.rtt_s[known]
        edges = np.linspace(times[0], times[-1], min(_COLUMNS, len(times)) + 1)
        place = np.clip(np.searchsorted(edges, times, side="right") - 1, 0, len(edges) - 2)
        rows = [
            (0.5 * (edges[at] + edges[at + 1]), inside.min(), np.median(inside), inside.max())
            for at in np.unique(place)
            for inside in (rtts[place == at],)
        ]
        at_s, low, middle, high = (np.array(column) for column in zip(*rows, strict=True))
        return at_s, low, middle, high

    def _draw(self, axes: Axes) -> None:
        at_s, low, middle, high = self.ranges()
        axes.vlines(at_s, low, high, colors=LIGHT.soft, linewidths=1.0)
        axes.plot(*_broken(at_s, middle), color=LIGHT.foreground, linewidth=1.2)
        self._draw_bases(axes)
        for begin, length in self.stops:
            axes.axvspan(begin, begin + length, color=LIGHT.grid, alpha=0.6, linewidth=0)
        for cause, colour in CAUSE_COLOURS.items():
            seconds = self.labels.time_ns[self.labels.cause == cause] / 1e9
            if len(seconds):
                axes.plot(
                    seconds,
                    np.zeros(len(seconds)),
                    linestyle="none",
                    marker="|",
                    markersize=12,
                    color=colour,
                    clip_on=False,
                )
        axes.set_xlabel("time (s)")
        axes.set_ylabel("round trip (ms)")
        # Room for the limits of phases above the round trips.
        axes.set_ylim(bottom=0, top=1.15 * float(high.max()) if self.phases else None)

    def _draw_bases(self, axes: Axes) -> None:
        """The round trip without a queue, by phase, with the limits at the top."""
        dashes = (0, (4, 3))
        if not self.phases:
            axes.axhline(1e3 * self.base_s, color=LIGHT.soft, linewidth=1.0, linestyle=dashes)
            return
        for number, (begin, end, base_s, limit) in enumerate(self.phases):
            axes.hlines(1e3 * base_s, begin, end, color=LIGHT.soft, linewidth=1.0, linestyle=dashes)
            if number:
                axes.axvline(begin, color=LIGHT.soft, linewidth=0.8)
            axes.text(
                0.5 * (begin + end),
                0.97,
                limit,
                transform=axes.get_xaxis_transform(),
                horizontalalignment="center",
                verticalalignment="top",
                fontsize=8,
            )

    def _handles(self) -> list[Line2D]:
        present = set(self.labels.cause.tolist())
        handles = [
            Line2D([], [], color=LIGHT.foreground, label="median"),
            Line2D([], [], color=LIGHT.soft, linewidth=3, label="range"),
            Line2D([], [], color=LIGHT.soft, linestyle=(0, (4, 3)), label="without a queue"),
        ]
        handles += [
            Line2D([], [], linestyle="none", marker="|", markersize=10, color=colour, label=label)
            for cause, colour in CAUSE_COLOURS.items()
            if cause in present
            for label in (cause.replace("-", " "),)
        ]
        return handles


def _broken(at_s: Reals, values: Reals) -> tuple[Reals, Reals]:
    """The line with a break at every gap in the measurements."""
    pauses = np.diff(at_s)
    after = np.flatnonzero(pauses > max(_PAUSE_S, 4 * float(np.median(pauses)))) + 1
    return np.insert(at_s, after, np.nan), np.insert(values, after, np.nan)
