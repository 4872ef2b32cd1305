"""Recommendations of a comparison for each aim that its runs can judge."""

from dataclasses import dataclass

from airtcp.comparison.compared import MAX_NAMED, Comparison
from airtcp.comparison.metrics import METRICS
from airtcp.comparison.ranking import Aim, Ranking
from airtcp.comparison.trade import goodput_clause
from airtcp.comparison.words import amount


@dataclass(frozen=True)
class Recommendation:
    """The recommendation for an aim."""

    aim: Aim
    ranking: Ranking
    """The ranking by the aim's deciding metric. In a search, the intervals hold jointly for all
    remedies within one aim.
    """
    sentence: str


def recommendations(comparison: Comparison) -> list[Recommendation]:
    """One for each aim that the runs can judge; empty if no probes ran under load."""
    return [
        Recommendation(aim, judged.ranking, _sentence(aim, judged))
        for aim, judged in comparison.by_aim.items()
    ]


def _sentence(aim: Aim, judged: Comparison) -> str:
    metric = METRICS[aim.metric]
    name = judged.winner
    if name is None:
        undecided = judged.one_a_row(judged.ranking.undecided)
        if not undecided:
            return f"{aim.words}: nothing tried improves {metric.phrase}."
        named = ", ".join(one.remedy for one in undecided[:MAX_NAMED])
        others = len(undecided) - MAX_NAMED
        more = f" and {others} more" if others > 0 else ""
        return f"{aim.words}: undecided; not ruled out: {named}{more}."
    size = amount(judged.decisive[name], sign=True, metric=metric)
    goodput = goodput_clause(judged, name)
    return f"{aim.words}: {name} ({metric.label} {size}{f', {goodput}' if goodput else ''})."
