"""Firmness of a verdict, and more seeds for one that is not firm.

A borderline verdict can change with other seeds. Its stability is estimated from the existing
seeds: they are resampled with replacement, keeping all measurements of a seed together, and the
claim is judged on each draw (the bootstrap, Efron, Ann. Stat. 7(1), 1979).
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from airtcp.papers.claims import Claim
from airtcp.papers.judge import JudgedClaim, judge_claim
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.paper import Paper
from airtcp.papers.rules import Verdict, is_firm, said_of_likely
from airtcp.papers.used import points_of_claims

DRAWS = 100
"""Bootstrap resamples."""
DOUBLINGS = 2
"""Maximum number of doublings of the seeds."""

More = Callable[[Claim, int], Outcomes]
"""Runs a claim's experiments with the n-th additional set, as large as the first."""


def likely_verdicts(paper: Paper, claim: Claim, outcomes: Outcomes) -> Counter[Verdict]:
    """Verdicts that as many other seeds would give, with their frequencies."""
    chance = np.random.default_rng(0)
    rests = _of_claim(paper, claim, outcomes)
    likely: Counter[Verdict] = Counter()
    for _ in range(DRAWS):
        drawn = {name: chance.integers(0, len(s), len(s)) for name, s in rests.seeds.items()}
        again = {
            point: [runs[index] for index in drawn[point[0]]]
            for point, runs in rests.measured.items()
        }
        judged = judge_claim(paper, claim, Outcomes(rests.seeds, again, rests.refused))
        likely[judged.verdict] += 1
    return likely


def settled(
    paper: Paper, judged: JudgedClaim, outcomes: Outcomes, more: More, events: float
) -> JudgedClaim:
    """A claim judged with twice and four times the seeds, until its verdict is firm.

    If it is not firm even then, it gets the common part of all likely verdicts. If its seeds cost
    more than the permitted number of events, its first verdict stays: weakening it would only move
    the threshold.
    """
    if events_of(paper, judged.claim, outcomes) > events:
        return judged
    rests = _of_claim(paper, judged.claim, outcomes)
    likely = likely_verdicts(paper, judged.claim, rests)
    sets = 1
    for _ in range(DOUBLINGS):
        if is_firm(judged.verdict, likely):
            break
        for number in range(sets, 2 * sets):
            rests = _together(rests, more(judged.claim, number))
        sets *= 2
        judged = judge_claim(paper, judged.claim, rests)
        likely = likely_verdicts(paper, judged.claim, rests)
    said = said_of_likely(judged.verdict, likely)
    return replace(judged, verdict=said, under_default=said, sets_of_seeds=sets)


def events_of(paper: Paper, claim: Claim, outcomes: Outcomes) -> float:
    """Cost of a claim's runs, in events of the simulation."""
    return sum(
        measures.get("events_processed", 0.0)
        for runs in _of_claim(paper, claim, outcomes).measured.values()
        for measures in runs
    )


def _of_claim(paper: Paper, claim: Claim, outcomes: Outcomes) -> Outcomes:
    """Measurements of the points that a claim depends on."""
    points = points_of_claims(paper, [claim])
    return Outcomes(
        {name: seeds for name, seeds in outcomes.seeds.items() if name in points},
        {key: runs for key, runs in outcomes.measured.items() if key[1] in points.get(key[0], ())},
        outcomes.refused,
    )


def _together(one: Outcomes, other: Outcomes) -> Outcomes:
    """The measurements of the same points with the seeds of both."""
    return Outcomes(
        {name: (*seeds, *other.seeds[name]) for name, seeds in one.seeds.items()},
        {point: [*runs, *other.measured[point]] for point, runs in one.measured.items()},
        one.refused,
    )
