"""From runs to numbers with intervals: gains as log ratios, levels, and steps between places.

Everything is paired by seed and at 95 % confidence (Student's t). A gain is the exponential of the
mean log ratio: a seed that doubles goodput and one that halves it then cancel, and one extreme seed
cannot carry the mean (Fleming & Wallace, CACM 29(3), 1986).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from airtcp._core import student_t_share
from airtcp.comparison.statistics import student_t

UNKNOWN = math.inf
"""Half-width of an interval that a single run, or identical runs, cannot determine."""


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval, in one unit: per cent for gains and shares."""

    value: float
    low: float
    high: float

    @classmethod
    def around(cls, value: float, half: float) -> "Estimate":
        """An interval of `half` on either side."""
        return cls(value, value - half, value + half)

    @property
    def half_width(self) -> float:
        """Half of the interval's width; infinite if the runs cannot determine it."""
        return (self.high - self.low) / 2

    @property
    def error_bar(self) -> float:
        """The half-width in a figure: 0 if the runs cannot determine it."""
        return self.half_width if math.isfinite(self.half_width) else 0.0

    @property
    def mirrored(self) -> "Estimate":
        """The estimate with the opposite sign."""
        return Estimate(-self.value, -self.high, -self.low)


def percent(log_ratio: float) -> float:
    """A log ratio as a gain in per cent; never below -100."""
    return 100.0 * math.expm1(min(log_ratio, 700.0))


def log_ratio(gain: float) -> float:
    """A gain in per cent as a log ratio; minus infinity for a loss of everything."""
    return math.log1p(gain / 100.0) if gain > -100.0 else -math.inf


def gain(baseline: Sequence[float], treated: Sequence[float]) -> Estimate | None:
    """The gain of `treated` over `baseline` in per cent; None if the baseline measured nothing.

    If a run measured nothing, a log ratio does not exist: the gain is then the mean difference over
    the baseline's mean.
    """
    before, after = _pairs(baseline, treated)
    if not before.any():
        return None
    if before.min() > 0 and after.min() > 0:
        mean, half = _mean_and_half(np.log(after / before), before, after)
        return Estimate(percent(mean), percent(mean - half), percent(mean + half))
    scale = 100.0 / float(before.mean())
    mean, half = _mean_and_half(after - before, before, after)
    return Estimate.around(scale * mean, scale * half)


def difference(baseline: Sequence[float], treated: Sequence[float]) -> Estimate:
    """The mean of treated minus baseline, in the unit of the measurements."""
    before, after = _pairs(baseline, treated)
    return Estimate.around(*_mean_and_half(after - before, before, after))


def step(before: Sequence[float], after: Sequence[float]) -> Estimate:
    """The change from one place of an axis to the next, in per cent.

    Relative to the larger of both means, so that a fall to zero and a rise from zero have the same
    finite size.
    """
    change = difference(before, after)
    scale = max(abs(float(np.mean(before))), abs(float(np.mean(after))))
    factor = 100.0 / scale if scale else 0.0
    if not math.isfinite(change.half_width):
        return Estimate.around(factor * change.value, UNKNOWN)
    return Estimate.around(factor * change.value, factor * change.half_width)


def gain_difference(
    smaller: tuple[Sequence[float], Sequence[float]],
    larger: tuple[Sequence[float], Sequence[float]],
) -> Estimate | None:
    """Ratio of one gain to another, in per cent of the ratio of both, seed by seed.

    Each is (baseline, treated). None if a run measured nothing, so that it has no ratio.
    """
    ratios = []
    for baseline, treated in (smaller, larger):
        before, after = _pairs(baseline, treated)
        if before.min() <= 0 or after.min() <= 0:
            return None
        ratios.append(np.log(after / before))
    mean, half = _mean_and_half(ratios[1] - ratios[0], *ratios)
    return Estimate(percent(mean), percent(mean - half), percent(mean + half))


