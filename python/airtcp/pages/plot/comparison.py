"""The comparison figure: each remedy's goodput as paired difference to the baseline."""

from dataclasses import dataclass
from math import nan

import numpy as np

from airtcp.core.quantities import bit_rate_scale, format_bit_rate
from airtcp.pages.plot.frame import fitted
from airtcp.pages.plot.marks import (
    NARROW_INCHES,
    Dots,
    Grid,
    Line,
    Mark,
    Note,
    Panel,
    Plot,
    Shape,
    Words,
)
from airtcp.pages.plot.plotted import PlotInTwoWidths
from airtcp.pages.plot.style import BLUE, LIGHT, VERMILLION
from airtcp.pages.plot.ticks import ends, linear, rows
from airtcp.pages.plot.widths import text_inches, widest_inches

_NAME_INCHES = 3.2
"""Widest name of a remedy next to its row."""
_ROW_INCHES = 0.62
_NARROW_ROW_INCHES = 0.78
_NARROW_SPREAD = 0.14
_CAP_INCHES = 0.07
"""Half the height of the caps of an interval."""
_DOTS_SPREAD = 0.22
"""Distance, in rows, between the dots of the seeds, so that equal ones are visible."""


@dataclass(frozen=True)
class DifferenceRow:
    """One remedy: its differences to the baseline in bit/s, seed by seed, and their mean."""

    remedy: str
    differences_bps: tuple[float, ...]
    mean_bps: float
    half_width_bps: float | None
    words: str
    """Text of the difference at the row; two lines."""


@dataclass(frozen=True)
class DifferenceRows(PlotInTwoWidths):
    """The figure's numbers and words."""

    baseline_bps: float
    """The baseline's mean goodput in bit/s."""
    rows: tuple[DifferenceRow, ...]

    def _plotted(self, width: float, *, is_narrow: bool) -> Plot:
        """One row per remedy: a dot per seed, the mean as a diamond, its 95 % interval as a bar.

        For a phone, a remedy's name and text are above its bar.
        """
        names = [fitted(row.remedy, _NAME_INCHES) for row in self.rows]
        if is_narrow:
            height = 0.9 + _NARROW_ROW_INCHES * len(self.rows)
            grid = Grid(width, height, left=0.15, right=0.15, top=0.1, bottom=0.6)
        else:
            height = 1.3 + _ROW_INCHES * len(self.rows)
            words = max(text_inches(row.words) for row in self.rows)
            left = 0.2 + widest_inches(names)
            grid = Grid(width, height, left=left, right=0.25 + words, top=0.45, bottom=0.6)
        rectangle = grid.rectangle(0)
        largest = max(abs(value) for row in self.rows for value in row.differences_bps)
        divisor, unit = bit_rate_scale(largest)
        same = "" if is_narrow else " on the same seed"
        low, high = ends((0.0, *(value / divisor for row in self.rows for value in _reach(row))))
        # As much room on both sides as a diamond takes.
        room = 0.08 * (high - low)
        panel = Panel(
            *rectangle,
            x=linear(
                low - room,
                high + room,
                rectangle[2],
                "x",
                f"goodput minus the baseline's{same} ({unit})",
            ),
            y=rows([""] * len(names) if is_narrow else names),
            marks=(
                Line((0.0, 0.0), (-0.5, len(self.rows) - 0.5), LIGHT.baseline, width=1.2),
                *self._marks(divisor, rectangle[3] / len(self.rows), is_narrow=is_narrow),
            ),
        )
        seeds = len(self.rows[0].differences_bps)
        note = Note(
            f"Goodput against the baseline's {format_bit_rate(self.baseline_bps)}: dots are "
            f"the {seeds} {'seed' if seeds == 1 else 'seeds'}, bars 95 % intervals"
        )
        return Plot(width, height, (panel,), None if is_narrow else note)

    def _marks(self, divisor: float, row_inches: float, *, is_narrow: bool) -> list[Mark]:
        marks: list[Mark] = []
        for place, row in enumerate(self.rows):
            if not is_narrow:
                marks += _bar(place, row, divisor, _DOTS_SPREAD, row_inches)
                marks.append(Words(row.words, 1.01, place, x_is_share=True))
                continue
            marks += _bar(place + 0.18, row, divisor, _NARROW_SPREAD, row_inches)
            name = fitted(row.remedy, NARROW_INCHES - 0.6)
            marks.append(Words(name, 0.0, place - 0.38, x_is_share=True, is_bold=True))
            words = row.words.replace("\n", ", ")
            marks.append(Words(words, 0.0, place - 0.19, x_is_share=True))
        return marks


def _reach(row: DifferenceRow) -> tuple[float, ...]:
    """The mean; with an interval also its ends, and the seeds."""
    half = row.half_width_bps
    if half is None:
        return (row.mean_bps,)
    return (row.mean_bps - half, row.mean_bps + half, *row.differences_bps)


def _colour(row: DifferenceRow) -> str:
    """Colour of a gain, of a loss, or of a change not distinguishable from zero."""
    if abs(row.mean_bps) <= (row.half_width_bps or 0.0):
        return LIGHT.baseline
    return BLUE if row.mean_bps > 0 else VERMILLION


def _bar(
    place: float, row: DifferenceRow, divisor: float, dots_spread: float, row_inches: float
) -> list[Mark]:
    colour = _colour(row)
    mean = row.mean_bps / divisor
    marks: list[Mark] = []
    if row.half_width_bps is not None:
        values = np.asarray(row.differences_bps) / divisor
        spread = np.linspace(-dots_spread, dots_spread, len(values))
        marks.append(Dots(values, place + spread, colour, size=4.0, opacity=0.55))
        half = row.half_width_bps / divisor
        low, high, cap = mean - half, mean + half, _CAP_INCHES / row_inches
        marks.append(Line((low, high), (place, place), colour, width=2.4))
        across, along = (low, low, nan, high, high), (place - cap, place + cap)
        marks.append(Line(across, (*along, nan, *along), colour, width=1.6))
    marks.append(Dots((mean,), (place,), colour, 6.8, Shape.DIAMOND, has_edge=True))
    return marks
