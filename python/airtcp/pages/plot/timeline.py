"""The timeline figure: one flow's window, timers and goodput, run by run."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import cast

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from matplotlib.transforms import (
    Affine2DBase,
    ScaledTranslation,
    Transform,
    blended_transform_factory,
)
from numpy.typing import NDArray

from airtcp.core.quantities import bit_rate_scale
from airtcp.pages.plot.frame import fitted, frame, widest_inches
from airtcp.pages.plot.observed import Observed
from airtcp.pages.plot.style import BLUE, LIGHT, house_style
from airtcp.pages.plot.svg import NARROW_INCHES

_GOODPUT_BINS = 120
_TABLE_WINDOWS = 12
_TITLE_INCHES = 3.0
_LABEL_INCHES = -0.55
"""Position of the labels of the y axes, relative to the axes; equal for all, for alignment."""
_LANES = ("timeout", "spurious-timeout", "fast-retransmit")
"""The events shown, each in a separate lane."""


Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Timeline:
    """One flow of one run as columns for drawing."""

    title: str
    colour: str
    duration_s: float
    samples: pl.DataFrame
    events: dict[str, Reals]
    """For each lane the times of its event in seconds."""

    @cached_property
    def time_s(self) -> Reals:
        """Seconds of each sample."""
        return self.samples["time_s"].to_numpy()

    def column(self, name: str) -> Reals:
        """One probe as real numbers, NaN without a value."""
        return self.samples[name].cast(pl.Float64).to_numpy()

    def goodput_bps(self, edges_s: Reals) -> Reals:
        """Mean goodput in bit/s between consecutive edges."""
        delivered = np.interp(edges_s, self.time_s, self.column("delivered_bytes"))
        rate: Reals = 8.0 * np.diff(delivered) / np.diff(edges_s)
        return rate


def timeline(title: str, run: Observed, flow: int = 0, colour: str = BLUE) -> Timeline:
    """The columns of one flow, of a run with samples of `TIMELINE_PROBES`.

    Raises:
        ValueError: the run lacks the probes, or the flow.
    """
    columns = {"cwnd_bytes", "srtt_ms", "rto_ms", "delivered_bytes"}
    if missing := columns - set(run.samples.columns):
        raise ValueError(
            f"the run has no samples of {', '.join(sorted(missing))}: "
            "give probes=airtcp.TIMELINE_PROBES to airtcp.run"
        )
    samples = run.samples.filter(pl.col("flow") == flow)
    if samples.is_empty():
        raise ValueError(f"the run has no flow {flow}")
    events = run.events.filter(pl.col("flow") == flow)
    return Timeline(
        title,
        colour,
        run.summary["duration_s"],
        samples,
        {lane: events.filter(pl.col("event") == lane)["time_s"].to_numpy() for lane in _LANES},
    )


@dataclass(frozen=True)
class Timelines:
    """The figure: columns are runs; rows are events, window, timers and goodput."""

    columns: tuple[Timeline, ...]

    def figure(self) -> Figure:
        """All runs on the same scales, side by side."""
        return self._drawn(max(9.0, 5.2 * len(self.columns)), is_narrow=False)

    def narrow(self) -> Figure:
        """The same for a phone: runs stacked vertically."""
        return self._drawn(NARROW_INCHES, is_narrow=True)

    def _drawn(self, width: float, *, is_narrow: bool) -> Figure:
        count = 1 if is_narrow else len(self.columns)
        stacked = len(self.columns) // count
        edges = np.linspace(0.0, max(one.duration_s for one in self.columns), _GOODPUT_BINS + 1)
        peak = max(float(one.goodput_bps(edges).max()) for one in self.columns)
        divisor, unit = bit_rate_scale(peak)
        with house_style():
            figure = Figure(figsize=(width, 7.2 * stacked))
            grid = figure.subplots(
                4 * stacked,
                count,
                sharex=not is_narrow,
                sharey=False if is_narrow else "row",
                squeeze=False,
                height_ratios=[0.6, 2, 2, 2] * stacked,
            )
            if is_narrow:
                _share_scales(list(grid[:, 0]))
            for column, one in enumerate(self.columns):
                panels = grid[4 * column : 4 * column + 4, 0] if is_narrow else grid[:, column]
                events, window, timers, goodput = panels
                events.set_title(fitted(one.title, _TITLE_INCHES))
                _draw_events(events, one)
                window.step(
                    one.time_s, one.column("cwnd_bytes") / 1e3, where="post", color=one.colour
                )
                _draw_timers(timers, one)
                goodput.stairs(
                    one.goodput_bps(edges) / divisor, edges, color=one.colour, fill=True, alpha=0.7
                )
                if not is_narrow or one is self.columns[-1]:
                    goodput.set_xlabel("time (s)")
                goodput.set_xlim(0.0, edges[-1])
                if is_narrow:
                    for axes in (window, timers):
                        axes.tick_params(labelbottom=False)
                if column == 0 or is_narrow:
                    window.set_ylabel("cwnd (kB)")
                    timers.set_ylabel("SRTT, RTO (ms)")
                    goodput.set_ylabel(f"goodput ({unit})")
            for window in grid[1::4, 0]:
                window.set_ylim(bottom=0)  # last: from here on the scale no longer grows
            for timers in grid[2::4].flat:
                # Each run has its colour, and therefore its key.
                timers.legend(loc="upper right", ncols=2)
            left = 0.25 + widest_inches(lane.replace("-", " ") for lane in _LANES)
            for axes in grid[:, 0]:
                axes.yaxis.set_label_coords(_LABEL_INCHES, 0.5, transform=_from_the_left(axes))
            counts = widest_inches(
                str(len(times)) for one in self.columns for times in one.events.values()
            )
            frame(
                figure,
                left=left,
                right=0.2 + counts,
                top=0.4,
                bottom=0.55,
                rows=4 * stacked,
                columns=count,
                between_rows=0.45 if is_narrow else 0.18,
                between_columns=0.3 + counts,
            )
        return figure


def _share_scales(panels: Sequence[Axes]) -> None:
    """Gives the panels of each kind the same scales in all runs."""
    for index, axes in enumerate(panels[4:]):
        axes.sharey(panels[index % 4])
    for axes in panels[1:]:
        axes.sharex(panels[0])


def timeline_table(columns: Sequence[Timeline]) -> pl.DataFrame:
    """The figure's numbers in equal windows of time, one row per run and window."""
    rows = []
    for one in columns:
        edges = np.linspace(0.0, one.duration_s, _TABLE_WINDOWS + 1)
        goodput = one.goodput_bps(edges)
        for index, (begin, end) in enumerate(pairwise(edges)):
            inside = one.samples.filter(pl.col("time_s").is_between(begin, end, closed="left"))
            rows.append(
                {
                    "run": one.title,
                    "from_s": float(begin),
                    "to_s": float(end),
                    "cwnd_mean_bytes": inside["cwnd_bytes"].mean(),
                    "srtt_median_ms": inside["srtt_ms"].median(),
                    "rto_max_ms": inside["rto_ms"].max(),
                    "goodput_bps": float(goodput[index]),
                    **{
                        lane: int(np.count_nonzero((times >= begin) & (times < end)))
                        for lane, times in one.events.items()
                    },
                }
            )
    return pl.DataFrame(rows)


