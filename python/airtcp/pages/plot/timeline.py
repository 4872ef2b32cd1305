"""The timeline figure: one flow's window, timers and goodput, run by run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from airtcp._core import Table
from airtcp.core.quantities import bit_rate_scale
from airtcp.pages.plot.frame import fitted
from airtcp.pages.plot.marks import (
    WIDE_INCHES,
    Area,
    Grid,
    Line,
    Mark,
    Panel,
    Plot,
    Scale,
    Words,
)
from airtcp.pages.plot.observed import Observed
from airtcp.pages.plot.plotted import PlotInTwoWidths
from airtcp.pages.plot.style import BLUE, LIGHT
from airtcp.pages.plot.ticks import ends, linear, logarithmic
from airtcp.pages.plot.widths import widest_inches

_GOODPUT_BINS = 120
_TABLE_WINDOWS = 12
_TITLE_INCHES = 3.0
_LABEL_INCHES = 0.55
"""Distance of the labels of the y axes from the axes; equal for all, for alignment."""
_HEIGHTS = (0.6, 2.0, 2.0, 2.0)
"""Shares of the height: events, window, timers, goodput."""
_COLUMNS = ("cwnd_bytes", "srtt_ms", "rto_ms", "delivered_bytes")
"""Of the samples of `TIMELINE_PROBES`."""
_LANES = ("timeout", "spurious-timeout", "fast-retransmit")
"""The events shown, each in a separate lane."""


Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Timeline:
    """One flow of one run as columns for drawing."""

    title: str
    colour: str
    duration_s: float
    samples: Mapping[str, Reals]
    """Seconds of each sample, and the probes by column, NaN without a value."""
    events: dict[str, Reals]
    """For each lane the times of its event in seconds."""

    @cached_property
    def time_s(self) -> Reals:
        """Seconds of each sample."""
        return self.samples["time_s"]

    def column(self, name: str) -> Reals:
        """One probe as real numbers, NaN without a value."""
        return self.samples[name]

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
    samples, events = run.arrow("samples"), run.arrow("events")
    if missing := [name for name in _COLUMNS if not _has(samples, name)]:
        raise ValueError(
            f"the run has no samples of {', '.join(sorted(missing))}: "
            "give probes=airtcp.TIMELINE_PROBES to airtcp.run"
        )
    is_here = samples.wholes("flow") == flow
    if not is_here.any():
        raise ValueError(f"the run has no flow {flow}")
    times, of_flow = events.reals("time_s"), events.reals("flow") == flow
    words = np.array(events.words("event"), dtype=object)
    return Timeline(
        title,
        colour,
        run.summary["duration_s"],
        {name: samples.reals(name)[is_here] for name in ("time_s", *_COLUMNS)},
        {lane: times[of_flow & (words == lane)] for lane in _LANES},
    )


def _has(table: Table, name: str) -> bool:
    try:
        table.reals(name)
    except KeyError:
        return False
    return True


@dataclass(frozen=True)
class Timelines(PlotInTwoWidths):
    """The figure: columns are runs; rows are events, window, timers and goodput.

    All runs have the same scales; on a phone they are below each other.
    """

    columns: tuple[Timeline, ...]

    def plot(self) -> Plot:
        """All runs side by side."""
        return self._plotted(max(WIDE_INCHES, 5.2 * len(self.columns)), is_narrow=False)

    def _plotted(self, width: float, *, is_narrow: bool) -> Plot:
        count = 1 if is_narrow else len(self.columns)
        stacked = len(self.columns) // count
        counts = widest_inches(
            str(len(times)) for one in self.columns for times in one.events.values()
        )
        grid = Grid(
            width,
            7.2 * stacked,
            left=0.25 + widest_inches(lane.replace("-", " ") for lane in _LANES),
            right=0.2 + counts,
            top=0.4,
            bottom=0.55,
            columns=count,
            between_rows=0.45 if is_narrow else 0.18,
            between_columns=0.3 + counts,
            heights=_HEIGHTS * stacked,
        )
        scales = _Scales(self.columns, grid)
        panels = []
        for place, one in enumerate(self.columns):
            row, column = (4 * place, 0) if is_narrow else (0, place)
            is_left = is_narrow or place == 0
            has_time = not is_narrow or place == len(self.columns) - 1
            for kind, (x, y, marks) in enumerate(scales.panels(one, is_left, has_time)):
                events = kind == 0
                panels.append(
                    Panel(
                        *grid.rectangle(row + kind, column),
                        x=x,
                        y=y,
                        marks=tuple(marks),
                        title=fitted(one.title, _TITLE_INCHES) if events else "",
                        label_inches=_LABEL_INCHES,
                        # Each run has its colour, and therefore its key.
                        key_columns=2 if kind == 2 else 0,
                    )
                )
        return Plot(width, grid.height, tuple(panels))


class _Scales:
    """The scales that all runs share."""

    def __init__(self, columns: Sequence[Timeline], grid: Grid) -> None:
        self.edges = np.linspace(0.0, max(one.duration_s for one in columns), _GOODPUT_BINS + 1)
        _, _, across, height = grid.rectangle(1)
        self.time = linear(0.0, float(self.edges[-1]), across, "x")
        window = max(_largest(one.column("cwnd_bytes")) for one in columns) / 1e3
        self.window = linear(0.0, 1.05 * (window or 1.0), height, "y", "cwnd (kB)")
        self.timers = _timer_scale(columns)
        peak = max(float(one.goodput_bps(self.edges).max()) for one in columns)
        self.divisor, unit = bit_rate_scale(peak)
        top = 1.05 * (peak / self.divisor or 1.0)
        self.goodput = linear(0.0, top, height, "y", f"goodput ({unit})")

    def panels(
        self, one: Timeline, is_left: bool, has_time: bool
    ) -> Iterator[tuple[Scale, Scale, list[Mark]]]:
        """The scales and marks of each panel of a run, from the top."""
        bare = replace(self.time, ticks=tuple((place, "") for place, _ in self.time.ticks))
        lanes = tuple(
            (float(row), lane.replace("-", " ") if is_left else "")
            for row, lane in enumerate(_LANES)
        )
        events = Scale(len(_LANES) - 0.5, -0.5, lanes, has_grid=False, has_tick_marks=False)
        without = replace(self.time, ticks=(), has_grid=False, has_tick_marks=False)
        yield without, events, _events(one)
        window = _steps(one.time_s, one.column("cwnd_bytes") / 1e3, one.colour)
        yield bare, _side(self.window, is_left), [window]
        rto = _steps(one.time_s, one.column("rto_ms"), LIGHT.foreground, 0.9, "RTO")
        srtt = _steps(one.time_s, one.column("srtt_ms"), one.colour, name="SRTT")
        yield bare, _side(self.timers, is_left), [rto, srtt]
        heights = np.repeat(one.goodput_bps(self.edges) / self.divisor, 2)
        outline = np.repeat(self.edges, 2), np.r_[0.0, heights, 0.0]
        goodput: list[Mark] = [Area(*outline, one.colour, opacity=0.7)]
        time = replace(self.time, label="time (s)") if has_time else self.time
        yield time, _side(self.goodput, is_left), goodput


def _side(scale: Scale, is_left: bool) -> Scale:
    """A scale shared by the columns, without its texts in all but the left one."""
    if is_left:
        return scale
    return replace(scale, label="", ticks=tuple((place, "") for place, _ in scale.ticks))


def _largest(values: Reals) -> float:
    known = values[np.isfinite(values)]
    return float(known.max()) if len(known) else 0.0


def _timer_scale(columns: Sequence[Timeline]) -> Scale:
    """Logarithmic, with room for the key above the lines."""
    values = np.concatenate([one.column(name) for one in columns for name in ("rto_ms", "srtt_ms")])
    known = np.log10(values[values > 0])
    low, high = ends(known.tolist(), 0.2)
    return logarithmic(10.0**low, 10.0**high, "SRTT, RTO (ms)")


def _steps(x: Reals, y: Reals, colour: str, width: float = 1.4, name: str = "") -> Line:
    """A line that keeps each value until the next one."""
    return Line(np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1], colour, width, name=name)


def _events(one: Timeline) -> list[Mark]:
    marks: list[Mark] = []
    for row, lane in enumerate(_LANES):
        # One path for a lane: an element for each tick would make a large file.
        times = np.repeat(one.events[lane], 3)
        heights = np.tile([row - 0.4, row + 0.4, np.nan], len(one.events[lane]))
        marks.append(Line(times, heights, LIGHT.foreground, width=1.2))
        marks.append(Words(str(len(one.events[lane])), 1.01, row, x_is_share=True))
    return marks


@dataclass(frozen=True)
class TimelineRow:
    """One run in one window of time; None for what was not measured in it."""

    run: str
    from_s: float
    to_s: float
    cwnd_mean_bytes: float | None
    srtt_median_ms: float | None
    rto_max_ms: float | None
    goodput_bps: float
    events: dict[str, int]
    """By lane."""


def timeline_table(columns: Sequence[Timeline]) -> list[TimelineRow]:
    """The figure's numbers in equal windows of time, one row per run and window."""
    rows = []
    for one in columns:
        edges = np.linspace(0.0, one.duration_s, _TABLE_WINDOWS + 1)
        goodput = one.goodput_bps(edges)
        for index, (begin, end) in enumerate(pairwise(edges)):
            inside = (one.time_s >= begin) & (one.time_s < end)
            rows.append(
                TimelineRow(
                    one.title,
                    float(begin),
                    float(end),
                    _of_known(one.column("cwnd_bytes")[inside], np.mean),
                    _of_known(one.column("srtt_ms")[inside], np.median),
                    _of_known(one.column("rto_ms")[inside], np.max),
                    float(goodput[index]),
                    {
                        lane: int(np.count_nonzero((times >= begin) & (times < end)))
                        for lane, times in one.events.items()
                    },
                )
            )
    return rows


def _of_known(values: Reals, measure: Callable[[Reals], Any]) -> float | None:
    """A measure of the values that are numbers; None without any."""
    known = values[np.isfinite(values)]
    return float(measure(known)) if len(known) else None
