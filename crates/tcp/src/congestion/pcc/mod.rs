//! PCC (performance-oriented congestion control): monitor intervals sent at chosen rates, a utility
//! of the rate, the delay and the losses measured in each, and a rate that moves towards more
//! utility.
//!
//! The authors' programs send over UDP, and every packet tells them its fate. Here data counts as
//! answered in the order of transmission, once it is delivered or presumed lost, and a round trip
//! belongs to the interval in which its segment was sent.

mod fit;
mod interval;
mod proteus;
mod sender;
mod utility;
mod vivace;

use airtcp_units::{BitRate, Duration, Instant};

use super::windows::Windows;

use proteus::Proteus as ProteusLearner;
use sender::Sender;
use vivace::Vivace as VivaceLearner;

/// PCC Vivace.
pub type Vivace = Sender<VivaceLearner>;
/// PCC Proteus, as a primary sender or a scavenger.
pub type Proteus = Sender<ProteusLearner>;

/// Half the distance between two probed rates, relative to the rate (Dong et al., NSDI 2018:
/// ε; `kProbingStepSize`).
const PROBE_STEP: f64 = 0.05;
/// Segments in a round trip at the lowest rate. The authors' programs stop at 1.3 Mbit/s (Vivace)
/// and 0.5 Mbit/s (Proteus), which would flood a slower link.
const MIN_SEGMENTS: u64 = 2;
/// Fewest segments of an interval, so that it has a few round trips (`kMinPacketPerInterval`).
const INTERVAL_SEGMENTS: u64 = 5;

/// A rate in Mbit/s, the unit of the utility functions.
#[expect(clippy::cast_precision_loss, reason = "rates are far below 2^53")]
fn megabits(rate: BitRate) -> f64 {
    rate.as_bps() as f64 / 1e6
}

/// A rate from its number of Mbit/s: the only place where a formula's rate becomes an integer.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates; a rate below zero is none"
)]
fn bit_rate(megabits: f64) -> BitRate {
    BitRate::from_bps((megabits * 1e6) as u64)
}

/// The rate at which `bytes` leave in `span`.
fn rate_of(bytes: u64, span: Duration) -> BitRate {
    let bits = u128::from(bytes) * 8 * 1_000_000_000 / u128::from(span.as_nanos().max(1));
    BitRate::from_bps(u64::try_from(bits).unwrap_or(u64::MAX))
}

/// The bytes that leave in `span` at `rate`.
fn bytes_at(rate: BitRate, span: Duration) -> u64 {
    let bits = u128::from(rate.as_bps()) * u128::from(span.as_nanos());
    u64::try_from(bits / 8_000_000_000).unwrap_or(u64::MAX)
}

/// `rate`, or the lowest one of a path with this round trip.
fn floored(rate: BitRate, rtt: Duration, windows: &Windows) -> BitRate {
    rate.max(rate_of(MIN_SEGMENTS * windows.mss, rtt))
}

/// The probed rate above or below `rate`.
fn probe(rate: BitRate, faster: bool) -> BitRate {
    let share = if faster { PROBE_STEP } else { -PROBE_STEP };
    bit_rate(megabits(rate) * (1.0 + share))
}

/// A coin: the random order of rates, from a time that no two flows share to the nanosecond.
const fn toss(now: Instant) -> bool {
    // The top bit of the golden ratio's multiples is evenly distributed.
    now.as_nanos().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 63 == 1
}

#[cfg(test)]
pub(super) mod testbed;