def _from_the_left(axes: Axes) -> Transform:
    """Horizontally inches from the left edge of the axes, vertically shares of their height."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    inches = figure.dpi_scale_trans + ScaledTranslation(
        0.0, 0.0, cast(Affine2DBase, axes.transAxes)
    )
    return blended_transform_factory(inches, axes.transAxes)


def _draw_events(axes: Axes, one: Timeline) -> None:
    for row, lane in enumerate(_LANES):
        # One path per lane: a collection would be an element per tick.
        times = np.repeat(one.events[lane], 3)
        heights = np.tile([row - 0.4, row + 0.4, np.nan], len(one.events[lane]))
        axes.plot(times, heights, color=LIGHT.foreground, linewidth=1.2)
        axes.annotate(
            str(len(one.events[lane])),
            xy=(1.01, row),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=9,
            annotation_clip=False,
        )
    axes.set_yticks(range(len(_LANES)), [lane.replace("-", " ") for lane in _LANES])
    axes.set_ylim(len(_LANES) - 0.5, -0.5)
    axes.grid(visible=False)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_visible(False)


def _draw_timers(axes: Axes, one: Timeline) -> None:
    axes.step(
        one.time_s,
        one.column("rto_ms"),
        where="post",
        color=LIGHT.foreground,
        linewidth=0.9,
        label="RTO",
    )
    axes.step(one.time_s, one.column("srtt_ms"), where="post", color=one.colour, label="SRTT")
    axes.set_yscale("log")
    axes.margins(y=0.2)  # room for the legend
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
