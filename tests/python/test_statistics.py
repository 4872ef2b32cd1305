"""The paired interval against a textbook's example and against scipy's own t test."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from airtcp.comparison.statistics import Outcome, paired_difference

measurements = st.lists(st.tuples(st.floats(0, 1e9), st.floats(0, 1e9)), min_size=2, max_size=40)


def test_students_own_example() -> None:
    # Student, "The Probable Error of a Mean", Biometrika 6 (1908), table of section IX: additional
    # hours of sleep by two drugs, ten patients. Difference: mean 1.58, t = 4.0621 (df 9), so the
    # standard error is 0.38896 and the 95 % half width 2.26216 times that.
    dextro = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    laevo = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    difference = paired_difference(dextro, laevo)
    assert difference.n == 10
    assert difference.mean == pytest.approx(1.58)
    assert difference.half_width == pytest.approx(0.87989, abs=1e-4)
    assert difference.interval == pytest.approx((0.70011, 2.45989), abs=1e-4)
    assert difference.outcome is Outcome.HIGHER
    assert difference.mean_percent == pytest.approx(100 * 1.58 / 0.75)


@given(measurements)
def test_agrees_with_scipys_paired_t_test(pairs: list[tuple[float, float]]) -> None:
    before, after = (list(side) for side in zip(*pairs, strict=True))
    differences = np.subtract(after, before)
    ours = paired_difference(before, after)
    if ours.half_width is None or np.std(differences) < 1e-9 * np.max(np.abs(differences)):
        return  # scipy rightly refuses data without spread
    low, high = scipy.stats.ttest_rel(after, before).confidence_interval(0.95)
    assert ours.interval == pytest.approx((low, high), rel=1e-6, abs=1e-3)
    shown = ours.outcome in (Outcome.HIGHER, Outcome.LOWER)
    if not math.isclose(low, 0, abs_tol=1e-3) and not math.isclose(high, 0, abs_tol=1e-3):
        assert shown == (low > 0 or high < 0)


@given(measurements)
def test_swapping_the_sides_swaps_the_sign(pairs: list[tuple[float, float]]) -> None:
    before, after = (list(side) for side in zip(*pairs, strict=True))
    forth, back = paired_difference(before, after), paired_difference(after, before)
    assert forth.mean == -back.mean
    assert forth.half_width == back.half_width
    mirror = {Outcome.HIGHER: Outcome.LOWER, Outcome.LOWER: Outcome.HIGHER}
    assert mirror.get(forth.outcome, forth.outcome) is back.outcome


def test_an_interval_that_spans_zero_shows_no_difference() -> None:
    assert paired_difference([5, 5, 5], [4, 6, 5.5]).outcome is Outcome.NO_DIFFERENCE_SHOWN


def test_one_pair_has_no_interval() -> None:
    one = paired_difference([5.0], [6.0])
    assert (one.interval, one.interval_percent, one.outcome) == (None, None, Outcome.NO_INTERVAL)
    assert one.mean_percent == pytest.approx(20)


def test_copies_of_one_run_are_one_run() -> None:
    copies = paired_difference([5.0] * 20, [6.0] * 20)
    assert (copies.interval, copies.outcome) == (None, Outcome.NO_INTERVAL)


def test_equal_pairs_are_identical_and_not_merely_undecided() -> None:
    assert paired_difference([5, 6, 7], [5, 6, 7]).outcome is Outcome.IDENTICAL


def test_a_baseline_of_nothing_has_no_per_cent() -> None:
    stalled = paired_difference([0, 0, 0], [1, 2, 3])
    assert stalled.mean_percent is None
    assert stalled.interval_percent is None
    assert stalled.interval is not None


@pytest.mark.parametrize(("before", "after"), [([], []), ([1.0], []), ([1.0], [1.0, 2.0])])
def test_unpaired_measurements_are_refused(before: list[float], after: list[float]) -> None:
    with pytest.raises(ValueError, match="expected as many treated as baseline measurements"):
        paired_difference(before, after)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    # Coverage by simulation: 2000 studies of 8 seeds; the binomial spread of 95 % is 0.5 %.
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(2000):
        channel = rng.normal(100, 30, 8)
        treated = channel + rng.normal(5, 4, 8)
        low, high = paired_difference(channel.tolist(), treated.tolist()).interval or (0, 0)
        covered += low <= 5 <= high
    assert 0.93 < covered / 2000 < 0.97


def test_an_interval_in_per_cent_knows_the_baselines_luck() -> None:
    """A remedy that fills the link: what it gains is what the baseline lacks, seed by seed.

    Cochran's variance of a ratio by hand: residuals about the ratio of the means.
    """
    before, after = [2.0, 4.0, 3.0], [9.0, 9.0, 9.3]
    found = paired_difference(before, after, is_ratio=True)
    ratio = 27.3 / 9.0
    squares = sum((new - ratio * old) ** 2 for old, new in zip(before, after, strict=True)) / 2
    assert found.half_width_percent == pytest.approx(
        100 * scipy.stats.t.ppf(0.975, 2) * (squares / 3) ** 0.5 / 3.0
    )
    # The table, the figure and the words have one interval, which crosses zero or does not.
    assert found.half_width == pytest.approx(found.half_width_percent / 100 * 3.0)
    assert found.outcome is Outcome.NO_DIFFERENCE_SHOWN
    assert paired_difference(before, after).outcome is Outcome.HIGHER


def test_no_difference_on_few_seeds_is_not_exact() -> None:
    assert not paired_difference([5, 6, 7], [5, 6, 7]).is_exact
    assert paired_difference([5, 6, 7, 8, 9], [5, 6, 7, 8, 9]).is_exact
    assert paired_difference([5, 5], [5, 5]).is_exact
    assert paired_difference([5, 5], [6, 6]).is_exact
    assert not paired_difference([5], [6]).is_exact
