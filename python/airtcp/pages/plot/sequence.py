"""The time-sequence figure of a captured flow, as in tcptrace, with labels."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from airtcp.diagnosis.tables import Labels
from airtcp.pages.plot.frame import frame
from airtcp.pages.plot.style import (
    BLUE,
    GREEN,
    LIGHT,
    ORANGE,
    PURPLE,
    SKY_BLUE,
    VERMILLION,
    house_style,
)

Reals = NDArray[np.float64]

CAUSE_COLOURS: Mapping[str, str] = {
    "radio": VERMILLION,
    "tail-drop": BLUE,
    "aqm": BLUE,
    "policer": PURPLE,
    "queue-or-radio": ORANGE,
    "tail-of-flight": ORANGE,
    "lost-retransmission": PURPLE,
    "delay-spike": GREEN,
    "reordering": SKY_BLUE,
    "lost-acks": SKY_BLUE,
    "crowded-acks": SKY_BLUE,
    "not-shown": LIGHT.soft,
}
_MAX_POINTS = 1500
"""Points of a line over the whole capture: more would be invisible, and make the page heavy."""
_CLOSE_S = 2.0
"""Length of the stretch in the lower half."""
_MAX_SEGMENTS = 3000


@dataclass(frozen=True)
class Sequence:
    """Data sent, retransmitted and acknowledged, in seconds and megabytes."""

    sent_s: Reals
    start: Reals
    end: Reals
    ack_s: Reals
    acked: Reals
    labels: Labels
    stops: tuple[tuple[float, float], ...]
    """Start and length of each."""

    def figure(self) -> Figure:
        """The whole capture above, and its stretch with most retransmissions below."""
        with house_style():
            figure = Figure(figsize=(9.0, 7.0))
            whole, close = figure.subplots(2, 1)
            self._draw_whole(whole)
            self._draw_close(close)
            frame(figure, left=0.85, right=0.2, top=0.75, bottom=0.6, rows=2, between_rows=0.85)
            _legend(figure, self.labels)
        return figure

    def _draw_whole(self, axes: Axes) -> None:
        highest = np.maximum.accumulate(self.end)
        axes.plot(*_thinned(self.sent_s, highest / 1e6), color=LIGHT.soft, linewidth=1.0)
        axes.plot(*_thinned(self.ack_s, self.acked / 1e6), color=LIGHT.foreground, linewidth=1.2)
        for cause, times, places in self._marks():
            axes.plot(
                times,
                places,
                linestyle="none",
                marker="|",
                markersize=9,
                color=CAUSE_COLOURS.get(cause, LIGHT.soft),
            )
        _shade(axes, self.stops)
        axes.set_title("the whole flow", loc="left")
        axes.set_xlabel("time (s)")
        axes.set_ylabel("offset (MB)")
        axes.set_ylim(bottom=0)

    def _draw_close(self, axes: Axes) -> None:
        begin = self.closest_s
        end = begin + _CLOSE_S
        inside = np.flatnonzero((self.sent_s >= begin) & (self.sent_s < end))[:_MAX_SEGMENTS]
        axes.vlines(
            self.sent_s[inside],
            self.start[inside] / 1e6,
            self.end[inside] / 1e6,
            colors=LIGHT.soft,
            linewidths=1.0,
        )
        acks = np.flatnonzero((self.ack_s >= begin) & (self.ack_s < end))
        axes.step(
            self.ack_s[acks],
            self.acked[acks] / 1e6,
            where="post",
            color=LIGHT.foreground,
            linewidth=1.2,
        )
        labels = self.labels
        shown = (labels.time_ns >= begin * 1e9) & (labels.time_ns < end * 1e9)
        for one in np.flatnonzero(shown):
            colour = CAUSE_COLOURS.get(labels.cause[one], LIGHT.soft)
            at = labels.time_ns[one] / 1e9
            first, last = labels.start[one] / 1e6, labels.end[one] / 1e6
            axes.plot([at, at], [first, last], color=colour, linewidth=3.2)
            marker = "x" if labels.verdict[one] == "needless" else "v"
            axes.plot([at], [last], marker=marker, markersize=6, color=colour)
        _shade(axes, self.stops)
        axes.set_xlim(begin, end)
        if len(inside):
            axes.set_ylim(self.start[inside].min() / 1e6, self.end[inside].max() / 1e6 + 0.01)
        axes.set_title(
            "closer: triangles are needed retransmissions, crosses needless ones", loc="left"
        )
        axes.set_xlabel("time (s)")
        axes.set_ylabel("offset (MB)")

    @property
    def closest_s(self) -> float:
        """Start of the stretch with most retransmissions."""
        begin = float(self.sent_s[0])
        if not len(self.labels):
            return begin
        times = self.labels.time_ns / 1e9
        counts = np.searchsorted(times, times + _CLOSE_S) - np.arange(len(times))
        return max(begin, float(times[int(np.argmax(counts))]) - 0.1 * _CLOSE_S)

    def _marks(self) -> list[tuple[str, Reals, Reals]]:
        marks = []
        for cause in CAUSE_COLOURS:
            of_it = self.labels.cause == cause
            if of_it.any():
                times, starts = self.labels.time_ns[of_it] / 1e9, self.labels.start[of_it] / 1e6
                marks.append((cause, times, starts))
        return marks


def _legend(figure: Figure, labels: Labels) -> None:
    handles = [
        Rectangle((0, 0), 1, 1, color=LIGHT.soft, label="sent"),
        Rectangle((0, 0), 1, 1, color=LIGHT.foreground, label="acknowledged"),
    ]
    present = set(labels.cause.tolist())
    handles += [
        Rectangle((0, 0), 1, 1, color=colour, label=cause.replace("-", " "))
        for cause, colour in CAUSE_COLOURS.items()
        if cause in present
    ]
    figure.legend(
        handles=handles,
        loc="upper left",
        ncols=5,
        bbox_to_anchor=(0.01, 1.0),
        handlelength=0.9,
        columnspacing=1.2,
        fontsize=9,
    )


def _shade(axes: Axes, stops: tuple[tuple[float, float], ...]) -> None:
    for begin, length in stops:
        axes.axvspan(begin, begin + length, color=LIGHT.grid, alpha=0.6, linewidth=0)


def _thinned(x: Reals, y: Reals) -> tuple[Reals, Reals]:
    """As many points as are visible, including the last one."""
    if len(x) <= _MAX_POINTS:
        return x, y
    chosen = np.unique(np.linspace(0, len(x) - 1, _MAX_POINTS).astype(int))
    return x[chosen], y[chosen]
