"""All remedies on all scenarios: the matrix, and the pairs that combine or fight."""

from collections.abc import Sequence

from airtcp.comparison.grid import GridResult
from airtcp.pages.figures import PlannedFigure
from airtcp.pages.grid import effect_matrix, effects
from airtcp.pages.tables import Table
from airtcp.papers.cross import Company, PairOutcome, cross_grid, pair_outcomes
from airtcp.papers.estimates import gain_text
from airtcp.papers.judgement import Judgement


def cross_of(judgement: Judgement) -> tuple[GridResult | None, list[PairOutcome]]:
    """The grid and the pairs; None and empty if they were not run."""
    if judgement.cross is None or judgement.cross_outcomes is None:
        return None, []
    experiment = judgement.cross.experiment(quick=judgement.quick)
    outcomes = judgement.cross_outcomes
    return (
        cross_grid(judgement.cross, experiment, outcomes),
        pair_outcomes(judgement.cross, experiment, outcomes),
    )


def matrix_figure(grid: GridResult) -> PlannedFigure:
    """The matrix as a figure with its table, without the baseline."""
    table = effects(grid)
    return PlannedFigure(
        "cross",
        "Every remedy on every paper's scenario",
        "The paired difference in goodput, in per cent, of flows over their own lives, to the same "
        f"sender without the remedy; {grid.seeds} seeds.",
        effect_matrix(grid),
        Table(table.columns, table.rows[1:]),
    )


def pairs_table(pairs: Sequence[PairOutcome]) -> Table:
    """Every pair that combines or fights, with each remedy separately."""
    rows = [
        (
            f"{pair.link}, {pair.stack}",
            f"{pair.one} + {pair.other}",
            str(pair.company),
            gain_text(pair.alone[0]),
            gain_text(pair.alone[1]),
            gain_text(pair.together),
            gain_text(pair.over_better),
            gain_text(pair.over_product),
        )
        for pair in pairs
        if pair.company in {Company.COMBINE, Company.FIGHT}
    ]
    heads = (
        "where",
        "remedies",
        "they",
        "first alone",
        "second alone",
        "both",
        "over the better",
        "over both multiplied",
    )
    return Table(heads, rows, 3)
