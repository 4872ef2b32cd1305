"""The remedy to name first among several."""

from collections.abc import Sequence

from airtcp.ranking.candidate import Candidate
from airtcp.ranking.state import State

NEARLY_AS_GOOD = 0.9
"""Of two remedies the one that harms others less comes first if it brings this share of what the
other does."""


def best_of(candidates: Sequence[Candidate]) -> Candidate | None:
    """The remedy to name first among these, of those shown to help; None where none is.

    One that fills the link with needless packets comes after those that do not; one that harms
    others much comes after one that is nearly as good and does not.
    """
    helping = sorted((one for one in candidates if one.helps), key=place_of)
    if not helping:
        return None
    first = helping[0]
    if not first.harms_others_much:
        return first
    enough = NEARLY_AS_GOOD * (100.0 + first.gain) - 100.0
    gentle = (
        one
        for one in helping
        if not one.harms_others_much and not one.floods and one.gain >= max(enough, 0.0)
    )
    return next(gentle, first)


def place_of(one: Candidate) -> tuple[int, bool, float]:
    """The key that sorts remedies, the best first, regardless of harm to others."""
    if one.helps:
        return 0, one.floods, -one.gain
    if one.state is State.UNDECIDED:
        return 1, False, -one.gain
    return (2 if one.state is State.EXCLUDED else 3), False, -one.gain
