"""The effect of a link on TCP over time: round trips, errors of the timer, and lost goodput."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from airtcp.core.quantities import bit_rate_scale
from airtcp.pages.plot.frame import frame
from airtcp.pages.plot.style import LIGHT, SKY_BLUE, VERMILLION, house_style
from airtcp.pages.plot.svg import InTwoWidths
from airtcp.pages.plot.timeline import Reals, Timeline
from airtcp.pages.plot.widths import widest_inches

_GOODPUT_BINS = 120
_TABLE_WINDOWS = 12
_MAX_DOTS = 4000
"""Round trips above this number are thinned: each dot is an element of the page."""
_SPURIOUS, _NEEDED = "timeout, ACK was late", "timeout, segment or ACKs lost"
_FAST = "fast retransmit"


@dataclass(frozen=True)
class Trouble(InTwoWidths):
    """The figure: one flow of one run of today's sender."""

    INCHES = 7.5

    run: Timeline
    rtt_at_s: Reals
    """Time of each round-trip sample, in seconds."""
    rtt_ms: Reals
    capacity_bps: float | None = None
    """Capacity of the link; None if not known."""

    def _drawn(self, width: float, *, is_narrow: bool) -> Figure:
        edges = np.linspace(0.0, self.run.duration_s, _GOODPUT_BINS + 1)
        rate = self.run.goodput_bps(edges)
        divisor, unit = bit_rate_scale(float(rate.max()) or 1.0)
        # A kind of event that did not occur has no lane; without any the first lane reports that.
        lanes = [lane for lane in self.lanes if len(lane[1])] or self.lanes[:1]
        with house_style():
            figure = Figure(figsize=(width, 5.2))
            lane = 0.45 if is_narrow else 0.2
            events, trips, goodput = figure.subplots(
                3, 1, sharex=True, height_ratios=[lane * len(lanes), 2, 1.6]
            )
            _draw_lanes(events, lanes, are_names_above=is_narrow)
            self._draw_round_trips(trips, columns=1 if is_narrow else 2)
            goodput.stairs(rate / divisor, edges, color=self.run.colour, fill=True, alpha=0.75)
            if self.capacity_bps:
                goodput.axhline(
                    self.capacity_bps / divisor,
                    color=LIGHT.foreground,
                    linewidth=1.0,
                    linestyle="--",
                    label="what the link carries",
                )
                goodput.legend(loc="upper right")
            goodput.set_ylabel(f"goodput ({unit})")
            goodput.set_xlabel("time (s)")
            goodput.set_xlim(0.0, edges[-1])
            highest = max(float(rate.max()), self.capacity_bps or 0.0) / divisor
            goodput.set_ylim(0.0, (1.3 if self.capacity_bps else 1.05) * highest or 1.0)
            names = 0.55 if is_narrow else widest_inches(name for name, _, _ in lanes)
            frame(
                figure,
                left=0.25 + names,
                right=0.2 + widest_inches(str(len(times)) for _, times, _ in lanes),
                top=0.1,
                bottom=0.55,
                rows=3,
                between_rows=0.18,
            )
        return figure

    @property
    def lanes(self) -> tuple[tuple[str, Reals, str], ...]:
        """Kinds of events with their times and colour; a spurious timeout is not counted twice."""
        spurious = self.run.events["spurious-timeout"]
        needed = np.setdiff1d(self.run.events["timeout"], spurious)
        return (
            (_SPURIOUS, spurious, VERMILLION),
            (_NEEDED, needed, LIGHT.foreground),
            (_FAST, self.run.events["fast-retransmit"], LIGHT.foreground),
        )

    def table(self) -> pl.DataFrame:
        """The figure's numbers in equal windows of time."""
        edges = np.linspace(0.0, self.run.duration_s, _TABLE_WINDOWS + 1)
        goodput = self.run.goodput_bps(edges)
        rows = []
        for index, (begin, end) in enumerate(pairwise(edges)):
            trips = self.rtt_ms[(self.rtt_at_s >= begin) & (self.rtt_at_s < end)]
            row: dict[str, object] = {
                "from_s": float(begin),
                "to_s": float(end),
                "rtt_median_ms": float(np.median(trips)) if len(trips) else None,
                "rtt_max_ms": float(trips.max()) if len(trips) else None,
                "goodput_bps": float(goodput[index]),
            }
            for name, times, _ in self.lanes:
                row[name] = int(np.count_nonzero((times >= begin) & (times < end)))
            rows.append(row)
        return pl.DataFrame(rows)

    def _draw_round_trips(self, axes: Axes, columns: int) -> None:
        every = max(1, -(-len(self.rtt_ms) // _MAX_DOTS))
        # A spike lasts for one packet or two: the longest of each group is shown.
        shown = [
            group + int(np.argmax(self.rtt_ms[group : group + every]))
            for group in range(0, len(self.rtt_ms), every)
        ]
        axes.plot(
            self.rtt_at_s[shown],
            self.rtt_ms[shown],
            linestyle="none",
            marker=".",
            markersize=2.5,
            color=SKY_BLUE,
            label="round trip of a packet",
        )
        axes.step(
            self.run.time_s,
            self.run.column("rto_ms"),
            where="post",
            color=LIGHT.foreground,
            linewidth=0.9,
            label="the sender's retransmission timeout",
        )
        axes.set_yscale("log")
        axes.margins(y=0.25 if columns > 1 else 0.45)  # room for the legend
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_ylabel("ms")
        axes.legend(loc="upper right", ncols=columns)


def _draw_lanes(
    axes: Axes, lanes: Sequence[tuple[str, Reals, str]], *, are_names_above: bool
) -> None:
    top = 0.0 if are_names_above else -0.4
    for row, (name, times, colour) in enumerate(lanes):
        if are_names_above:
            axes.annotate(
                name,
                xy=(0.0, row - 0.25),
                xycoords=("axes fraction", "data"),
                va="center",
                fontsize=9,
            )
        # One path per lane: a collection would be an element per tick.
        axes.plot(
            np.repeat(times, 3),
            np.tile([row + top, row + 0.4, np.nan], len(times)),
            color=colour,
            linewidth=1.2,
        )
        axes.annotate(
            str(len(times)),
            xy=(1.01, row + (top + 0.4) / 2),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=9,
            annotation_clip=False,
        )
    names = [] if are_names_above else [name for name, _, _ in lanes]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(lanes) - 0.5, -0.5)
    axes.grid(visible=False)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_visible(False)
