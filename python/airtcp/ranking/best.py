"""The remedy to name first among several."""

from collections.abc import Sequence

from airtcp.ranking.candidate import Candidate
from airtcp.ranking.state import State

NEARLY_AS_GOOD = 0.9
"""Of two remedies the one that is known not to harm others much comes first if it brings this share
of the other's goodput."""


def best_of(candidates: Sequence[Candidate]) -> Candidate | None:
    """The remedy to name first among these, of those shown to help; None where none is.

    One that fills the link with needless packets comes after those that do not; one that harms
    others much, or may, comes after one that is nearly as good and does not.
    """
    helping = sorted((one for one in candidates if one.helps), key=place_of)
    if not helping:
        return None
    first = helping[0]
    if is_gentle(first):
        return first
    return next((one for one in rivals_of(first, helping) if is_gentle(one)), first)


def is_gentle(one: Candidate) -> bool:
    """Whether nothing is known, and nothing is open, of much harm to others."""
    return not one.harms_others_much and not one.is_harm_open


def rivals_of(first: Candidate, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The remedies that come before `first` if it harms others and they do not, best first."""
    enough = NEARLY_AS_GOOD * (100.0 + first.gain) - 100.0
    helping = sorted((one for one in candidates if one.helps), key=place_of)
    return [
        one
        for one in helping
        if one is not first and not one.floods and one.gain >= max(enough, 0.0)
    ]


def place_of(one: Candidate) -> tuple[int, bool, float]:
    """The key that sorts remedies, the best first, regardless of harm to others."""
    if one.helps:
        return 0, one.floods, -one.gain
    if one.is_open:
        return 1, False, -one.gain
    return (2 if one.state is State.EXCLUDED else 3), False, -one.gain