def level(values: Sequence[float]) -> Estimate:
    """The mean of a measurement over seeds."""
    array = np.asarray(values, dtype=np.float64)
    return Estimate.around(*_mean_and_half(array, array))


_UNKNOWN = 10_000.0
"""Per cent: a wider interval is uninformative, as for a single run or identical runs."""


def gain_text(gain: Estimate | None) -> str:
    """A gain in words: "+13.2 ± 1.1 %"; the ends of the interval if it is very asymmetric."""
    if gain is None:
        return "no baseline"
    if not gain.half_width < _UNKNOWN:
        return f"{gain.value:+.1f} %"
    above, below = gain.high - gain.value, gain.value - gain.low
    if max(above, below) > 1.5 * min(above, below) and gain.half_width > 1:
        return f"{gain.value:+.1f} % ({gain.low:+.1f} to {gain.high:+.1f})"
    return f"{gain.value:+.1f} ± {gain.half_width:.1f} %"


def number_text(estimate: Estimate) -> str:
    """A measurement as words: "233.4 ± 1.9"."""
    if not math.isfinite(estimate.half_width):
        return f"{estimate.value:.4g}"
    return f"{estimate.value:.4g} ± {estimate.half_width:.2g}"


def changes(before: Sequence[float], after: Sequence[float]) -> tuple[float, ...]:
    """The change seed by seed, between -1 and 1, relative to the larger of both.

    Grows with the gain, and exists even if a run measured nothing: changes of any two readings can
    be compared.
    """
    pairs = zip(*_pairs(before, after), strict=True)
    return tuple(float((b - a) / max(abs(a), abs(b))) if a != b else 0.0 for a, b in pairs)


def p_value(baseline: Sequence[float], treated: Sequence[float]) -> float:
    """The two-sided p-value of a zero paired log ratio; 1 if the runs cannot determine it."""
    before, after = _pairs(baseline, treated)
    alike = np.ptp(before) == 0 and np.ptp(after) == 0
    if len(before) < 2 or alike or before.min() <= 0 or after.min() <= 0:
        return 1.0
    return _p_of_zero(np.log(after / before))


def p_apart(one: Sequence[float], other: Sequence[float]) -> float:
    """The two-sided p-value of two series being alike, seed by seed (Student's paired t).

    1 if the runs cannot determine it: other seeds, a single one, or a constant difference.
    """
    if len(one) != len(other) or len(one) < 2:
        return 1.0
    return _p_of_zero(np.asarray(other, dtype=np.float64) - np.asarray(one, dtype=np.float64))


def _p_of_zero(values: np.ndarray) -> float:
    """The two-sided p-value of a zero mean; 1 if the values have no spread."""
    spread = float(values.std(ddof=1))
    if np.ptp(values) == 0 or spread == 0:
        return 1.0
    t = abs(float(values.mean())) / (spread / len(values) ** 0.5)
    return 2.0 * student_t_share(len(values) - 1, -t)


def _pairs(baseline: Sequence[float], treated: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    before = np.asarray(baseline, dtype=np.float64)
    after = np.asarray(treated, dtype=np.float64)
    if len(before) != len(after) or not len(before):
        raise ValueError(
            f"expected as many treated as baseline measurements, at least one of each: "
            f"{len(after)} and {len(before)}"
        )
    return before, after


def _mean_and_half(values: np.ndarray, *runs: np.ndarray) -> tuple[float, float]:
    """The mean with half its interval.

    `runs` are the measurements from which the values derive: if these are all equal, a hundred
    seeds are one run. If only the values are equal, and zero, the runs differ and nothing changed:
    that is exact. A constant change in runs that differ has no usable spread.
    """
    mean = float(values.mean())
    if len(values) < 2 or all(np.ptp(one) == 0 for one in runs):
        return mean, UNKNOWN
    if np.ptp(values) == 0:
        return mean, UNKNOWN if mean else 0.0
    error = float(values.std(ddof=1)) / len(values) ** 0.5
    return mean, student_t(len(values) - 1) * error
