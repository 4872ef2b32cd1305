"""Effects as a matrix: remedies down, links and stacks across, significance visible."""

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from airtcp.pages.plot.frame import frame
from airtcp.pages.plot.style import INK, LIGHT, house_style
from airtcp.pages.plot.widths import text_inches, widest_inches

DEEPEST_PERCENT = 40.0
"""Per cent beyond which the colour no longer deepens."""

KEY_PERCENT = (-DEEPEST_PERCENT, -20.0, -10.0, -3.0, 3.0, 10.0, 20.0, DEEPEST_PERCENT)
"""The effects in the colour key, in per cent."""
_COLUMN_INCHES = 0.78
_ROW_INCHES = 0.25
_LOSS, _GAIN = (0xE0, 0x82, 0x14), (0x95, 0x8A, 0xDC)
"""Orange and violet (ColorBrewer's PuOr), distinguishable with every kind of colour vision."""


@dataclass(frozen=True)
class MatrixCell:
    """One effect: the text of its cell, and its size in per cent if shown."""

    words: str
    shown_percent: float | None = None


@dataclass(frozen=True)
class Matrix:
    """Effects in per cent; columns in groups, separated by lines."""

    rows: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    """Group and name of each column."""
    cells: tuple[tuple[MatrixCell, ...], ...]
    """Row by row."""
    caption: str

    def figure(self) -> Figure:
        """Coloured if the 95 % interval excludes zero; grey numbers otherwise."""
        left = 0.2 + widest_inches(self.rows)
        top = 0.2 + 0.16 * max(1 + group.count("\n") + 1 for group, _ in self.columns)
        bottom = 0.95
        column = max(
            _COLUMN_INCHES, *(0.1 + text_inches(n, 8) for pair in self.columns for n in pair)
        )
        width = left + 0.15 + column * len(self.columns)
        height = top + bottom + _ROW_INCHES * len(self.rows)
        with house_style():
            figure = Figure(figsize=(max(width, 7.5), height))
            axes = figure.subplots()
            for row, cells in enumerate(self.cells):
                for place, cell in enumerate(cells):
                    _draw_cell(axes, place, row, cell)
            axes.set_xlim(-0.5, len(self.columns) - 0.5)
            axes.set_ylim(len(self.rows) - 0.5, -0.5)
            names = [f"{group}\n{name}" for group, name in self.columns]
            axes.set_xticks(range(len(names)), names, fontsize=8)
            axes.set_yticks(range(len(self.rows)), self.rows, fontsize=9)
            axes.xaxis.tick_top()
            for place in range(1, len(self.columns)):
                if self.columns[place][0] != self.columns[place - 1][0]:
                    axes.axvline(place - 0.5, color=LIGHT.foreground, linewidth=0.8)
            axes.grid(False)
            axes.tick_params(length=0)
            for spine in axes.spines.values():
                spine.set_visible(False)
            frame(figure, left=left, right=0.15, top=top, bottom=bottom, is_rigid=True)
            self._draw_key(figure, left)
        return figure

    def _draw_key(self, figure: Figure, left: float) -> None:
        """The colours with their meaning, and the caption."""
        width, height = figure.get_size_inches()
        figure.text(left / width, 0.08 / height, self.caption, fontsize=8, va="bottom")
        for place, percent in enumerate(KEY_PERCENT):
            x = left / width + place * 0.62 / width
            figure.patches.append(
                Rectangle(
                    (x, 0.52 / height),
                    0.6 / width,
                    0.26 / height,
                    facecolor=effect_colour(percent),
                    transform=figure.transFigure,
                    figure=figure,
                )
            )
            figure.text(
                x + 0.3 / width,
                0.65 / height,
                key_words(percent),
                fontsize=8,
                color=INK,
                ha="center",
                va="center",
            )


def effect_colour(percent: float) -> str:
    """The colour of an effect, between white at 0 and the deepest at `DEEPEST_PERCENT`."""
    depth = min(1.0, abs(percent) / DEEPEST_PERCENT) ** 0.7
    end = _GAIN if percent > 0 else _LOSS
    red, green, blue = (round(0xF7 + depth * (part - 0xF7)) for part in end)
    return f"#{red:02x}{green:02x}{blue:02x}"


def key_words(percent: float) -> str:
    """An effect of the colour key in words."""
    sign = "+" if percent > 0 else "\N{MINUS SIGN}"
    more = "≥ " if percent == DEEPEST_PERCENT else "≤ " if percent == -DEEPEST_PERCENT else ""
    return f"{more}{sign}{abs(percent):g} %"


def _draw_cell(axes: Axes, column: int, row: int, cell: MatrixCell) -> None:
    shown = cell.shown_percent
    if shown is not None:
        axes.add_patch(
            Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=effect_colour(shown), linewidth=0)
        )
    axes.text(
        column,
        row,
        cell.words,
        ha="center",
        va="center",
        fontsize=8,
        color=LIGHT.soft if shown is None else INK,
    )
