"""The report of a comparison: one self-contained HTML page, and the same as data."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from airtcp.comparison.compared import Comparison
from airtcp.comparison.context import context
from airtcp.comparison.deployment import deployment
from airtcp.comparison.recommend import recommendations
from airtcp.comparison.statistics import Outcome
from airtcp.comparison.stored import NAME, result_text
from airtcp.comparison.verdict import verdict
from airtcp.comparison.words import amount, outcome_words, state_words
from airtcp.core.catalogue import BASELINE
from airtcp.core.runs import run
from airtcp.pages.columns import numbers
from airtcp.pages.figures import PlannedFigure, drawn
from airtcp.pages.front import front_figure
from airtcp.pages.latency import latency_figures
from airtcp.pages.notebook import as_fragment
from airtcp.pages.plot import TIMELINE_PROBES
from airtcp.pages.plot.comparison import DifferenceRow, DifferenceRows
from airtcp.pages.plot.style import remedy_colours
from airtcp.pages.plot.timeline import Timelines, timeline
from airtcp.pages.rendering import whole, write_page, write_text
from airtcp.pages.tables import (
    cost_table,
    goodput_table,
    latency_table,
    seeds_table,
    timeline_rows,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MAX_TIMELINES = 8
"""Maximum number of remedies with a timeline, in addition to the best one."""


@whole
def write_report(
    comparison: Comparison,
    directory: Path,
    command: str | None = None,
    *,
    png: bool = False,
    width: float | None = None,
) -> Path:
    """Writes index.html, comparison.csv, result.json and each figure as SVG; returns index.html's.

    Runs the first seed a second time, with probes, for the baseline and each remedy shown.

    Raises:
        OSError: the directory cannot be written.
    """
    write_text(directory / "comparison.csv", comparison.rows.csv())
    write_text(directory / NAME, result_text(comparison))
    of_latency = (*front_figure(comparison), *latency_figures(comparison))
    planned = [
        PlannedFigure(
            "comparison",
            "Goodput against the baseline",
            "Each dot is one seed: the remedy's goodput minus the baseline's over the same channel."
            " The diamond is their mean, the bar its 95 % confidence interval."
            " A bar that crosses the line at zero is undecided, unless it stays within the smallest"
            " effect worth having. Blue gains, red loses, grey is not told from zero.",
            difference_rows(comparison),
            seeds_table(comparison),
        ),
        *of_latency,
        *_timelines(comparison),
    ]
    first, *others = drawn(directory, planned, png=png, width=width)
    cells = comparison.cell_rows.records()
    return write_page(
        directory,
        "report.html.j2",
        command,
        headline=verdict(comparison)[0],
        sentences=[
            *_beyond_the_table(comparison),
            *(one.sentence for one in recommendations(comparison)),
        ],
        context=context(comparison),
        comparison=comparison,
        deployment=deployment(comparison),
        goodput=goodput_table(comparison),
        cost=cost_table(comparison),
        latency=latency_table(comparison),
        figures=[first, *others[len(of_latency) :]],
        latency_figures=others[: len(of_latency)],
        png=png,
        digests=[(one["remedy"], one["seed"], one["digest"]) for one in cells],
        scenario=cells[0]["scenario"],
        scenario_hash=cells[0]["scenario_hash"],
    )


def _beyond_the_table(comparison: Comparison) -> list[str]:
    """The sentences after the first, except those on a single remedy, which its row already has."""
    names = tuple(f"{remedy} " for remedy in comparison.remedies[1:])
    return [line for line in verdict(comparison)[1:] if not line.startswith(names)]


def fragment(comparison: Comparison) -> str:
    """The verdict, the table and the figure of a comparison, as HTML for notebooks."""
    return as_fragment(
        verdict(comparison),
        goodput_table(comparison),
        difference_rows(comparison),
        "goodput of each remedy minus the baseline's",
    )


def text(comparison: Comparison) -> str:
    """The first sentence, and the table of goodputs."""
    shown = goodput_table(comparison)
    return f"{verdict(comparison)[0]}\n\n{numbers(shown.columns, shown.rows, shown.names)}"


def difference_figure(comparison: Comparison) -> "Figure":
    """Each remedy's goodput as paired difference to the baseline, with intervals."""
    return difference_rows(comparison).figure()


def difference_rows(comparison: Comparison) -> DifferenceRows:
    """The numbers and words of the comparison's figure."""
    baseline = comparison.values(BASELINE, "goodput_bps")
    rows = []
    for remedy in comparison.shown:
        values = comparison.values(remedy, "goodput_bps")
        goodput = comparison.differences[remedy]["goodput_bps"]
        rows.append(
            DifferenceRow(
                comparison.row_name(remedy),
                tuple(after - before for before, after in zip(baseline, values, strict=True)),
                goodput.mean,
                goodput.half_width,
                f"{amount(goodput, sign=True)}\n{_state(comparison, remedy)}",
            )
        )
    return DifferenceRows(sum(baseline) / len(baseline), tuple(rows))


def _state(comparison: Comparison, remedy: str) -> str:
    """The second line of a bar's label."""
    goodput = comparison.differences[remedy]["goodput_bps"]
    if comparison.metric != "goodput" or goodput.outcome is Outcome.NO_INTERVAL:
        return outcome_words(goodput)
    one = comparison.candidates[remedy]
    return state_words(one.state, one.seeds_to_decide)


def _timelines(comparison: Comparison) -> Iterator[PlannedFigure]:
    """The baseline and the best remedy, then the baseline and each of the others."""
    # A search shows its best remedy in action; the user did not name the others.
    most = 1 if comparison.is_search else 1 + _MAX_TIMELINES
    ranked = dict.fromkeys((comparison.best, *comparison.ranked))
    shown = tuple(ranked)[:most]
    seed = comparison.seeds[0]
    # A remedy has the same colour here as in the comparison figure, which need not have the best
    # one: a search without a gain lists the harmful ones.
    colours = remedy_colours(list(dict.fromkeys([BASELINE, *comparison.shown, *shown])))
    columns = {
        remedy: timeline(
            remedy,
            run(
                comparison.scenario,
                seed,
                remedies=[] if remedy == BASELINE else [remedy],
                probes=TIMELINE_PROBES,
            ),
            colour=colours[remedy],
        )
        for remedy in (BASELINE, *shown)
    }
    for index, remedy in enumerate(shown):
        pair = (columns[BASELINE], columns[remedy])
        yield PlannedFigure(
            "timeline" if index == 0 else f"timeline-{index + 1}",
            f"{remedy} against the baseline, seed {seed}",
            "One flow of one run each. Above, ticks where the sender's timer expired, where "
            "it did so although an acknowledgment of the segment was to come (spurious), "
            "and where duplicate acknowledgments brought a fast retransmit; then the "
            "congestion window, the smoothed round-trip time with the retransmission "
            "timeout, and the goodput.",
            Timelines(pair),
            timeline_rows(pair),
        )
