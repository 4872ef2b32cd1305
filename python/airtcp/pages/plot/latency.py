"""The latency figures: a distribution for each remedy, and box plots."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from airtcp.core.catalogue import BASELINE
from airtcp.pages.plot.frame import fitted
from airtcp.pages.plot.marks import (
    Area,
    Dots,
    Grid,
    Line,
    Mark,
    Note,
    Panel,
    Plot,
    Scale,
    Words,
)
from airtcp.pages.plot.plotted import PlotInTwoWidths
from airtcp.pages.plot.style import LIGHT, remedy_colours
from airtcp.pages.plot.ticks import linear, logarithmic, rows
from airtcp.pages.plot.widths import widest_inches

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
class LatencyDistributions(PlotInTwoWidths):
    """For each remedy the cumulative distribution over packets, or bytes."""

    remedies: tuple[RemedyLatency, ...]

    def _plotted(self, width: float, *, is_narrow: bool) -> Plot:
        columns = 1 if is_narrow else 2
        names = [one.remedy for one in self.remedies]
        in_a_row = 3 if columns == 2 else 2
        lines = -(-len(names) // in_a_row)
        panels = len(_KINDS) // columns
        grid = Grid(
            width,
            3.4 * panels + 0.5 + 0.22 * lines,
            left=0.7,
            right=0.2,
            top=0.25 + 0.22 * lines,
            bottom=0.6,
            columns=columns,
            between_columns=0.6,
            between_rows=0.7,
            heights=(1.0,) * panels,
        )
        curves = {
            kind: {one.remedy: line for one in self.remedies if (line := self._curve(one, kind))}
            for kind in _KINDS
        }
        placed = []
        for place, kind in enumerate(_KINDS):
            rectangle = grid.rectangle(*divmod(place, columns))
            label = "" if place % columns else "share that took no longer (%)"
            scale, missing = _scale(self.remedies, kind, rectangle[2])
            y = linear(0.0, 101.0, rectangle[3], "y", label)
            marks: tuple[Mark, ...] = (*curves[kind].values(), *missing)
            placed.append(Panel(*rectangle, x=scale, y=y, marks=marks))
        key = {name: line for kind in _KINDS for name, line in curves[kind].items()}
        entries = tuple((fitted(name, width / in_a_row - 0.7), line) for name, line in key.items())
        return Plot(width, grid.height, tuple(placed), key=entries, key_columns=in_a_row)

    def _curve(self, one: RemedyLatency, kind: str) -> Line | None:
        quantiles = one.of(kind)
        if quantiles is None:
            return None
        colour = _colours(self.remedies)[one.remedy]
        is_baseline = one.remedy == BASELINE
        return Line(quantiles.ms, quantiles.percent, colour, 1.8, is_dashed=is_baseline)


@dataclass(frozen=True)
class LatencyBoxes(PlotInTwoWidths):
    """For each remedy a box from the 25th to the 75th percentile, with whiskers."""

    remedies: tuple[RemedyLatency, ...]

    def _plotted(self, width: float, *, is_narrow: bool) -> Plot:
        columns = 1 if is_narrow else 2
        names = [fitted(one.remedy, 0.4 * width) for one in self.remedies]
        panels = len(_KINDS) // columns
        grid = Grid(
            width,
            0.45 + panels * (0.8 + _ROW_INCHES * len(names)),
            left=0.2 + widest_inches(names),
            right=0.2,
            top=0.45,
            bottom=0.6,
            columns=columns,
            between_columns=0.3,
            between_rows=0.7,
            heights=(1.0,) * panels,
        )
        colours = _colours(self.remedies)
        placed = []
        for place, kind in enumerate(_KINDS):
            rectangle = grid.rectangle(*divmod(place, columns))
            scale, missing = _scale(self.remedies, kind, rectangle[2])
            marks = [
                mark
                for row, one in enumerate(self.remedies)
                if (quantiles := one.of(kind)) is not None
                for mark in _box(row, quantiles, colours[one.remedy])
            ]
            y = rows([""] * len(names) if place % columns else names)
            placed.append(Panel(*rectangle, x=scale, y=y, marks=(*marks, *missing)))
        note = Note(
            "Boxes 25 to 75 %, whiskers 5 to 95 %, dots 99 %"
            if is_narrow
            else "Boxes from the 25th to the 75th percentile with the median, whiskers from the "
            "5th to the 95th, dots at the 99th",
            size=9.0,
        )
        return Plot(width, grid.height, tuple(placed), note)


def _colours(remedies: Sequence[RemedyLatency]) -> dict[str, str]:
    names = [one.remedy for one in remedies if one.remedy != BASELINE]
    return remedy_colours([BASELINE, *names])


def _box(row: int, quantiles: Quantiles, colour: str) -> list[Mark]:
    low, high = (quantiles.at(percent) for percent in WHISKERS)
    first, third = (quantiles.at(percent) for percent in _BOX)
    end = [row - 0.14, row + 0.14]
    across = [low, low, np.nan, low, first, np.nan, third, high, np.nan, high, high]
    along = [*end, np.nan, row, row, np.nan, row, row, np.nan, *end]
    median = quantiles.at(50.0)
    top, bottom = row - 0.25, row + 0.25
    sides = (first, third, third, first), (top, top, bottom, bottom)
    return [
        Line(across, along, colour, width=1.6),
        Area(*sides, colour, opacity=0.35, has_edge=True),
        Line((median, median), (top, bottom), LIGHT.foreground, width=2.0),
        Dots((quantiles.at(_MARKED),), (row,), colour, size=4.2),
    ]


def _scale(
    remedies: Sequence[RemedyLatency], kind: str, inches: float
) -> tuple[Scale, tuple[Words, ...]]:
    """The axis, logarithmic if the latencies span too much for a linear one; or why it is empty."""
    known = [found for one in remedies if (found := one.of(kind)) is not None]
    label = _TITLES[kind]
    if not known:
        words = Words("not measured", 0.5, 0.5, x_is_share=True, is_centred=True)
        return Scale(0.0, 1.0, label=label), (words,)
    low = min(one.at(WHISKERS[0]) for one in known)
    # A few extremely late packets would leave no room for the others.
    high = 1.15 * max(one.at(_MARKED) for one in known)
    if low > 0 and high > 1.15 * _WIDE * low:
        return logarithmic(0.9 * low, high, label), ()
    least = min(one.ms[0] for one in known)
    least -= 0.05 * (high - least)
    return linear(least, max(high, least + 1e-6), inches, "x", label), ()
