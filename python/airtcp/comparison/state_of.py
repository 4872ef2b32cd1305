"""The state of a paired difference: shown, excluded or undecided."""

from airtcp.comparison.ranking.state import SMALLEST_PERCENT, State, state
from airtcp.comparison.statistics import Outcome, PairedDifference


def state_of(by: PairedDifference, smallest: float = SMALLEST_PERCENT) -> State:
    """The state of a difference, with `smallest` per cent as the smallest effect worth having."""
    if by.mean_percent is None:
        # Per cent of zero: only the sign can be judged.
        if by.is_exact:
            return State.EXCLUDED if by.mean == 0 else State.SHOWN
        is_shown = by.outcome in {Outcome.HIGHER, Outcome.LOWER}
        return State.SHOWN if is_shown else State.UNDECIDED
    return state(by.mean_percent, by.interval_percent, smallest, is_exact=by.is_exact)
