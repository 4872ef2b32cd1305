//! Quantiles, from the shares below and above a value and the density there.

use super::Shares;

/// The value from 0 to `most` with the wanted shares below and above it.
///
/// Newton's method, and halves of the logarithm or of the value where a step would leave the
/// interval that is known to contain it.
pub(super) fn quantile(
    wanted: Shares,
    most: f64,
    start: f64,
    shares: impl Fn(f64) -> Shares,
    density: impl Fn(f64) -> f64,
) -> f64 {
    if wanted.lower <= 0.0 {
        return 0.0;
    }
    if wanted.upper <= 0.0 {
        return most;
    }
    let (mut low, mut high) = (f64::MIN_POSITIVE, most.min(f64::MAX));
    let mut at = start.clamp(low, high);
    // Each second step halves, so that the interval shrinks also where Newton's steps crawl.
    for step in 0..3000 {
        let excess = wanted.excess_of(shares(at));
        if excess == 0.0 {
            break;
        }
        if excess > 0.0 {
            high = at;
        } else {
            low = at;
        }
        let newton = at - excess / density(at);
        let next = if newton > low && newton < high && (step % 8 != 7) {
            newton
        } else if high > 4.0 * low {
            low.sqrt() * high.sqrt()
        } else {
            low + 0.5 * (high - low)
        };
        let is_settled = (next - at).abs() <= f64::EPSILON * at;
        at = next;
        if is_settled || high <= low * (1.0 + f64::EPSILON) {
            break;
        }
    }
    at
}
