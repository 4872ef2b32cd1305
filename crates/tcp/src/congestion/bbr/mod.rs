//! BBR: the window and the pace follow a model of the path, its bottleneck bandwidth and its round
//! trip, not losses. [`v1`] follows Linux, [`v3`] the IETF draft; the other files are shared.

mod aggregation;
mod full_pipe;
mod minimum_rtt;
mod pace;
mod policed_rate;
mod rounds;
#[cfg(test)]
mod testbed;
mod v1;
mod v3;
mod window;

pub use v1::Bbr;
pub use v3::BbrV3;

use airtcp_units::{BitRate, Duration};

/// Minimum burst, in segments, at a pace of `rate` (`bbr_min_tso_segs`; draft-ietf-ccwg-bbr
/// §5.6.3).
fn least_burst(rate: BitRate) -> u64 {
    if rate.as_bps() < 1_200_000 { 1 } else { 2 }
}

/// Bytes delivered in `span` at `rate` bytes a second.
#[inline]
fn bytes_in(rate: u64, span: Duration) -> u64 {
    // 128-bit divisions are slow, and few products need them.
    if let Some(product) = rate.checked_mul(span.as_nanos()) {
        return product / 1_000_000_000;
    }
    let bytes = u128::from(rate) * u128::from(span.as_nanos()) / 1_000_000_000;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// `value` times a gain, rounded up: the only place where a gain meets an integer.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "rates and windows are far below 2^53, and no gain is negative"
)]
fn scaled(value: u64, gain: f64) -> u64 {
    let product = value as f64 * gain;
    let whole = product as u64;
    whole.saturating_add(u64::from((whole as f64) < product))
}

/// Converts bytes a second to a bit rate.
const fn bit_rate(bytes_per_second: u64) -> BitRate {
    BitRate::from_bps(bytes_per_second.saturating_mul(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux, `bbr_min_tso_rate`: 1.2 Mbit/s.
    #[test]
    fn two_segments_leave_together_from_1200_kbit_a_second_on() {
        assert_eq!(least_burst(BitRate::from_bps(1_199_999)), 1);
        assert_eq!(least_burst(BitRate::from_bps(1_200_000)), 2);
    }
}
