//! Student's t distribution.

use super::{Shares, beta, beta_value, gamma, gamma_value};

/// With more degrees of freedom, it is expanded around the normal distribution.
const MANY: f64 = 1e7;

pub(super) fn share(degrees: f64, value: f64) -> f64 {
    if degrees.is_nan() || degrees <= 0.0 || value.is_nan() {
        return f64::NAN;
    }
    let tail = 0.5 * tails(degrees, value);
    if value < 0.0 { tail } else { 1.0 - tail }
}

/// The share farther from 0 than `value`.
fn tails(degrees: f64, value: f64) -> f64 {
    let square = value * value;
    if degrees > MANY {
        // Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.8, expanded.
        let second = (13.0 * square * square + 8.0 * square + 3.0) / (96.0 * degrees * degrees);
        let normal = value * (1.0 - (square + 1.0) / (4.0 * degrees) + second);
        return gamma::gamma(0.5, normal * normal / 2.0).upper;
    }
    let ratio = square / degrees;
    let inner = if ratio.is_finite() {
        ratio / (1.0 + ratio)
    } else {
        1.0
    };
    beta::beta(degrees / 2.0, 0.5, 1.0 / (1.0 + ratio), inner).lower
}

pub(super) fn value(degrees: f64, share: f64) -> f64 {
    if !(degrees > 0.0 && (0.0..=1.0).contains(&share)) {
        return f64::NAN;
    }
    let tail = share.min(1.0 - share);
    let tails = Shares {
        lower: 2.0 * tail,
        upper: 1.0 - 2.0 * tail,
    };
    let distance = if degrees > MANY {
        // The square of a normal value, halved, is gamma distributed.
        expanded(degrees, (2.0 * gamma_value(0.5, tails.swapped())).sqrt())
    } else {
        square(degrees, tails).sqrt()
    };
    distance.copysign(share - 0.5)
}

/// With v = 1 / (1 + t^2 / degrees), v is beta distributed. The smaller of v and 1 - v is found,
/// which has all its digits.
fn square(degrees: f64, tails: Shares) -> f64 {
    let outer = beta_value(degrees / 2.0, 0.5, tails);
    if outer < 0.5 {
        degrees * (1.0 - outer) / outer
    } else {
        let inner = beta_value(0.5, degrees / 2.0, tails.swapped());
        degrees * inner / (1.0 - inner)
    }
}

/// Abramowitz and Stegun, 26.7.5.
fn expanded(degrees: f64, normal: f64) -> f64 {
    let square = normal * normal;
    let first = (square + 1.0) / (4.0 * degrees);
    let second = ((5.0 * square + 16.0) * square + 3.0) / (96.0 * degrees * degrees);
    normal * (1.0 + first + second)
}
