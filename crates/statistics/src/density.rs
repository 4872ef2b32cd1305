//! Densities as deviances from their maximum, which keep their digits for large parameters, where
//! differences of logarithms of gamma functions lose them (Loader, "Fast and accurate computation
//! of binomial probabilities", 2000).

use std::f64::consts::PI;

/// x^a e^-x / Γ(a + 1).
pub(super) fn poisson(a: f64, x: f64) -> f64 {
    (-stirling_error(a) - deviance(a, x)).exp() / (2.0 * PI * a).sqrt()
}

/// x^a y^b Γ(a + b) / (Γ(a) Γ(b)), for y = 1 - x.
pub(super) fn binomial(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let n = a + b;
    let errors = stirling_error(n) - stirling_error(a) - stirling_error(b);
    let exponent = errors - deviance(a, n * x) - deviance(b, n * y);
    // The square root is split: the product of a and b may exceed the largest number.
    exponent.exp() * (a / n).sqrt() * (b / (2.0 * PI)).sqrt()
}

/// ln Γ(n + 1) less Stirling's approximation of it.
fn stirling_error(n: f64) -> f64 {
    /// Below it, the logarithm itself is small.
    const SMALL: f64 = 15.0;
    if n < SMALL {
        return libm::lgamma(n + 1.0) - (n + 0.5) * n.ln() + n - 0.5 * (2.0 * PI).ln();
    }
    // NIST's Handbook of Mathematical Functions, 5.11.1.
    const TERMS: [f64; 7] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
    ];
    let square = n * n;
    TERMS
        .iter()
        .rev()
        .fold(0.0, |sum, term| term + sum / square)
        / n
}

/// a ln(a / x) + x - a.
fn deviance(a: f64, x: f64) -> f64 {
    if (a - x).abs() >= 0.1 * (a + x) {
        return a * (a / x).ln() + x - a;
    }
    // With v = (a - x) / (a + x), ln(a / x) = 2 (v + v^3 / 3 + v^5 / 5 + ...).
    let v = (a - x) / (a + x);
    let mut sum = (a - x) * v;
    let mut power = 2.0 * a * v;
    for odd in (3..1000).step_by(2) {
        power *= v * v;
        let next = sum + power / f64::from(odd);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}
