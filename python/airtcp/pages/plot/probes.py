"""The round trips of a ping log over time, with its gaps, stops and lost probes marked."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from airtcp.pages.plot.legend import legend_above
from airtcp.pages.plot.style import BLUE, LIGHT, ORANGE, VERMILLION, house_style
from airtcp.pages.plot.svg import InTwoWidths

Reals = NDArray[np.float64]
Span = tuple[float, float]

_COLUMNS = 500
"""Number of time stretches with a drawn range: more would not be visible."""
_NARROWEST = 0.002
"""Minimum share of the axis for a mark, so that a short one is visible."""
_LONG_S = 600.0


@dataclass(frozen=True)
class PingTimeline(InTwoWidths):
    """Probes by time of sending, in seconds from the first."""

    sent_s: Reals
    rtt_s: Reals
    """NaN without an answer."""
    base_s: float
    stops: tuple[Span, ...]
    """Start and length of each."""
    gaps: tuple[Span, ...]
    lost_s: Reals
    """Times of sending of isolated lost probes."""

    def _drawn(self, width: float, *, is_narrow: bool) -> Figure:
        columns = 2 if is_narrow else 5
        with house_style():
            figure = Figure(figsize=(width, 3.6))
            axes = figure.subplots()
            self._draw(axes)
            legend_above(figure, self._handles(), columns, spacing=1.0)
        return figure

    def columns(self) -> tuple[Reals, Reals, Reals]:
        """Times, medians and longest round trips of equal stretches with answers."""
        known = np.isfinite(self.rtt_s)
        sent, rtts = self.sent_s[known], 1e3 * self.rtt_s[known]
        edges = np.linspace(sent[0], sent[-1], min(_COLUMNS, len(sent)) + 1)
        place = np.clip(np.searchsorted(edges, sent, side="right") - 1, 0, len(edges) - 2)
        taken = np.unique(place)
        inside = [rtts[place == at] for at in taken]
        middle = 0.5 * (edges[taken] + edges[taken + 1])
        medians = np.array([float(np.median(one)) for one in inside])
        longest = np.array([float(one.max()) for one in inside])
        return middle, medians, longest

    def _draw(self, axes: Axes) -> None:
        unit = 60.0 if self.sent_s[-1] > _LONG_S else 1.0
        width = _NARROWEST * float(self.sent_s[-1])
        for spans, colour in ((self.stops, ORANGE), (self.gaps, VERMILLION)):
            for begin, length in spans:
                end = begin + max(length, width)
                axes.axvspan(begin / unit, end / unit, color=colour, alpha=0.35, linewidth=0)
        at_s, medians, longest = self.columns()
        axes.vlines(at_s / unit, medians, longest, colors=LIGHT.soft, linewidths=0.8)
        axes.plot(at_s / unit, medians, linestyle="none", marker=".", markersize=2.5, color=BLUE)
        axes.axhline(1e3 * self.base_s, color=LIGHT.soft, linewidth=1.0, linestyle=(0, (4, 3)))
        if len(self.lost_s):
            axes.plot(
                self.lost_s / unit,
                np.zeros(len(self.lost_s)),
                linestyle="none",
                marker="|",
                markersize=10,
                color=VERMILLION,
                clip_on=False,
            )
        axes.set_xlabel("time (min)" if unit > 1 else "time (s)")
        axes.set_ylabel("round trip (ms)")
        axes.set_ylim(bottom=0)

    def _handles(self) -> list[Line2D | Patch]:
        handles: list[Line2D | Patch] = [
            Line2D([], [], linestyle="none", marker=".", color=BLUE, label="answer"),
            Line2D([], [], color=LIGHT.soft, linestyle=(0, (4, 3)), label="without a queue"),
        ]
        if self.stops:
            handles.append(Patch(color=ORANGE, alpha=0.35, label="stop"))
        if self.gaps:
            handles.append(Patch(color=VERMILLION, alpha=0.35, label="gap: all lost"))
        if len(self.lost_s):
            lost = Line2D(
                [], [], linestyle="none", marker="|", markersize=9, color=VERMILLION, label="lost"
            )
            handles.append(lost)
        return handles
