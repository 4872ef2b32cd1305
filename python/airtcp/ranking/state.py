"""The three states of a comparison: shown, excluded, undecided.

An effect is *shown* where its interval leaves out zero, and *excluded* where it lies within the
smallest effect worth having (the equivalence test by intervals of Schuirmann, J. Pharmacokinetics
and Biopharmaceutics 15, 1987). What is neither is *undecided*: more seeds would tell. "Not shown"
is no finding.
"""

from enum import StrEnum

SMALLEST_PERCENT = 1.0
"""The smallest effect worth having, in per cent, unless the asker says another."""


class State(StrEnum):
    """What is known of an effect."""

    SHOWN = "shown"
    EXCLUDED = "excluded"
    UNDECIDED = "undecided"


def state(
    percent: float | None,
    interval: tuple[float, float] | None,
    smallest: float = SMALLEST_PERCENT,
    *,
    is_exact: bool = False,
) -> State:
    """The state of an effect.

    Args:
        percent: the effect; None where the baseline is 0 and per cent have no meaning.
        interval: its interval, if it has one.
        smallest: the smallest effect worth having.
        is_exact: whether nothing is drawn at random, so that the effect needs no interval.
    """
    if percent is None:
        if interval is None:
            return State.UNDECIDED
        return State.SHOWN if interval[0] > 0 or interval[1] < 0 else State.UNDECIDED
    if interval is None:
        if not is_exact:
            return State.UNDECIDED
        interval = (percent, percent)
    low, high = interval
    if -smallest < low and high < smallest:
        return State.EXCLUDED
    return State.SHOWN if low > 0 or high < 0 else State.UNDECIDED
