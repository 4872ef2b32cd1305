"""The comparison figure: each remedy's goodput as paired difference to the baseline."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from airtcp.plot.style import LIGHT, Theme, drawn_in, remedy_colours
from airtcp.quantities import bit_rate_scale, format_bit_rate
from airtcp.study.cells import BASELINE
from airtcp.study.compare import Comparison
from airtcp.study.statistics import PairedDifference
from airtcp.study.verdict import amount, outcome_words

_ROW_INCHES = 0.62
_DOTS_SPREAD = 0.22
"""How far, in rows, the dots of the seeds lie apart so that equal ones can be seen."""


def comparison_figure(comparison: Comparison, theme: Theme = LIGHT) -> Figure:
    """One row a remedy: a dot a seed, the mean as a diamond, its 95 % interval as a bar."""
    remedies = comparison.remedies[1:]
    baseline = comparison.values(BASELINE, "goodput_bps")
    differences = {
        remedy: np.subtract(comparison.values(remedy, "goodput_bps"), baseline)
        for remedy in remedies
    }
    largest = max(float(np.abs(values).max()) for values in differences.values())
    divisor, unit = bit_rate_scale(largest)
    colours = remedy_colours(comparison.remedies, theme)
    with drawn_in(theme):
        figure = Figure(figsize=(9.0, 1.5 + _ROW_INCHES * len(remedies)), layout="constrained")
        axes = figure.add_subplot()
        for row, remedy in enumerate(remedies):
            _draw_row(
                axes,
                row,
                differences[remedy] / divisor,
                comparison.differences[remedy]["goodput_bps"],
                divisor,
                colours[remedy],
                theme,
            )
        axes.axvline(0.0, color=theme.baseline, linewidth=1.2, zorder=1)
        axes.set_yticks(range(len(remedies)), remedies)
        axes.set_ylim(len(remedies) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
        axes.margins(x=0.08)
        mean = format_bit_rate(float(np.mean(baseline)))
        axes.set_xlabel(f"goodput minus the baseline's on the same seed ({unit})")
        figure.suptitle(
            f"Goodput against the baseline's {mean}: dots are the {len(baseline)} "
            f"{'seed' if len(baseline) == 1 else 'seeds'}, bars 95 % intervals",
            x=0.01,
            ha="left",
            fontsize=10,
        )
    return figure


def _draw_row(
    axes: Axes,
    row: int,
    values: NDArray[np.float64],
    goodput: PairedDifference,
    divisor: float,
    colour: str,
    theme: Theme,
) -> None:
    mean = goodput.mean / divisor
    if goodput.half_width is not None:
        spread = np.linspace(-_DOTS_SPREAD, _DOTS_SPREAD, len(values))
        axes.scatter(values, row + spread, s=16, color=colour, alpha=0.55, linewidths=0)
        axes.errorbar(
            mean,
            row,
            xerr=goodput.half_width / divisor,
            color=colour,
            linewidth=2.4,
            capsize=5,
            capthick=1.6,
            zorder=3,
        )
    axes.scatter(mean, row, marker="D", s=46, color=colour, edgecolors=theme.background, zorder=4)
    axes.annotate(
        f"{amount(goodput, sign=True)}\n{outcome_words(goodput)}",
        xy=(1.01, row),
        xycoords=("axes fraction", "data"),
        va="center",
        fontsize=9,
        annotation_clip=False,
    )
