"""Certainty that a reading disagrees with the default about a claim.

A comparison indistinguishable from the default's is given the default's verdict: only a significant
difference makes a reading disagree.
"""

from airtcp.papers import estimates
from airtcp.papers.judge import Judged, JudgedClaim, verdict_of
from airtcp.papers.rules import Verdict

AGREES = 1.0
"""The p-value of a reading that does not disagree."""


def disagreement(default: JudgedClaim, alike: JudgedClaim, read: JudgedClaim) -> float:
    """The lowest significance level at which a reading disagrees; `AGREES` if it never does.

    Args:
        default: the claim under the default reading, with all its seeds: the reference verdict.
        alike: also under the default, with the seeds and the length of `read`'s runs.
        read: under the reading.
    """
    apart = [_p_apart(one, other) for one, other in zip(alike.parts, read.parts, strict=True)]
    for level in sorted({p for p in apart if p < AGREES}):
        told = [
            ours if p <= level else known
            for known, ours, p in zip(default.parts, read.parts, apart, strict=True)
        ]
        other = verdict_of(told)
        # The default's overall verdict may be weaker than its parts, if more seeds left it open.
        if differs(default.under_default, other) and differs(verdict_of(default.parts), other):
            return level
    return AGREES


def differs(default: Verdict, other: Verdict) -> bool:
    """Whether exactly one of the two goes the paper's way."""
    return default.goes_the_papers_way is not other.goes_the_papers_way


def _p_apart(one: Judged, other: Judged) -> float:
    """The p-value of two comparisons being alike, in each series that determines them."""
    if not one.seen or len(one.seen) != len(other.seen):
        return AGREES
    series = zip(one.seen, other.seen, strict=True)
    return min(AGREES, len(one.seen) * min(estimates.p_apart(a, b) for a, b in series))
