"""The comparison figure: each remedy's goodput as paired difference to the baseline."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from airtcp.core.quantities import bit_rate_scale, format_bit_rate
from airtcp.pages.plot.frame import fitted, frame, text_inches, widest_inches
from airtcp.pages.plot.style import BLUE, LIGHT, VERMILLION, house_style
from airtcp.pages.plot.svg import NARROW_INCHES

_NAME_INCHES = 3.2
"""Widest name of a remedy next to its row."""
_ROW_INCHES = 0.62
_NARROW_ROW_INCHES = 0.78
_NARROW_SPREAD = 0.14
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
class DifferenceRows:
    """The figure's numbers and words."""

    baseline_bps: float
    """The baseline's mean goodput in bit/s."""
    rows: tuple[DifferenceRow, ...]

    def figure(self) -> Figure:
        """One row per remedy: a dot per seed, the mean as a diamond, its 95 % interval as a bar."""
        seeds = len(self.rows[0].differences_bps)
        remedies = [fitted(row.remedy, _NAME_INCHES) for row in self.rows]
        largest = max(abs(value) for row in self.rows for value in row.differences_bps)
        divisor, unit = bit_rate_scale(largest)
        with house_style():
            figure = Figure(figsize=(9.0, 1.3 + _ROW_INCHES * len(self.rows)))
            axes = figure.add_subplot()
            for place, row in enumerate(self.rows):
                _draw_row(axes, place, row, divisor)
            axes.axvline(0.0, color=LIGHT.baseline, linewidth=1.2, zorder=1)
            axes.set_yticks(range(len(self.rows)), remedies)
            axes.set_ylim(len(self.rows) - 0.5, -0.5)
            axes.tick_params(axis="y", length=0)
            axes.grid(visible=False, axis="y")
            axes.margins(x=0.08)
            axes.set_xlabel(f"goodput minus the baseline's on the same seed ({unit})")
            figure.text(
                0.01,
                1.0 - 0.1 / figure.get_figheight(),
                f"Goodput against the baseline's {format_bit_rate(self.baseline_bps)}: dots are "
                f"the {seeds} {'seed' if seeds == 1 else 'seeds'}, bars 95 % intervals",
                va="top",
            )
            frame(
                figure,
                left=0.2 + widest_inches(remedies),
                right=0.25 + max(text_inches(row.words) for row in self.rows),
                top=0.45,
                bottom=0.6,
            )
        return figure

    def narrow(self) -> Figure:
        """The same for a phone: a remedy's name and text are above its bar."""
        largest = max(abs(value) for row in self.rows for value in row.differences_bps)
        divisor, unit = bit_rate_scale(largest)
        with house_style():
            figure = Figure(figsize=(NARROW_INCHES, 0.9 + _NARROW_ROW_INCHES * len(self.rows)))
            axes = figure.add_subplot()
            for place, row in enumerate(self.rows):
                _draw_bar(axes, place + 0.18, row, divisor, _NARROW_SPREAD)
                for above, text, weight in (
                    (0.38, fitted(row.remedy, NARROW_INCHES - 0.6), "bold"),
                    (0.19, row.words.replace("\n", ", "), "normal"),
                ):
                    axes.annotate(
                        text,
                        xy=(0.0, place - above),
                        xycoords=("axes fraction", "data"),
                        va="center",
                        fontsize=9,
                        fontweight=weight,
                    )
            axes.axvline(0.0, color=LIGHT.baseline, linewidth=1.2, zorder=1)
            axes.set_yticks([])
            axes.set_ylim(len(self.rows) - 0.5, -0.5)
            axes.grid(visible=False, axis="y")
            axes.margins(x=0.08)
            axes.set_xlabel(f"goodput minus the baseline's ({unit})")
            frame(figure, left=0.15, right=0.15, top=0.1, bottom=0.6)
        return figure


def _colour(row: DifferenceRow) -> str:
    """Colour of a gain, of a loss, or of a change not distinguishable from zero."""
    if abs(row.mean_bps) <= (row.half_width_bps or 0.0):
        return LIGHT.baseline
    return BLUE if row.mean_bps > 0 else VERMILLION


def _draw_row(axes: Axes, place: int, row: DifferenceRow, divisor: float) -> None:
    _draw_bar(axes, place, row, divisor, _DOTS_SPREAD)
    axes.annotate(
        row.words,
        xy=(1.01, place),
        xycoords=("axes fraction", "data"),
        va="center",
        fontsize=9,
        annotation_clip=False,
    )


def _draw_bar(
    axes: Axes, place: float, row: DifferenceRow, divisor: float, dots_spread: float
) -> None:
    colour = _colour(row)
    mean = row.mean_bps / divisor
    if row.half_width_bps is not None:
        values = np.asarray(row.differences_bps) / divisor
        spread = np.linspace(-dots_spread, dots_spread, len(values))
        axes.scatter(values, place + spread, s=16, color=colour, alpha=0.55, linewidths=0)
        axes.errorbar(
            mean,
            place,
            xerr=row.half_width_bps / divisor,
            color=colour,
            linewidth=2.4,
            capsize=5,
            capthick=1.6,
            zorder=3,
        )
    axes.scatter(mean, place, marker="D", s=46, color=colour, edgecolors=LIGHT.background, zorder=4)
