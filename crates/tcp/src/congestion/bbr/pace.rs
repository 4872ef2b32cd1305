//! The pacing rate (`bbr_set_pacing_rate`; draft-ietf-ccwg-bbr §5.6.2).

use airtcp_units::{BitRate, Duration};

use super::{bit_rate, least_burst, scaled};
use crate::congestion::model::Demands;

/// The pace stays a little below the estimate, so that no queue builds up.
pub const MARGIN: f64 = 0.99;

/// The pacing rate and its source.
#[derive(Clone, Debug)]
pub struct Pace {
    /// In bytes a second.
    pub(super) rate: u64,
    /// Whether a round trip has set it, in place of a nominal millisecond.
    pub(super) by_rtt: bool,
}

impl Pace {
    /// `gain` windows of `cwnd` bytes per millisecond.
    pub fn new(cwnd: u64, gain: f64) -> Self {
        Self {
            rate: scaled(cwnd * 1000, gain),
            by_rtt: false,
        }
    }

    /// The pacing rate.
    pub const fn get(&self) -> BitRate {
        bit_rate(self.rate)
    }

    /// The demands on the sender.
    #[inline]
    pub fn demands(&self, is_probing_rtt: bool) -> Demands {
        Demands {
            pacing_rate: self.get(),
            least_burst: least_burst(self.get()),
            is_probing_rtt,
        }
    }

    /// The first round trip, `srtt`, sets it to `gain` windows of `cwnd` bytes in that time; later
    /// ones do not.
    #[inline]
    pub fn on_rtt(&mut self, cwnd: u64, srtt: Duration, gain: f64) {
        if self.by_rtt || srtt == Duration::ZERO {
            return;
        }
        self.by_rtt = true;
        let rate = u128::from(cwnd) * 1_000_000_000 / u128::from(srtt.as_nanos());
        self.rate = scaled(u64::try_from(rate).unwrap_or(u64::MAX), gain);
    }

    /// `gain` times the `bandwidth` in bytes a second. Before the pipe is `full` it only rises.
    #[inline]
    pub fn follow(&mut self, bandwidth: u64, gain: f64, full: bool) {
        let rate = scaled(bandwidth, gain * MARGIN);
        if full || rate > self.rate {
            self.rate = rate.max(1);
        }
    }

    /// The `bandwidth` itself, after a pause that the application made.
    pub fn resume(&mut self, bandwidth: u64) {
        self.rate = scaled(bandwidth, MARGIN).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `bbr_set_pacing_rate`; draft §5.6.2: a hundredth below the rate, and before the pipe is full
    /// the pace only rises.
    #[test]
    fn the_pace_falls_only_when_the_pipe_is_full() {
        let pace = |full, rate| {
            let mut pace = Pace { rate, by_rtt: true };
            pace.follow(1_000_000, 1.0, full);
            pace.rate
        };
        assert_eq!(pace(false, 2_000_000), 2_000_000);
        assert_eq!(pace(true, 2_000_000), 990_000);
        assert_eq!(pace(false, 500_000), 990_000);
    }

    /// Ten segments of 1000 bytes in 100 ms; without a round trip the first pace stays.
    #[test]
    fn the_first_round_trip_sets_the_pace_once() {
        let mut pace = Pace::new(10_000, 2.0);
        assert_eq!(pace.rate, 20_000_000, "in a nominal millisecond");
        pace.on_rtt(10_000, Duration::ZERO, 2.0);
        assert_eq!((pace.rate, pace.by_rtt), (20_000_000, false));
        for milliseconds in [100, 200] {
            pace.on_rtt(10_000, Duration::from_millis(milliseconds), 2.0);
            assert_eq!((pace.rate, pace.by_rtt), (200_000, true));
        }
    }
}
