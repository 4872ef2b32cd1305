"""The timeline figure: what one flow's window, timers and goodput did, run beside run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from numpy.typing import NDArray

from airtcp.plot.style import BLUE, LIGHT, Theme, drawn_in
from airtcp.quantities import bit_rate_scale
from airtcp.runs import Run

_GOODPUT_BINS = 120
_TABLE_WINDOWS = 12
_MOST_VECTOR_TICKS = 300
"""Beyond so many, ticks are pixels in an SVG: each would cost it some hundred bytes."""

_LANES = ("timeout", "spurious-timeout", "fast-retransmit")
"""The events shown, each in its own lane."""


Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Timeline:
    """One flow of one run as the columns that are drawn."""

    title: str
    duration_s: float
    samples: pl.DataFrame
    events: dict[str, Reals]
    """For each lane the seconds at which its event happened."""

    @cached_property
    def time_s(self) -> Reals:
        """Seconds of each sample."""
        return self.samples["time_s"].to_numpy()

    def column(self, name: str) -> Reals:
        """One probe as real numbers, NaN where there was no value yet."""
        return self.samples[name].cast(pl.Float64).to_numpy()

    def goodput_bps(self, edges_s: Reals) -> Reals:
        """Mean goodput in bit/s between consecutive edges."""
        delivered = np.interp(edges_s, self.time_s, self.column("delivered_bytes"))
        rate: Reals = 8.0 * np.diff(delivered) / np.diff(edges_s)
        return rate


def timeline(title: str, run: Run, flow: int) -> Timeline:
    """The columns of one flow.

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
        run.summary["duration_s"],
        samples,
        {lane: events.filter(pl.col("event") == lane)["time_s"].to_numpy() for lane in _LANES},
    )


def timeline_figure(
    runs: Sequence[tuple[str, Run]],
    *,
    flow: int = 0,
    colours: Mapping[str, str] | None = None,
    theme: Theme = LIGHT,
) -> Figure:
    """Columns are runs; rows are events, window, timers and goodput; all rows share their scale.

    Args:
        runs: a title and a run with samples of `TIMELINE_PROBES`, once a column.
        flow: the flow that is drawn.
        colours: a colour for each title; see `remedy_colours`.
        theme: light or dark.

    Raises:
        ValueError: a run lacks the probes of `TIMELINE_PROBES`, or the flow.
    """
    timelines = [timeline(title, run, flow) for title, run in runs]
    with drawn_in(theme):
        figure = Figure(figsize=(max(9.0, 5.2 * len(runs)), 7.4), layout="constrained")
        grid = figure.subplots(
            4,
            len(runs),
            sharex=True,
            sharey="row",
            squeeze=False,
            height_ratios=[0.6, 2, 2, 2],
        )
        edges = np.linspace(0.0, max(one.duration_s for one in timelines), _GOODPUT_BINS + 1)
        peak = max(float(one.goodput_bps(edges).max()) for one in timelines)
        for column, one in enumerate(timelines):
            events, window, timers, goodput = grid[:, column]
            colour = (colours or {}).get(one.title, BLUE)
            events.set_title(one.title)
            _draw_events(events, one, theme)
            window.step(one.time_s, one.column("cwnd_bytes") / 1e3, where="post", color=colour)
            _draw_timers(timers, one, colour, theme)
            divisor, unit = bit_rate_scale(peak)
            goodput.stairs(
                one.goodput_bps(edges) / divisor, edges, color=colour, fill=True, alpha=0.7
            )
            goodput.set_xlabel("time (s)")
            goodput.set_xlim(0.0, edges[-1])
            if column == 0:
                window.set_ylabel("cwnd (kB)")
                timers.set_ylabel("SRTT, RTO (ms)")
                goodput.set_ylabel(f"goodput ({unit})")
        grid[1, 0].set_ylim(bottom=0)  # last: from here on the scale no longer grows
        grid[2, -1].legend(loc="upper right", ncols=2)
        figure.align_ylabels(grid[:, 0])
    return figure


def timeline_table(runs: Sequence[tuple[str, Run]], *, flow: int = 0) -> pl.DataFrame:
    """The figure's numbers in equal windows of time, one row a run and window."""
    rows = []
    for title, run in runs:
        one = timeline(title, run, flow)
        edges = np.linspace(0.0, one.duration_s, _TABLE_WINDOWS + 1)
        goodput = one.goodput_bps(edges)
        for index, (begin, end) in enumerate(pairwise(edges)):
            inside = one.samples.filter(pl.col("time_s").is_between(begin, end, closed="left"))
            rows.append(
                {
                    "run": title,
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


def _draw_events(axes: Axes, one: Timeline, theme: Theme) -> None:
    axes.eventplot(
        [one.events[lane] for lane in _LANES],
        lineoffsets=range(len(_LANES)),
        linelengths=0.8,
        linewidths=1.2,
        colors=theme.foreground,
        rasterized=max(map(len, one.events.values())) > _MOST_VECTOR_TICKS,
    )
    axes.set_yticks(range(len(_LANES)), [lane.replace("-", " ") for lane in _LANES])
    for row, lane in enumerate(_LANES):
        axes.annotate(
            str(len(one.events[lane])),
            xy=(1.01, row),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=9,
            annotation_clip=False,
        )
    axes.set_ylim(len(_LANES) - 0.5, -0.5)
    axes.grid(visible=False)
    axes.tick_params(axis="both", length=0)


def _draw_timers(axes: Axes, one: Timeline, colour: str, theme: Theme) -> None:
    axes.step(
        one.time_s,
        one.column("rto_ms"),
        where="post",
        color=theme.foreground,
        linewidth=0.9,
        label="RTO",
    )
    axes.step(one.time_s, one.column("srtt_ms"), where="post", color=colour, label="SRTT")
    axes.set_yscale("log")
    axes.margins(y=0.2)  # room for the legend
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
