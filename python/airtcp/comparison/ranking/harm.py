"""The cost of a remedy to an unchanged flow on the same link: shown, excluded or undecided."""

from airtcp.comparison.ranking.state import State

LARGE_HARM_PERCENT = 10.0
"""The smallest harm worth caring about: this share of the unchanged flow's goodput."""


def harm_state(
    percent: float | None, interval: tuple[float, float] | None, *, is_exact: bool = False
) -> State:
    """The state of a harm.

    Args:
        percent: the change of the unchanged flow's goodput; None if it was zero.
        interval: its interval, if it has one.
        is_exact: whether the change needs no interval.

    Returns:
        Shown if the flow is shown to lose or to gain; excluded if it is shown to lose at most
        `LARGE_HARM_PERCENT`; otherwise undecided.
    """
    if percent is None:
        return State.EXCLUDED
    if interval is None:
        if not is_exact:
            return State.UNDECIDED
        interval = (percent, percent)
    low, high = interval
    if high < 0 or low > 0:
        return State.SHOWN
    return State.EXCLUDED if low > -LARGE_HARM_PERCENT else State.UNDECIDED
