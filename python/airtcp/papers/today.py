"""Every remedy with today's sender on a paper's links, in the order of `airtcp compare`."""

from collections.abc import Mapping
from dataclasses import dataclass

from airtcp.comparison.candidates import candidate
from airtcp.comparison.metrics import METRICS
from airtcp.comparison.ranking import (
    SMALLEST_PERCENT,
    Candidate,
    Direction,
    Ranking,
    State,
    rank,
    reach,
)
from airtcp.comparison.ranking.deployable import CONTROLS
from airtcp.comparison.simultaneous import simultaneous
from airtcp.comparison.statistics import PairedDifference
from airtcp.comparison.words import amount
from airtcp.core.catalogue import BASELINE
from airtcp.papers.cross import MEASURE, Cross
from airtcp.papers.experiment import Experiment
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.paper import Paper


@dataclass(frozen=True)
class Ranked:
    """The remedies on one link with one sender."""

    link: str
    stack: str
    ranking: Ranking
    differences: Mapping[str, PairedDifference]
    """By remedy; their intervals hold jointly."""


def ranked_today(
    cross: Cross, experiment: Experiment, outcomes: Outcomes, paper: Paper
) -> list[Ranked]:
    """The rankings on the links of a paper, with each sender in common use."""
    return [
        _ranked(experiment, outcomes, cross.remedies, link.name, stack.name)
        for link in cross.links
        if link.scenario.partition("/")[0] == paper.folder.name
        for stack in cross.stacks
        if stack.is_today
    ]


def _ranked(
    experiment: Experiment, outcomes: Outcomes, remedies: list[str], link: str, stack: str
) -> Ranked:
    at = {"link": link, "stack": stack}
    before = outcomes.values(experiment, MEASURE, at, {"remedy": BASELINE})
    pairs = {}
    for remedy in remedies:
        after = outcomes.values(experiment, MEASURE, at, {"remedy": remedy})
        if before and after and remedy.partition(":")[0] not in CONTROLS:
            pairs[remedy] = (before, after)
    differences = simultaneous(pairs)
    candidates = [
        candidate(name, METRICS["goodput"], by, by, None, SMALLEST_PERCENT, floods=False)
        for name, by in differences.items()
    ]
    ranking = rank(candidates, reach("all", Direction.UNKNOWN))
    return Ranked(link, stack, ranking, differences)


def today_sentences(ranked: Ranked, own: list[str]) -> list[str]:
    """The top remedies on a link, and the ranks of a paper's `own` remedies."""
    ranking, differences = ranked.ranking, ranked.differences
    where = f"{ranked.link.partition(' ')[2]}, with the {ranked.stack} sender"

    def named(one: Candidate) -> str:
        return f"{one.remedy} ({amount(differences[one.remedy], sign=True)})"

    if ranking.best is not None:
        first = f"On {where}, {named(ranking.best)} comes first of what a system can have"
    elif ranking.nothing_helps:
        first = f"On {where}, nothing that a system can have helps"
    else:
        first = f"On {where}, these runs show nothing to help, and leave some undecided"
    elsewhere = [f"{other.place.lower()}: {named(other.best)}" for other in ranking.elsewhere]
    lines = ["; ".join([first, *elsewhere]).replace("no linux", "no Linux") + "."]
    ours = [one for one in ranking.candidates if _is_of(one.remedy, own)]
    if ours:
        told = "; ".join(f"{named(one)} {_effect(one)}" for one in ours)
        lines.append(f"The paper's own there: {told}.")
    return lines


def _is_of(remedy: str, own: list[str]) -> bool:
    return remedy.split("+")[-1].partition(":")[0] in own


def _effect(one: Candidate) -> str:
    if one.state is State.SHOWN:
        return "helps" if one.gain > 0 else "does harm"
    return "changes nothing worth having" if one.state is State.EXCLUDED else "is undecided"
