"""The truth of a first sentence, on seeds that no answer has seen, until it is decided.

Only the claims of the answer's sentence are judged: the named remedy with its gain, its harm to
others and its latency, and the rivals that could be better by the answer's intervals. Seeds are
added look by look, with the error spent over the looks, until the sentence is surely right or
surely wrong, or `MAX_SEEDS` are run.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from airtcp.comparison.calmest import LATENCY
from airtcp.comparison.compared import Comparison
from airtcp.comparison.competing import is_at_an_end
from airtcp.comparison.ranking import Candidate
from airtcp.comparison.ranking.best import NEARLY_AS_GOOD
from airtcp.comparison.ranking.harm import LARGE_HARM_PERCENT
from airtcp.comparison.sequential import Rounds
from airtcp.comparison.statistics import PairedDifference, paired_difference

FIRST_SEED = 1001
"""Seeds that no answer has seen."""
MAX_SEEDS = 100
_ROUNDS = Rounds(MAX_SEEDS, first=10)
_MAX_OF_NOTHING = 3
"""Of "nothing helps" the remedies with the largest gains that its runs allow are judged."""

Measure = Callable[[Sequence[str], int, bool], Comparison]
"""Runs remedies on this number of fresh seeds; with True also against an unchanged flow."""


@dataclass(frozen=True)
class Found:
    """Verdict of the fresh seeds on a sentence."""

    judged: str
    """right, wrong, unsure or undecided: unsure if the maximum number of seeds cannot decide."""
    why: str
    seeds: int = 0
    gain: float | None = None
    """Gain of the remedy that is named, in per cent."""
    half: float | None = None
    """Half its interval."""


@dataclass(frozen=True)
class Claim:
    """A claim of a sentence, and how it is judged from fresh runs."""

    names: tuple[str, ...]
    """The remedies that it needs."""
    judge: Callable[[Comparison, float], tuple[bool | None, str]]
    """Whether it holds, and the reason, from runs and the error to spend; None: not decided."""
    is_of_others: bool = False


def judged(said: Comparison, measure: Measure) -> Found:
    """An answer's first sentence against fresh seeds."""
    ranking = said.ranking
    if ranking.best is not None:
        claims = [*_of_named(said, ranking.best), *_of_harm(said, ranking.best)]
        claims += [_no_better(said, ranking.best, one) for one in _rivals(said, ranking.best)]
        return _decided(claims, measure, ranking.best.remedy)
    if not ranking.nothing_helps:
        return Found("undecided", "more seeds would tell")
    claims = [_no_gain(one, said.smallest) for one in _largest(said)]
    if said.calmest is not None:
        claims.append(_calms(said.calmest))
    if not ranking.reach.is_all and ranking.elsewhere:
        first = max((other.best for other in ranking.elsewhere), key=lambda one: one.gain)
        claims += _of_named(said, first)
    return _decided(claims, measure, None)


def _decided(claims: Sequence[Claim], measure: Measure, named: str | None) -> Found:
    """Looks until each claim is decided, or the seeds end."""
    open_ones = list(claims)
    seeds, gain, half = 0, None, None
    for look, seeds in enumerate(_ROUNDS.looks):
        error = _ROUNDS.error(look)
        kept = []
        for is_of_others in (False, True):
            asked = [one for one in open_ones if one.is_of_others is is_of_others]
            names = list(dict.fromkeys(name for one in asked for name in one.names))
            if not names:
                continue
            truth = measure(names, seeds, is_of_others)
            if not is_of_others and named in names:
                by = of_metric(truth, named, "goodput", error)
                gain, half = by.mean_percent, by.half_width_percent
            for one in asked:
                holds, why = one.judge(truth, error)
                if holds is False:
                    return Found("wrong", why, seeds, gain, half)
                if holds is None:
                    kept.append(one)
        open_ones = kept
        if not open_ones:
            return Found("right", "", seeds, gain, half)
    return Found("unsure", f"{len(open_ones)} of {len(claims)} claims", seeds, gain, half)


def of_metric(truth: Comparison, name: str, metric: str, error: float) -> PairedDifference:
    """A remedy's difference from the baseline over fresh seeds."""
    before, after = truth.pairs(metric)[name]
    return paired_difference(before, after, error=error, is_ratio=True)


def _bounds(by: PairedDifference) -> tuple[float, float]:
    """The interval in per cent; a difference without one is exact."""
    mean = by.mean_percent or 0.0
    return by.interval_percent or (mean, mean)


def _of_named(said: Comparison, named: Candidate) -> list[Claim]:
    """The gain lies in the interval that is stated."""
    low, high = named.interval or (named.gain, named.gain)
    slack = 1e-6 + 0.05 * (high - low)

    def judge(truth: Comparison, error: float) -> tuple[bool | None, str]:
        by = of_metric(truth, named.remedy, said.metric, error)
        least, most = _bounds(by)
        why = f"its gain is {by.mean_percent or 0.0:+.1f} %, not {low:.1f} to {high:.1f} %"
        if most < low - slack or least > high + slack:
            return False, why
        return (True if low - slack <= least and most <= high + slack else None), why

    return [Claim((named.remedy,), judge)]


