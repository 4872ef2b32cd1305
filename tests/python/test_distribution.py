"""The core's distributions against scipy's, over degrees, shapes and shares far apart."""

import math
from itertools import product

import pytest
from scipy import special

from airtcp import _core

SHARES = (1e-12, 1e-6, 0.001, 0.025, 0.3, 0.5, 0.8, 0.975, 0.999, 1 - 1e-6)
SHAPES = (0.5, 1.0, 2.5, 3.0, 10.0, 14.9, 15.0, 30.0, 100.0, 1e3, 1e4, 1e5)
DEGREES = (0.5, 1.0, 1.5, 2.0, 3.0, 4.7, 10.0, 29.0, 100.0, 1e3, 1e5, 1e6, 1e8, math.inf)
TOLERANCE = 1e-10


@pytest.mark.parametrize("degrees", DEGREES)
def test_students_t(degrees: float) -> None:
    for share in SHARES:
        expected = special.stdtrit(degrees, share)
        # Near the median, a quantile has the digits of its distance from it.
        value = _core.student_t_quantile(degrees, share)
        assert value == pytest.approx(expected, rel=TOLERANCE, abs=1e-14), share
    for value in (-20.0, -5.0, -2.0, -1.0, -0.1, 0.0, 0.001, 0.5, 2.0, 9.0):
        share = _core.student_t_share(degrees, value)
        assert share == pytest.approx(special.stdtr(degrees, value), rel=TOLERANCE), value


@pytest.mark.parametrize("shape", SHAPES)
def test_gamma(shape: float) -> None:
    for share in SHARES:
        value = _core.gamma_quantile(shape, share)
        assert value == pytest.approx(special.gammaincinv(shape, share), rel=TOLERANCE), share
    for deviations in (-5.0, -2.0, -1.0, -0.3, 0.0, 0.3, 1.0, 2.0, 5.0, 30.0):
        value = shape + deviations * math.sqrt(shape)
        if value > 0:
            share = _core.gamma_share(shape, value)
            assert share == pytest.approx(special.gammainc(shape, value), rel=TOLERANCE), value


@pytest.mark.parametrize(("a", "b"), list(product(SHAPES, repeat=2)))
def test_beta(a: float, b: float) -> None:
    for share in SHARES:
        value = _core.beta_quantile(a, b, share)
        assert value == pytest.approx(special.betaincinv(a, b, share), rel=TOLERANCE), share


def test_values_in_closed_form() -> None:
    assert _core.gamma_share(1.0, 2.0) == pytest.approx(1 - math.exp(-2), rel=1e-14)
    assert _core.student_t_share(1.0, -1.0) == pytest.approx(0.25, rel=1e-14)
    assert _core.student_t_quantile(2.0, 0.75) == pytest.approx(math.sqrt(2 / 3), rel=1e-14)
    # Of one draw in a million, the share that is below: the first of an exponential distribution.
    assert _core.beta_quantile(1.0, 1e6, 0.5) == pytest.approx(-math.expm1(-math.log(2) / 1e6))
    # The central limit: half of a large one is below its median, a - 1/3.
    assert _core.gamma_quantile(1e7, 0.5) == pytest.approx(1e7 - 1 / 3, rel=1e-12)


def test_ends_and_values_outside() -> None:
    assert _core.beta_quantile(2.0, 3.0, 0.0) == 0.0
    assert _core.beta_quantile(2.0, 3.0, 1.0) == 1.0
    assert _core.gamma_quantile(2.0, 1.0) == math.inf
    assert _core.gamma_share(2.0, math.inf) == 1.0
    assert _core.student_t_share(3.0, -math.inf) == 0.0
    assert _core.student_t_quantile(3.0, 1.0) == math.inf
    assert _core.student_t_quantile(3.0, 0.5) == 0.0
    for outside in (-1.0, 2.0, math.nan):
        assert math.isnan(_core.beta_quantile(2.0, 3.0, outside))
        assert math.isnan(_core.gamma_quantile(2.0, outside))
        assert math.isnan(_core.student_t_quantile(3.0, outside))
    assert math.isnan(_core.gamma_share(-1.0, 1.0))
