"""Output of `airtcp compare`: the verdict, the table, recommendations and the deployment."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import typer

from airtcp.cli.console import print_lines
from airtcp.cli.errors import WORSE, say
from airtcp.cli.unwritten import AnswerFirst
from airtcp.comparison.as_json import comparison_object
from airtcp.comparison.compared import Comparison
from airtcp.comparison.context import context
from airtcp.comparison.front import Front, Mark, front
from airtcp.comparison.metrics import METRICS, Metric
from airtcp.comparison.recommend import recommendations
from airtcp.comparison.statistics import Outcome
from airtcp.comparison.words import amount, state_words
from airtcp.core.catalogue import BASELINE
from airtcp.pages.columns import numbers

if TYPE_CHECKING:
    from airtcp.comparison.stored import Regression


def give_comparison(
    comparison: Comparison,
    regression: "Regression | None",
    folder: Path | None,
    report: Callable[[Path], Path],
    *,
    is_json: bool,
    note: str,
) -> None:
    """Writes the report into the folder, and prints the answer and the finding on a stored result.

    Args:
        comparison: the comparison.
        regression: the comparison against a stored result, if one was named.
        folder: the folder of the report; None for no report.
        report: writes it; returns its page.
        is_json: whether the answer is printed as JSON.
        note: the source of the answer on what may be changed, for a search.

    Raises:
        typer.Exit: something is worse than stored.
        OSError: something could not be written.
    """
    written = AnswerFirst(comparison.unstored)
    written.give(
        folder,
        report,
        partial(comparison_object, comparison) if is_json else None,
        partial(print_comparison, comparison),
        note if comparison.is_search else "",
    )
    if regression:
        (say if is_json else print)(regression.sentence)
    written.finish()
    if regression and regression.worse:
        raise typer.Exit(WORSE)


def print_comparison(comparison: Comparison, notes: Sequence[str] = ()) -> None:
    """Prints the verdict with notes, the table, the recommendations by use and the deployment."""
    lines = comparison.verdict
    print_lines([lines[0], *notes, context(comparison), *lines[1:]])
    metric = METRICS[comparison.metric]
    own = "" if comparison.metric == "goodput" else metric.label
    has_probes = any(run["under_load"]["added_bps"] for run in comparison.summaries[BASELINE])
    columns = [
        one
        for one in METRICS.values()
        # With probes under load, the load's round trips are in the report.
        if one.column and (one.under_load or not has_probes) and one.name != comparison.metric
    ]
    head: tuple[str, ...] = (
        "remedy",
        "goodput",
        own,
        "difference, 95 %",
        "state",
        *(one.column for one in columns),
        "best in both",
        # To keep a row on one line: the report has these as well as the others.
        "retransmitted" if not has_probes else "",
        "timeouts" if not has_probes else "",
        "competing flow" if comparison.metric != "harm" else "",
    )
    places = front(comparison)
    names = (BASELINE, *comparison.shown)
    rows = [_row(comparison, remedy, metric, columns, places) for remedy in names]
    # No column without values, or for values shown already.
    kept = [
        column
        for column in range(len(head))
        if column < 1 or (head[column] and any(row[column] not in {"", "none"} for row in rows))
    ]
    head = tuple(head[column] for column in kept)
    rows = [tuple(row[column] for column in kept) for row in rows]
    seeds = len(comparison.seeds)
    print(f"\n{numbers(head, rows)}")
    note = f"Means per run over {seeds} {'seed' if seeds == 1 else 'seeds'}."
    if places:
        note += (
            f" Best in both: no other has more goodput and a lower {places.metric.label}; "
            '"no" names one that is shown to have both, "undecided" one that has both on average.'
        )
    print(f"\n{note}")
    if advice := recommendations(comparison):
        print()
        print_lines([one.sentence for one in advice])
    if lines := comparison.deployment:
        print()
        print_lines(lines)


def _mark(places: Front | None, remedy: str) -> str:
    """Whether the remedy is on the Pareto front of goodput and latency."""
    point = places.of(remedy) if places else None
    if point is None:
        return ""
    match point.mark:
        case Mark.FRONT:
            return "yes"
        case Mark.BEATEN:
            return f"no: {point.by}"
        case Mark.UNDECIDED:
            return f"undecided: {point.by}"


def _row(
    comparison: Comparison,
    remedy: str,
    metric: Metric,
    columns: Sequence[Metric],
    places: Front | None,
) -> tuple[str, ...]:
    def mean(name: str) -> str:
        known = [
            value
            for run in comparison.runs_for(name).get(remedy, [])
            if (value := METRICS[name].of(run)) is not None
        ]
        return METRICS[name].show(fmean(known)) if known else "none"

    name = remedy if remedy == BASELINE else comparison.row_name(remedy)
    if remedy != BASELINE and comparison.floods(remedy):
        name += " (floods)"
    timeouts = f"{mean('timeouts')} ({mean('spurious')} spurious)"
    return (
        name,
        mean("goodput"),
        mean(metric.name),
        _difference(comparison, remedy, metric),
        _state(comparison, remedy),
        *(mean(one.name) for one in columns),
        _mark(places, remedy),
        mean("retransmitted"),
        timeouts,
        _harm(comparison, remedy),
    )


def _state(comparison: Comparison, remedy: str) -> str:
    if remedy == BASELINE:
        return ""
    one = comparison.candidates[remedy]
    return state_words(one.state, one.seeds_to_decide)


def _harm(comparison: Comparison, remedy: str) -> str:
    """The paired change of an unchanged flow's goodput; empty if it was not measured."""
    if remedy in comparison.harm:
        harm = comparison.harm[remedy]
        return "identical" if harm.outcome is Outcome.IDENTICAL else amount(harm, sign=True)
    return "n/a" if remedy != BASELINE and comparison.competing else ""


def _difference(comparison: Comparison, remedy: str, metric: Metric) -> str:
    if remedy == BASELINE:
        return ""
    by = comparison.decisive[remedy]
    return "identical" if by.outcome is Outcome.IDENTICAL else amount(by, sign=True, metric=metric)
