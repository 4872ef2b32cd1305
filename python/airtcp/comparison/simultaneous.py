"""Many remedies against one baseline: simultaneous intervals, also with few seeds.

Three things give them power in a search that tries fifty remedies on a handful of seeds:

- Remedies with the same differences on every seed are one comparison, and remedies without any
  effect are no comparison: they take no share of the error.
- The error is split over the rest by Bonferroni. Every claim of the table comes from these
  intervals, "excluded" too, so a step-down procedure such as Holm's would gain nothing: a remedy
  shown to differ may still be within the smallest effect worth having, so no hypothesis is finished
  with (Shaffer, Journal of the American Statistical Association 81, 1986).
- A remedy's variance is moderated by that of all of them (`PRIOR_DEGREES`), as in empirical Bayes
  analyses of microarrays (Smyth, Statistical Applications in Genetics and Molecular Biology 3,
  2004). The prior is their mean rather than Smyth's geometric mean: many remedies differ on few
  seeds only, and then by much; their few differences understate how much they vary.

`docs/measurements/statistics.md` holds coverage and power by simulation.
"""

from collections.abc import Iterable, Mapping, Sequence

from airtcp.comparison.statistics import (
    ERROR,
    PairedDifference,
    Prior,
    mean_of,
    paired_difference,
    residuals,
    variance_of,
)

PRIOR_DEGREES = 2.0
"""Degrees of freedom of the mean variance of all remedies, as a prior for each."""
_FEWEST_ROWS = 4
"""With fewer distinct remedies the mean variance is too uncertain to be a prior."""


def simultaneous(
    pairs: Mapping[str, tuple[Sequence[float], Sequence[float]]], error: float = ERROR
) -> dict[str, PairedDifference]:
    """The paired difference of each remedy; any of the intervals misses with `error`.

    Args:
        pairs: by remedy, the baseline's and the remedy's measurements, seed by seed.
        error: probability that any of the intervals misses.
    """
    variances = distinct_variances(pairs)
    among = max(1, len(variances))
    prior = ratio_prior = None
    if len(variances) >= _FEWEST_ROWS:
        prior = Prior(_mean(one for one, _ in variances), PRIOR_DEGREES)
        ratio_prior = Prior(_mean(one for _, one in variances), PRIOR_DEGREES)
    return {
        name: paired_difference(before, after, among, error, prior, ratio_prior, is_ratio=True)
        for name, (before, after) in pairs.items()
    }


def distinct_variances(
    pairs: Mapping[str, tuple[Sequence[float], Sequence[float]]],
) -> list[tuple[float, float]]:
    """The variances of each distinct series of differences: of the series, and about its ratio."""
    import numpy as np

    distinct = {}
    for before, after in pairs.values():
        series = tuple(new - old for old, new in zip(before, after, strict=True))
        if len(series) > 1 and any(series):
            distinct[series] = before
    found = []
    for series, before in distinct.items():
        difference, baseline = np.asarray(series), np.asarray(before, dtype=np.float64)
        about = residuals(baseline, difference) if mean_of(baseline) else difference
        found.append((variance_of(difference), variance_of(about)))
    return found


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)
