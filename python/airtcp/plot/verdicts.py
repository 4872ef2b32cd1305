"""All claims of all papers at a glance: a tile each, coloured by its verdict."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from airtcp.papers.judge import JudgedClaim
from airtcp.papers.rules import Verdict
from airtcp.plot.style import BLUE, GREEN, LIGHT, ORANGE, VERMILLION, Theme, drawn_in

COLOURS = {
    Verdict.REPRODUCED: GREEN,
    Verdict.DIRECTION: BLUE,
    Verdict.NOT_SHOWN: ORANGE,
    Verdict.CONTRADICTED: VERMILLION,
}
"""A verdict's colour, in figures and on pages."""

SIGNS = {
    Verdict.REPRODUCED: "=",
    Verdict.DIRECTION: "~",
    Verdict.NOT_SHOWN: "?",
    Verdict.CONTRADICTED: "\N{MULTIPLICATION SIGN}",
}
"""A sign beside the colour, for eyes and printers that do not tell colours apart."""


def verdict_figure(
    papers: Sequence[tuple[str, Sequence[JudgedClaim]]], theme: Theme = LIGHT
) -> Figure:
    """Papers down, their claims across."""
    widest = max(len(claims) for _, claims in papers)
    with drawn_in(theme):
        figure = Figure(figsize=(2.6 + 0.62 * widest, 0.9 + 0.62 * len(papers)))
        axes = figure.subplots()
        for row, (_, claims) in enumerate(papers):
            for column, judged in enumerate(claims):
                axes.add_patch(
                    Rectangle(
                        (column + 0.04, row + 0.06),
                        0.92,
                        0.88,
                        facecolor=COLOURS[judged.verdict],
                        edgecolor="none",
                    )
                )
                axes.text(
                    column + 0.5,
                    row + 0.5,
                    f"{judged.claim.id} {SIGNS[judged.verdict]}",
                    ha="center",
                    va="center",
                    fontsize=9,
                    color="#ffffff",
                    fontweight="bold",
                )
        axes.set_xlim(0, widest)
        axes.set_ylim(len(papers), 0)
        axes.set_yticks([row + 0.5 for row in range(len(papers))], [name for name, _ in papers])
        axes.set_xticks([])
        axes.tick_params(length=0, labelsize=9)
        axes.grid(visible=False)
        for spine in axes.spines.values():
            spine.set_visible(False)
        marks = [
            Rectangle((0, 0), 1, 1, facecolor=COLOURS[verdict], label=f"{SIGNS[verdict]} {verdict}")
            for verdict in Verdict
        ]
        axes.legend(
            handles=marks, loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=4, handlelength=1
        )
        figure.tight_layout()
    return figure
