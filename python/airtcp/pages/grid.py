"""A grid's results: tables in Markdown, for docs and reports, and the numbers of its figures."""

from pathlib import Path

from airtcp.comparison.grid import Entry, GridResult, text_of
from airtcp.comparison.metrics import METRICS
from airtcp.comparison.statistics import Outcome
from airtcp.core.catalogue import BASELINE
from airtcp.core.files import write_whole
from airtcp.core.quantities import format_percent
from airtcp.pages.figures import PlannedFigure, drawn
from airtcp.pages.plot.matrix import Matrix, MatrixCell
from airtcp.pages.plot.scores import Score, Scores
from airtcp.pages.rendering import whole, write_page
from airtcp.pages.tables import Table, markdown


@whole
def write_study(
    result: GridResult,
    folder: Path,
    command: str | None = None,
    *,
    png: bool = False,
    width: float | None = None,
) -> Path:
    """Writes index.html, study.csv, study.md and the figures of a study; returns the page's path.

    Raises:
        OSError: the folder cannot be written.
    """
    metric = METRICS[result.metric]
    write_whole(folder / "study.csv", result.rows.csv().encode())
    text = effect_table(result)
    figures = [
        PlannedFigure(
            "effects",
            "What each remedy gains",
            f"{metric.label.capitalize()}: paired difference to the same stack on the same link "
            "without, in per cent. Coloured where the 95 % interval excludes zero"
            f"{'' if metric.is_better_higher else '; less is better, and orange'}.",
            effect_matrix(result),
            effects(result),
        )
    ]
    if judges(result):
        text += "\n" + score_table(result)
        figures.append(
            PlannedFigure(
                "scores",
                "How often losses were judged right",
                "Of the losses of each cause, those that the sender judged so.",
                score_squares(result),
                scores(result),
            )
        )
    write_whole(folder / "study.md", text.encode())
    return write_page(
        folder,
        "study.html.j2",
        command,
        headline=headline(result),
        result=result,
        figures=drawn(folder, figures, png=png, width=width),
        refused=[
            (entry.remedy, entry.link, entry.refusal) for entry in result.entries if entry.refusal
        ],
    )


def headline(result: GridResult) -> str:
    """The study's answer: its best remedy, and the number of settings in which any helps."""
    metric = METRICS[result.metric]
    shown = [
        (entry, percent if metric.is_better_higher else -percent)
        for entry in result.entries
        if entry.difference is not None
        and entry.difference.outcome in {Outcome.HIGHER, Outcome.LOWER}
        and (percent := entry.difference.mean_percent) is not None
    ]
    helped = [pair for pair in shown if pair[1] > 0]
    tried = sum(entry.difference is not None for entry in result.entries)
    of_all = (
        f"Of {tried} settings, remedies are shown to help in {len(helped)} and to hurt in "
        f"{len(shown) - len(helped)}."
    )
    if not helped:
        return f"No remedy is shown to help. {of_all}"
    best, _ = max(helped, key=lambda pair: pair[1])
    assert best.difference is not None
    change = format_percent(best.difference.mean_percent or 0.0, sign=True)
    return (
        f"{best.remedy} does most for the {metric.label}: {change} on {best.link} with "
        f"{best.stack}. {of_all}"
    )


def effects(result: GridResult) -> Table:
    """Remedies down, link and stack across: the paired difference of the metric, in per cent."""
    show = METRICS[result.metric].show
    columns = [
        (link.name, stack.name) for link in result.grid.links for stack in result.grid.stacks
    ]
    baselines = [
        show(result.baselines[column]) if column in result.baselines else "none"
        for column in columns
    ]
    by = {(entry.link, entry.stack, entry.remedy): entry for entry in result.entries}
    rows = [
        (remedy, *(text_of(by[(*column, remedy)]) for column in columns))
        for remedy in result.grid.remedies
    ]
    heads = ("remedy", *(f"{link}, {stack}" for link, stack in columns))
    return Table(heads, [(BASELINE, *baselines), *rows])


def effect_table(result: GridResult) -> str:
    """`effects` in Markdown."""
    return markdown(effects(result))


def judges(result: GridResult) -> bool:
    """Whether any sender classified losses."""
    return any(entry.radio_events + entry.congestion_events for entry in result.entries)


def scores(result: GridResult) -> Table:
    """For each link and remedy, the shares of radio and congestion losses classified correctly."""
    rows = [
        (
            entry.link,
            entry.stack,
            entry.remedy,
            _share(entry.radio_right, entry.radio_events),
            _share(entry.congestion_right, entry.congestion_events),
        )
        for entry in result.entries
        if entry.radio_events + entry.congestion_events
    ]
    heads = ("radio losses judged right", "congestion losses judged right")
    return Table(("link", "stack", "classifier", *heads), rows, 3)


def score_table(result: GridResult) -> str:
    """`scores` in Markdown."""
    return markdown(scores(result))


def _share(right: float | None, events: int) -> str:
    return "n/a" if right is None else f"{100 * right:.0f} % of {events}"


def effect_matrix(result: GridResult) -> Matrix:
    """The paired difference of the metric of every entry, in per cent of its baseline."""
    metric = METRICS[result.metric]
    sign = 1 if metric.is_better_higher else -1
    columns = tuple(
        (link.name, stack.name) for link in result.grid.links for stack in result.grid.stacks
    )
    by = {(entry.link, entry.stack, entry.remedy): entry for entry in result.entries}
    return Matrix(
        result.grid.remedies,
        columns,
        tuple(
            tuple(_matrix_cell(by[(*column, remedy)], sign) for column in columns)
            for remedy in result.grid.remedies
        ),
        f"{metric.label}, paired difference to the same stack without, per cent; "
        f"{result.seeds} {'seed' if result.seeds == 1 else 'seeds'}\n"
        "coloured: the 95 % interval excludes zero; grey: no difference shown; "
        "n/a: the link has no place for it",
    )


def score_squares(result: GridResult) -> Scores:
    """Accuracy of each classifier, on the links where any classified losses."""
    return Scores(
        result.grid.remedies,
        tuple(
            Score(entry.link, entry.remedy, entry.radio_right, entry.congestion_right)
            for entry in result.entries
            if entry.radio_events + entry.congestion_events > 0
        ),
    )


def _matrix_cell(entry: Entry, sign: int) -> MatrixCell:
    """The entry's words, and its colour: that of a gain if it has the direction `sign`."""
    difference = entry.difference
    if difference is None or difference.mean_percent is None:
        return MatrixCell("n/a")
    if difference.outcome is Outcome.IDENTICAL:
        return MatrixCell("=")
    shown = difference.outcome in {Outcome.HIGHER, Outcome.LOWER}
    return MatrixCell(
        f"{difference.mean_percent:+.1f}", sign * difference.mean_percent if shown else None
    )
