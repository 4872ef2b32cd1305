"""Evidence for a claim: the counts of its runs that explain why it holds or fails."""

from collections.abc import Mapping

from airtcp.core.quantities import format_count
from airtcp.pages.tables import Table
from airtcp.papers.claims import Claim, Part
from airtcp.papers.experiment import Experiment, Value
from airtcp.papers.measures import label_of
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.paper import Paper

MEASURES = (
    "timeouts",
    "timeouts_spurious",
    "fast_retransmits",
    "segments_lost_link",
    "segments_dropped_queue",
)
"""Counts on both sides of a comparison, as means per run."""

_MAX_ROWS = 8


def evidence_table(paper: Paper, claim: Claim, outcomes: Outcomes) -> Table | None:
    """For the claim's comparisons, each count without and with; None without a comparison."""
    rows: list[tuple[str, ...]] = []
    for part in claim.parts:
        if part.kind not in {"gain", "larger-gain"}:
            continue
        experiment = paper.experiment(part.experiment)
        for at, _ in part.comparisons():
            row = _row(experiment, part, at, outcomes)
            if row and not any(row == other[1:] for other in rows):
                rows.append((part.label_at(at) or "all", *row))
    if not rows:
        return None
    columns = ("where", *(label_of(measure) for measure in MEASURES))
    return Table(columns, rows[:_MAX_ROWS])


def _row(
    experiment: Experiment, part: Part, at: Mapping[str, Value], outcomes: Outcomes
) -> tuple[str, ...] | None:
    cells = []
    for measure in MEASURES:
        before = outcomes.values(experiment, measure, at, part.baseline)
        after = outcomes.values(experiment, measure, at, part.treated)
        if before is None or after is None:
            return None
        cells.append(
            f"{format_count(sum(before) / len(before))} → {format_count(sum(after) / len(after))}"
        )
    return tuple(cells)
