"""All claims of all papers at a glance: one tile each, coloured by its verdict."""

from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from airtcp.pages.plot.frame import frame
from airtcp.pages.plot.style import INK, PAPER, house_style
from airtcp.pages.plot.widths import widest_inches


@dataclass(frozen=True)
class VerdictLook:
    """Style of a verdict in figures and on pages, in light and dark mode."""

    sign: str
    """Shown in addition to the colour, for readers and printers without colour."""
    surface: str
    text: str


LOOKS = {
    "reproduced": VerdictLook("=", "#00694d", PAPER),
    "direction": VerdictLook("~", "#0072b1", PAPER),
    "depends on the reading": VerdictLook("*", "#8f4a78", PAPER),
    "not yet decided": VerdictLook("…", "#4a6572", PAPER),
    "not shown": VerdictLook("?", "#e69f01", INK),
    "never the paper's way": VerdictLook("!", "#7a3e00", PAPER),
    "contradicted": VerdictLook("\N{MULTIPLICATION SIGN}", "#b03a00", PAPER),
}
"""The verdicts by their words. The text's contrast is at least 4.5:1 (WCAG 2.2 §1.4.3)."""

_KEY_COLUMNS = 4
"""Columns of the key: more are wider than the tiles."""

_OTHER = VerdictLook("", "#5c5c5d", PAPER)


def look_of(verdict: str) -> VerdictLook:
    """Style of a verdict; one that begins with another's words shares its style."""
    for words, look in LOOKS.items():
        if verdict.startswith(words):
            return look
    return _OTHER


@dataclass(frozen=True)
class VerdictTiles:
    """Papers down, each with the identity and the verdict of its claims."""

    papers: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]

    def figure(self) -> Figure:
        """One tile per claim."""
        widest = max(len(claims) for _, claims in self.papers)
        names = [name for name, _ in self.papers]
        seen = {verdict for _, claims in self.papers for _, verdict in claims}
        left = 0.2 + widest_inches(names)
        with house_style():
            figure = Figure(figsize=(max(7.6, left + 0.6 * widest), 0.5 + 0.5 * len(self.papers)))
            axes = figure.subplots()
            for row, (_, claims) in enumerate(self.papers):
                for column, (identity, verdict) in enumerate(claims):
                    look = look_of(verdict)
                    axes.add_patch(
                        Rectangle((column + 0.04, row + 0.06), 0.92, 0.88, facecolor=look.surface)
                    )
                    axes.text(
                        column + 0.5,
                        row + 0.5,
                        f"{identity} {look.sign}",
                        ha="center",
                        va="center",
                        color=look.text,
                        fontweight="bold",
                    )
            axes.set_xlim(0, widest)
            axes.set_ylim(len(self.papers), 0)
            axes.set_yticks([row + 0.5 for row in range(len(names))], names)
            axes.set_xticks([])
            axes.tick_params(length=0)
            axes.grid(visible=False)
            for spine in axes.spines.values():
                spine.set_visible(False)
            marks = [
                Rectangle((0, 0), 1, 1, facecolor=look.surface, label=f"{look.sign} {verdict}")
                for verdict, look in LOOKS.items()
                if any(one.startswith(verdict) for one in seen)
            ]
            columns = min(len(marks), _KEY_COLUMNS)
            rows = -(-len(marks) // columns)
            figure.legend(handles=marks, loc="lower left", ncols=columns, handlelength=1)
            frame(figure, left=left, right=0.1, top=0.1, bottom=0.15 + 0.25 * rows, is_rigid=True)
        return figure