def _of_harm(said: Comparison, named: Candidate) -> list[Claim]:
    """It takes much of a competing flow's goodput if and only if the sentence mentions it."""
    if named.harm is None or named.is_harm_open or not is_at_an_end(named.remedy):
        return []

    def judge(truth: Comparison, error: float) -> tuple[bool | None, str]:
        by = of_metric(truth, named.remedy, "harm", error)
        least, most = _bounds(by)
        why = f"a competing flow loses {-(by.mean_percent or 0.0):.1f} %"
        # Around the bound itself, either is right to a few per cent.
        if named.harms_others_much:
            return (False if least > -LARGE_HARM_PERCENT / 2 else _true(most < 0)), why
        return (
            False if most < -1.5 * LARGE_HARM_PERCENT else _true(least > -1.5 * LARGE_HARM_PERCENT)
        ), why

    return [Claim((named.remedy,), judge, is_of_others=True)]


def _true(holds: bool) -> bool | None:
    return True if holds else None


def _rivals(said: Comparison, named: Candidate) -> list[Candidate]:
    """The remedies within reach that may be better by the answer's intervals.

    This includes a remedy that may gain more according to the sentence.
    """
    may = {one.remedy for one in said.ranking.undecided if one.gain > named.gain}
    low = named.interval[0] if named.interval else named.gain
    same = set(said.alike[named.remedy])
    return [
        one
        for one in said.one_a_row(said.ranking.deployable)
        if one.remedy not in may | same and one.most > low + said.smallest
    ]


def _no_better(said: Comparison, named: Candidate, rival: Candidate) -> Claim:
    """A rival does not bring more by over 1 %, or by over half the interval that is stated.

    Where the named one was chosen for its lesser harm, a tenth is allowed.
    """
    low, high = named.interval or (named.gain, named.gain)
    allowed = max(said.smallest, (high - low) / 2)
    if said.ranking.larger_with_harm is not None:
        allowed = max(allowed, (1 - NEARLY_AS_GOOD) * (100 + rival.gain))

    def judge(truth: Comparison, error: float) -> tuple[bool | None, str]:
        goodput = truth.pairs("goodput")
        before, after = goodput[named.remedy][1], goodput[rival.remedy][1]
        by = paired_difference(before, after, error=error)
        per_cent = 100.0 / fmean(goodput[named.remedy][0])
        half = (by.half_width or 0.0) * per_cent
        gap = by.mean * per_cent
        why = f"{rival.remedy} brings {gap:.1f} % of the baseline more"
        return (False if gap - half > allowed else _true(gap + half < allowed)), why

    return Claim((named.remedy, rival.remedy), judge)


def _largest(said: Comparison) -> list[Candidate]:
    rows = said.one_a_row(said.ranking.deployable)
    return sorted(rows, key=lambda one: -one.most)[:_MAX_OF_NOTHING]


def _no_gain(one: Candidate, smallest: float) -> Claim:
    """A remedy does not bring a worthwhile gain."""

    def judge(truth: Comparison, error: float) -> tuple[bool | None, str]:
        by = of_metric(truth, one.remedy, "goodput", error)
        least, most = _bounds(by)
        why = f"{one.remedy} brings {by.mean_percent or 0.0:+.1f} %"
        return (False if least > smallest else _true(most < smallest)), why

    return Claim((one.remedy,), judge)


def _calms(one: Candidate) -> Claim:
    """A remedy shortens latency, and keeps nine tenths of the goodput."""

    def judge(truth: Comparison, error: float) -> tuple[bool | None, str]:
        latency = _bounds(of_metric(truth, one.remedy, LATENCY, error))
        goodput = _bounds(of_metric(truth, one.remedy, "goodput", error))
        why = f"latency {latency[0]:+.0f} to {latency[1]:+.0f} %, goodput {goodput[0]:+.0f} %"
        if latency[0] > 0 or goodput[1] < -LARGE_HARM_PERCENT:
            return False, why
        return _true(latency[1] < 0 and goodput[0] > -LARGE_HARM_PERCENT), why

    return Claim((one.remedy,), judge)


def best_in_truth(said: Comparison, found: Found) -> str:
    """The named remedy with its true gain, for the page."""
    best = said.ranking.best
    if best is None or found.gain is None:
        return found.why
    half = "" if found.half is None else f" ± {found.half:.1f}"
    gain = f"{best.remedy} {found.gain:+.1f}{half} %"
    return f"{gain}; {found.why}" if found.why else gain


def fresh(seeds: int) -> range:
    """The fresh seeds."""
    return range(FIRST_SEED, FIRST_SEED + seeds)
