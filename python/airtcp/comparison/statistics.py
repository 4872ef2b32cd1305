"""The paired difference on common random numbers, and its confidence interval.

For one seed every remedy meets the same channel, so differences are taken seed by seed: the
channel's luck cancels (Law, Simulation Modeling and Analysis, 5th ed., §11.2).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING

from airtcp._core import student_t_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ERROR = 0.05
"""Probability that an interval, or one of several simultaneous ones, misses."""


ENOUGH_IDENTICAL = 5
"""Seeds without any difference after which it is taken to be zero: a difference on every second
seed would have shown with 97 %.
"""


class Outcome(StrEnum):
    """Outcome of a paired comparison: the side of zero on which its interval lies."""

    HIGHER = "higher"
    LOWER = "lower"
    NO_DIFFERENCE_SHOWN = "no difference shown"
    IDENTICAL = "identical"
    """Every pair is equal: the remedy changed nothing here."""
    NO_INTERVAL = "no interval"
    """One pair, or identical pairs: the uncertainty of the difference is unknown."""


@dataclass(frozen=True)
class PairedDifference:
    """The mean of treated minus baseline over n pairs, in the unit of the measurements.

    `half_width` is half the 95 % confidence interval of the mean difference by Student's t, or of
    the ratio of the means if requested; None if the pairs do not determine one.
    """

    n: int
    baseline_mean: float
    treated_mean: float
    mean: float
    half_width: float | None
    outcome: Outcome
    estimated: "Spread | None" = None
    """The spread of the differences, the basis of `half_width` without `of_ratio`."""
    of_ratio: "Spread | None" = None
    """The basis of `half_width` if the baseline's randomness counts; None if the baseline's mean is
    taken as exact.
    """
    is_constant: bool = False
    """Neither the baseline nor the treated varies over several pairs."""

    @property
    def is_exact(self) -> bool:
        """Whether the mean is exact: no randomness, or enough seeds without any difference.

        A remedy that changes nothing on a few seeds may still do so on others.
        """
        return self.is_constant or (
            self.outcome is Outcome.IDENTICAL and self.n >= ENOUGH_IDENTICAL
        )

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
        """Half the interval of `mean_percent`."""
        return None if self.half_width is None else self._percent(self.half_width)

    @property
    def interval_percent(self) -> tuple[float, float] | None:
        """The interval in per cent of the baseline's mean over these same seeds."""
        mean, half = self.mean_percent, self.half_width_percent
        return None if mean is None or half is None else (mean - half, mean + half)

    def _percent(self, value: float) -> float | None:
        return 100.0 * value / self.baseline_mean if self.baseline_mean else None


@dataclass(frozen=True)
class Spread:
    """Knowledge of the variance of one pair's difference, and the permitted error."""

    variance: float
    degrees: float
    """Degrees of freedom of the variance."""
    among: int = 1
    """Number of simultaneous intervals."""
    error: float = ERROR
    """Probability that one of them misses."""

    def half_width(self, n: int, degrees: float | None = None) -> float:
        """Half the interval of the mean of n pairs."""
        quantile = student_t(self.degrees if degrees is None else degrees, self.among, self.error)
        return float(quantile * (self.variance / n) ** 0.5)


@dataclass(frozen=True)
class Prior:
    """External knowledge of a variance, worth `degrees` degrees of freedom."""

    variance: float
    degrees: float


@cache
def student_t(degrees: float, among: int = 1, error: float = ERROR) -> float:
    """The quantile of Student's t for half of a confidence interval.

    With `among` intervals it is Bonferroni's: all of them together miss with `error` at most.
    """
    return student_t_quantile(degrees, 1 - error / 2 / among)


def paired_difference(
    baseline: Sequence[float],
    treated: Sequence[float],
    among: int = 1,
    error: float = ERROR,
    prior: Prior | None = None,
    ratio_prior: Prior | None = None,
    *,
    is_ratio: bool = False,
) -> PairedDifference:
    """Compares measurements of the same seeds, in the same order.

    The interval is that of one comparison among `among`, which jointly miss with `error` at most:
    otherwise the best of fifty remedies would show a gain by chance. A `prior` moderates the
    variance of few pairs: the two are averaged by their degrees of freedom (Smyth, Statistical
    Applications in Genetics and Molecular Biology 3, 2004, §4).

    With `is_ratio` the interval in per cent is that of the ratio of the two means: the baseline's
    mean is as uncertain as the difference, and with it (Cochran, Sampling Techniques, 3rd ed.,
    §6.4, the variance of the residuals about the ratio; `ratio_prior` moderates that).

    Identical pairs carry no information on spread: a scenario without random draws gives the same
    run for every seed, and a hundred copies of one run are one run.

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
    mean, mean_before = mean_of(difference), mean_of(before)
    half_width: float | None = None
    spread: Spread | None = None
    of_ratio: Spread | None = None
    is_constant = n > 1 and bool((before == before[0]).all() and (after == after[0]).all())
    if not difference.any():
        outcome = Outcome.IDENTICAL
    elif n == 1 or is_constant:
        outcome = Outcome.NO_INTERVAL
    else:
        spread = _moderated(variance_of(difference), n - 1, prior, among, error)
        half_width = spread.half_width(n)
        if is_ratio and mean_before:
            residual = residuals(before, difference)
            of_ratio = _moderated(variance_of(residual), n - 1, ratio_prior, among, error)
            # One interval for the table, the figure and the words: that of the ratio.
            half_width = of_ratio.half_width(n)
        outcome = (
            Outcome.NO_DIFFERENCE_SHOWN
            if abs(mean) <= half_width
            else Outcome.HIGHER
            if mean > 0
            else Outcome.LOWER
        )
    return PairedDifference(
        n,
        mean_before,
        mean_of(after),
        mean,
        half_width,
        outcome,
        spread,
        of_ratio,
        is_constant,
    )


def mean_of(values: "NDArray[np.float64]") -> float:
    """The mean, as `ndarray.mean` computes it: its checks take longer than a few additions."""
    import numpy as np

    return float(np.add.reduce(values)) / len(values)


def variance_of(values: "NDArray[np.float64]") -> float:
    """The sample variance, as `ndarray.var` with one degree of freedom computes it."""
    import numpy as np

    apart = values - mean_of(values)
    return float(np.add.reduce(apart * apart)) / (len(values) - 1)


def residuals(
    before: "NDArray[np.float64]", difference: "NDArray[np.float64]"
) -> "NDArray[np.float64]":
    """The residuals of the differences about each baseline's share of the mean effect."""
    return difference - mean_of(difference) / mean_of(before) * before


def _moderated(
    variance: float, degrees: int, prior: Prior | None, among: int, error: float
) -> Spread:
    if prior is None:
        return Spread(variance, degrees, among, error)
    both = degrees + prior.degrees
    pooled = (degrees * variance + prior.degrees * prior.variance) / both
    return Spread(pooled, both, among, error)
