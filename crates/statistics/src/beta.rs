//! The regularised incomplete beta function.

use super::density::binomial;
use super::gamma::away_from_zero;
use super::{STEPS, Shares};

/// The shares of a beta distribution of `a` and `b` below and above `x`, for y = 1 - x.
pub(super) fn beta(a: f64, b: f64, x: f64, y: f64) -> Shares {
    if x <= 0.0 {
        return Shares::NOTHING;
    }
    if y <= 0.0 {
        return Shares::NOTHING.swapped();
    }
    let density = binomial(a, b, x, y);
    if x * (a + b + 2.0) < a + 1.0 {
        Shares::of_lower(density * fraction(a, b, x) / a)
    } else {
        Shares::of_lower(density * fraction(b, a, y) / b).swapped()
    }
}

/// The density of that distribution at `x`.
pub(super) fn density(a: f64, b: f64, x: f64, y: f64) -> f64 {
    binomial(a, b, x, y) / (x * y)
}

/// NIST's Handbook, 8.17.22 without its factor, by Lentz's method.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let mut c = 1.0;
    let mut d = away_from_zero(1.0 - (a + b) * x / (a + 1.0)).recip();
    let mut value = d;
    for m in 1..STEPS {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = away_from_zero(1.0 + even * d).recip();
        c = away_from_zero(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = away_from_zero(1.0 + odd * d).recip();
        c = away_from_zero(1.0 + odd / c);
        value *= d * c;
        if (d * c - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    value
}
