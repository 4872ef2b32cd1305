//! Distributions for intervals and tests, to about 13 digits, and the paired difference of runs of
//! the same seeds.

mod beta;
mod density;
mod gamma;
mod paired;
mod quantile;
mod student_t;

pub use paired::{Outcome, PairedDifference, SMALLEST_PERCENT, State};

/// Steps of a series or fraction at most: parameters to 10^11 need fewer.
const STEPS: u32 = 1_000_000;
/// In place of a zero that would be divided by.
const TINY: f64 = 1e-300;

/// Shares of a distribution below and above a value: where one is close to 1, the other keeps its
/// digits.
#[derive(Clone, Copy)]
struct Shares {
    lower: f64,
    upper: f64,
}

impl Shares {
    const NOTHING: Self = Self {
        lower: 0.0,
        upper: 1.0,
    };

    fn of_lower(lower: f64) -> Self {
        Self {
            lower,
            upper: 1.0 - lower,
        }
    }

    fn swapped(self) -> Self {
        Self {
            lower: self.upper,
            upper: self.lower,
        }
    }

    /// By how much `found` has too much below, by the smaller of the wanted shares.
    fn excess_of(self, found: Self) -> f64 {
        if self.lower < self.upper {
            found.lower - self.lower
        } else {
            self.upper - found.upper
        }
    }
}

/// The share of a gamma distribution of `shape` and scale 1 below `value`: the regularised
/// incomplete gamma function P. NaN outside its domain.
#[must_use]
pub fn gamma_share(shape: f64, value: f64) -> f64 {
    if !(shape > 0.0 && value >= 0.0) {
        return f64::NAN;
    }
    gamma::gamma(shape, value).lower
}

/// The value of a gamma distribution of `shape` and scale 1 with `share` below it. NaN outside its
/// domain.
#[must_use]
pub fn gamma_quantile(shape: f64, share: f64) -> f64 {
    if !(shape > 0.0 && (0.0..=1.0).contains(&share)) {
        return f64::NAN;
    }
    gamma_value(shape, Shares::of_lower(share))
}

fn gamma_value(shape: f64, wanted: Shares) -> f64 {
    quantile::quantile(
        wanted,
        f64::INFINITY,
        shape,
        |value| gamma::gamma(shape, value),
        |value| gamma::density(shape, value),
    )
}

/// The value of a beta distribution of `a` and `b` with `share` below it. NaN outside its domain.
#[must_use]
pub fn beta_quantile(a: f64, b: f64, share: f64) -> f64 {
    if !(a > 0.0 && b > 0.0 && (0.0..=1.0).contains(&share)) {
        return f64::NAN;
    }
    beta_value(a, b, Shares::of_lower(share))
}

fn beta_value(a: f64, b: f64, wanted: Shares) -> f64 {
    quantile::quantile(
        wanted,
        1.0,
        a / (a + b),
        |value| beta::beta(a, b, value, 1.0 - value),
        |value| beta::density(a, b, value, 1.0 - value),
    )
}

/// The share of Student's t distribution below `value`. NaN outside its domain.
#[must_use]
pub fn student_t_share(degrees: f64, value: f64) -> f64 {
    student_t::share(degrees, value)
}

/// The value of Student's t distribution with `share` below it. NaN outside its domain.
#[must_use]
pub fn student_t_quantile(degrees: f64, share: f64) -> f64 {
    student_t::value(degrees, share)
}
