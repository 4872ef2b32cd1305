"""The paired difference on common random numbers, and how sure it is.

For one seed every remedy meets the same channel, so what is compared is the difference seed by
seed: the channel's own luck cancels (Law, Simulation Modeling and Analysis, 5th ed., §11.2).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

CONFIDENCE = 0.95


class Outcome(StrEnum):
    """Outcome of a paired comparison."""

    HIGHER = "higher"
    LOWER = "lower"
    NO_DIFFERENCE_SHOWN = "no difference shown"
    IDENTICAL = "identical"
    """Every pair is equal: the remedy changed nothing here."""
    NO_INTERVAL = "no interval"
    """One pair, or pairs that are all the same: how sure the difference is cannot be said."""


@dataclass(frozen=True)
class PairedDifference:
    """The mean of treated minus baseline over n pairs, in the unit of the measurements.

    `half_width` is half the 95 % confidence interval of the mean difference, Student's t with
    n - 1 degrees of freedom; None when the pairs cannot tell one.
    """

    n: int
    baseline_mean: float
    treated_mean: float
    mean: float
    half_width: float | None
    outcome: Outcome

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval of the mean difference."""
        if self.half_width is None:
            return None
        return self.mean - self.half_width, self.mean + self.half_width

    @property
    def mean_percent(self) -> float | None:
        """The mean difference in per cent of the baseline's mean; None when that mean is 0."""
        return self._percent(self.mean)

    @property
    def half_width_percent(self) -> float | None:
        """Half the interval in per cent of the baseline's mean over these same seeds."""
        return None if self.half_width is None else self._percent(self.half_width)

    @property
    def interval_percent(self) -> tuple[float, float] | None:
        """The interval in per cent of the baseline's mean over these same seeds."""
        mean, half = self.mean_percent, self.half_width_percent
        return None if mean is None or half is None else (mean - half, mean + half)

    def _percent(self, value: float) -> float | None:
        return 100.0 * value / self.baseline_mean if self.baseline_mean else None


@cache
def student_t(degrees: int, among: int = 1) -> float:
    """The quantile of Student's t that half of a 95 % interval is made of.

    With `among` intervals it is Bonferroni's: all of them together hold with 95 %.
    """
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 1 - (1 - CONFIDENCE) / 2 / among))


def paired_difference(
    baseline: Sequence[float], treated: Sequence[float], among: int = 1
) -> PairedDifference:
    """Compares measurements of the same seeds, in the same order.

    The interval is that of one comparison among `among`, which hold together with 95 %: whoever
    tries fifty remedies and looks at the best would else find a gain by chance.

    Pairs that are all alike carry no information on spread: a scenario without random draws
    gives the same run for every seed, and a hundred copies of one run are one run.

    Raises:
        ValueError: the two differ in length, or are empty.
    """
    if len(baseline) != len(treated) or not baseline:
        raise ValueError(
            f"expected as many treated as baseline measurements, at least one of each: "
            f"{len(treated)} and {len(baseline)}"
        )
    import numpy as np

    before = np.asarray(baseline, dtype=np.float64)
    after = np.asarray(treated, dtype=np.float64)
    difference = after - before
    n = len(difference)
    mean = float(difference.mean())
    half_width: float | None = None
    if not difference.any():
        outcome = Outcome.IDENTICAL
    elif n == 1 or (np.ptp(before) == 0 and np.ptp(after) == 0):
        outcome = Outcome.NO_INTERVAL
    else:
        standard_error = float(difference.std(ddof=1)) / n**0.5
        half_width = student_t(n - 1, among) * standard_error
        outcome = (
            Outcome.NO_DIFFERENCE_SHOWN
            if abs(mean) <= half_width
            else Outcome.HIGHER
            if mean > 0
            else Outcome.LOWER
        )
    return PairedDifference(n, float(before.mean()), float(after.mean()), mean, half_width, outcome)
