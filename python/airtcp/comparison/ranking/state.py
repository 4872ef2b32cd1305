"""The three states of a comparison: shown, excluded, undecided.

An effect is *shown* if its interval excludes zero, and *excluded* if it lies within the smallest
effect worth having (the equivalence test by intervals of Schuirmann, J. Pharmacokinetics and
Biopharmaceutics 15, 1987). Otherwise it is *undecided*: more seeds would decide. "Not shown" is not
a finding.
"""

from enum import StrEnum

SMALLEST_PERCENT = 1.0
"""Default of the smallest effect worth having, in per cent."""


class State(StrEnum):
    """State of knowledge of an effect."""

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
        percent: the effect; None if the baseline is 0 and per cent are undefined.
        interval: its interval, if it has one.
        smallest: the smallest effect worth having.
        is_exact: whether there is no randomness, so that the effect needs no interval.
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
