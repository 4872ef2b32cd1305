"""Estimates the number of seeds that would decide an undecided difference."""

from airtcp.comparison.statistics import ENOUGH_IDENTICAL, ERROR, Outcome, PairedDifference, Spread

_MAX = 10_000
"""Larger numbers of seeds are not a practical answer."""


def seeds_needed(difference: PairedDifference, smallest: float) -> int | None:
    """Seeds with which an effect of this size and spread would be shown or excluded.

    None if the pairs give no spread, or if more than 10 000 are needed. It is an estimate, as often
    too small as too large: further runs may differ.

    Args:
        difference: the undecided difference.
        smallest: the smallest effect worth having, in per cent.
    """
    if difference.outcome is Outcome.IDENTICAL:
        return ENOUGH_IDENTICAL if difference.n < ENOUGH_IDENTICAL else None
    spread, percent = difference.of_ratio or difference.estimated, difference.mean_percent
    if spread is None:
        return None
    size = abs(difference.mean)
    if percent is None:
        target = size
    else:
        # Shown by excluding zero, or excluded by staying below the smallest worthwhile effect.
        worth = smallest / 100.0 * abs(difference.baseline_mean)
        target = max(size, worth - size)
    whole = Spread(spread.variance, spread.degrees, spread.among, ERROR)

    def is_enough(n: int) -> bool:
        return whole.half_width(n, spread.degrees + n - difference.n) < target

    if not is_enough(_MAX):
        return None
    low, high = difference.n, _MAX
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
