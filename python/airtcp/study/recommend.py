"""What a comparison recommends for each aim, where its runs have what the aim is judged by."""

from dataclasses import dataclass, replace

from airtcp.ranking import Aim, Ranking
from airtcp.study.compare import ComparedRuns
from airtcp.study.difference_words import amount
from airtcp.study.metrics import METRICS


@dataclass(frozen=True)
class Recommendation:
    """What is recommended for an aim."""

    aim: Aim
    ranking: Ranking
    """The remedies by what decides for it. The intervals hold jointly for all remedies of a search
    within one aim."""
    sentence: str


def recommendations(comparison: ComparedRuns) -> list[Recommendation]:
    """One for each aim that the runs can judge; none where nothing ran beside the load."""
    if not any(run.get("beside", {}).get("exchanges") for run in comparison.summaries["baseline"]):
        return []
    found = []
    for aim in Aim:
        judged = replace(comparison, metric=aim.metric)
        if judged.decisive:
            found.append(Recommendation(aim, judged.ranking, _sentence(aim, judged)))
    return found


def _sentence(aim: Aim, judged: ComparedRuns) -> str:
    metric = METRICS[aim.metric]
    name = judged.winner
    if name is None:
        undecided = judged.ranking.undecided
        if not undecided:
            return f"{aim.words}: nothing tried improves the {metric.label}."
        named = ", ".join(one.remedy for one in undecided[:3])
        more = f" and {len(undecided) - 3} more" if len(undecided) > 3 else ""
        return f"{aim.words}: undecided; not ruled out: {named}{more}."
    size = amount(judged.decisive[name], sign=True, metric=metric)
    return f"{aim.words}: {name} ({metric.label} {size})."
