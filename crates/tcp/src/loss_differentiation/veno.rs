//! Veno's criterion (Fu & Liew, JSAC 21(2), 2003, §II): how many segments are queued in the
//! network?

use super::Cause;
use super::round_trips::RoundTrips;

/// The cause of a loss with a window of `cwnd` bytes: congestion if N = cwnd × (RTT − BaseRTT)/RTT
/// is at least `beta` segments.
pub fn classify(round_trips: &RoundTrips, cwnd: u64, mss: u64, beta: f64) -> Cause {
    if round_trips.latest <= 0.0 {
        return Cause::Congestion;
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "windows are far below 2^53 bytes"
    )]
    let segments = cwnd as f64 / mss as f64;
    let backlog = segments * (round_trips.latest - round_trips.least) / round_trips.latest;
    if backlog < beta {
        Cause::Radio
    } else {
        Cause::Congestion
    }
}
