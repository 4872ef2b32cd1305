"""A grid's effects as a matrix: remedies down, links and stacks across, significance visible."""

import numpy as np
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure

from airtcp.plot.style import LIGHT, Theme, drawn_in
from airtcp.study.grid import Entry, GridResult
from airtcp.study.statistics import Outcome

# Beyond this many per cent the colour does not deepen.
_DEEPEST = 40.0


def matrix_figure(result: GridResult, theme: Theme = LIGHT) -> Figure:
    """The paired difference in goodput of every entry, in per cent of its baseline.

    Coloured where the 95 % interval excludes zero; grey numbers where it does not.
    """
    links, stacks = result.grid.links, result.grid.stacks
    columns = [(link.name, stack.name) for link in links for stack in stacks]
    remedies = result.grid.remedies
    by = {(entry.link, entry.stack, entry.remedy): entry for entry in result.entries}
    with drawn_in(theme):
        figure = Figure(figsize=(2.4 + 1.15 * len(columns), 1.6 + 0.36 * len(remedies)))
        axes = figure.subplots()
        shown = np.full((len(remedies), len(columns)), np.nan)
        for row, remedy in enumerate(remedies):
            for column, (link, stack) in enumerate(columns):
                entry = by[link, stack, remedy]
                value = _significant(entry)
                if value is not None:
                    shown[row, column] = np.clip(value, -_DEEPEST, _DEEPEST)
                axes.text(
                    column,
                    row,
                    _label(entry),
                    ha="center",
                    va="center",
                    fontsize=8,
                    color=theme.foreground if value is None else "#1a1a1a",
                    alpha=0.6 if value is None else 1.0,
                )
        axes.imshow(
            shown,
            cmap="PuOr_r",
            norm=TwoSlopeNorm(0.0, -1.4 * _DEEPEST, 1.4 * _DEEPEST),
            aspect="auto",
        )
        axes.set_xticks(
            range(len(columns)), [f"{link}\n{stack}" for link, stack in columns], fontsize=8
        )
        axes.set_yticks(range(len(remedies)), remedies, fontsize=8)
        axes.xaxis.tick_top()
        for edge in range(1, len(links)):
            axes.axvline(edge * len(stacks) - 0.5, color=theme.foreground, linewidth=0.8)
        axes.set_xlabel(
            "goodput, paired difference to the same stack without, per cent; "
            f"{result.seeds} seeds\n"
            "coloured: the 95 % interval excludes zero; n/a: the link has no place for it",
            fontsize=8,
        )
        axes.grid(False)
        axes.tick_params(length=0)
        figure.tight_layout()
    return figure


def _significant(entry: Entry) -> float | None:
    difference = entry.difference
    if difference is None or difference.outcome not in {Outcome.HIGHER, Outcome.LOWER}:
        return None
    return difference.mean_percent


def _label(entry: Entry) -> str:
    difference = entry.difference
    if difference is None:
        return "n/a"
    if difference.outcome is Outcome.IDENTICAL:
        return "="
    mean = difference.mean_percent
    return "n/a" if mean is None else f"{mean:+.1f}"
