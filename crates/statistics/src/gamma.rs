//! The regularised incomplete gamma function.

use super::density::poisson;
use super::{STEPS, Shares, TINY};

/// The shares of a gamma distribution of shape `a` and scale 1 below and above `x`.
pub(super) fn gamma(a: f64, x: f64) -> Shares {
    if x <= 0.0 {
        return Shares::NOTHING;
    }
    if x == f64::INFINITY {
        return Shares::NOTHING.swapped();
    }
    let density = poisson(a, x);
    if x < a + 1.0 {
        Shares::of_lower(density * series(a, x))
    } else {
        Shares::of_lower(density * a * fraction(a, x)).swapped()
    }
}

/// The density of that distribution at `x`.
pub(super) fn density(a: f64, x: f64) -> f64 {
    poisson(a, x) * a / x
}

/// NIST's Handbook, 8.7.1.
fn series(a: f64, x: f64) -> f64 {
    let (mut sum, mut term, mut at) = (1.0, 1.0, a);
    for _ in 0..STEPS {
        at += 1.0;
        term *= x / at;
        sum += term;
        if term < sum * f64::EPSILON / 8.0 {
            break;
        }
    }
    sum
}

/// NIST's Handbook, 8.9.2, its even part, by Lentz's method.
fn fraction(a: f64, x: f64) -> f64 {
    let mut below = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / below;
    let mut value = d;
    for step in 1..STEPS {
        let step = f64::from(step);
        let above = -step * (step - a);
        below += 2.0;
        d = away_from_zero(above * d + below).recip();
        c = away_from_zero(below + above / c);
        value *= d * c;
        if (d * c - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    value
}

/// Lentz's method divides by it.
pub(super) fn away_from_zero(value: f64) -> f64 {
    if value.abs() < TINY { TINY } else { value }
}
