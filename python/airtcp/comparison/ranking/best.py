"""The remedy to name first among several."""

from collections.abc import Sequence

from airtcp.comparison.ranking.candidate import Candidate
from airtcp.comparison.ranking.state import State

NEARLY_AS_GOOD = 0.9
"""Minimum share of the larger goodput for a remedy known not to harm others much to be
preferred.
"""


def best_of(candidates: Sequence[Candidate]) -> Candidate | None:
    """The remedy to name first among those shown to help; None without one.

    A remedy that fills the link with needless packets comes after the ones that do not; one that
    harms others much, or may, comes after one that is nearly as good and does not.
    """
    helping = sorted((one for one in candidates if one.helps), key=place_of)
    if not helping:
        return None
    first = helping[0]
    if is_gentle(first):
        return first
    return next((one for one in rivals_of(first, helping) if is_gentle(one)), first)


def is_gentle(one: Candidate) -> bool:
    """Whether a large harm to others is neither shown nor open."""
    return not one.harms_others_much and not one.is_harm_open


def rivals_of(first: Candidate, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The remedies preferred to `first` if it harms others and they do not, best first."""
    enough = NEARLY_AS_GOOD * (100.0 + first.gain) - 100.0
    helping = sorted((one for one in candidates if one.helps), key=place_of)
    return [
        one
        for one in helping
        if one is not first and not one.floods and one.gain >= max(enough, 0.0)
    ]


def place_of(one: Candidate) -> tuple[int, bool, float]:
    """Sort key of remedies, the best first, regardless of harm to others."""
    if one.helps:
        return 0, one.floods, -one.gain
    if one.is_open:
        return 1, False, -one.gain
    return (2 if one.state is State.EXCLUDED else 3), False, -one.gain
