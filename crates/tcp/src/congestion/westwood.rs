//! Westwood+ (Grieco & Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and
//! Vegas TCP congestion control", CCR 34(2), 2004): a loss leaves the window that the measured
//! bandwidth fills at the minimum round trip. One bandwidth sample per round trip, filtered twice,
//! as in Linux.

use airtcp_units::{Duration, Instant};

use super::rule::{Rule, Start};
use super::windows::Windows;
use super::{Ack, reno::Reno};
use crate::config::Config;

/// Least span of a sample (`TCP_WESTWOOD_RTT_MIN`).
const MIN_SAMPLE: Duration = Duration::from_millis(50);

/// The bandwidth estimate, in bytes a second.
#[derive(Clone, Debug, Default)]
pub struct Westwood {
    reno: Reno,
    began: Option<Instant>,
    delivered: u64,
    once_filtered: Option<u64>,
    estimate: u64,
    minimum_rtt: Duration,
}

impl Start for Westwood {
    fn start(_config: &Config, _windows: &Windows) -> Self {
        Self::default()
    }
}

impl Rule for Westwood {
    fn observe(&mut self, ack: &Ack, _windows: &mut Windows) {
        self.minimum_rtt = ack.minimum_rtt;
        let began = *self.began.get_or_insert(ack.now);
        self.delivered += ack.delivered;
        let span = ack.now - began;
        if span <= MIN_SAMPLE.max(ack.srtt) {
            return;
        }
        let sample = u128::from(self.delivered) * 1_000_000_000 / u128::from(span.as_nanos());
        let sample = u64::try_from(sample).unwrap_or(u64::MAX);
        match self.once_filtered {
            // The first sample substitutes for all earlier ones.
            None => (self.once_filtered, self.estimate) = (Some(sample), sample),
            Some(before) => {
                let once = filtered(before, sample);
                self.once_filtered = Some(once);
                self.estimate = filtered(self.estimate, once);
            }
        }
        self.began = Some(ack.now);
        self.delivered = 0;
    }

    fn grow(&mut self, acked: u64, windows: &Windows) -> u64 {
        self.reno.grow(acked, windows)
    }

    fn threshold(&mut self, _base: u64, windows: &Windows) -> u64 {
        self.reno = Reno::default();
        // BWE × RTTmin, at least two segments.
        let bytes = u128::from(self.estimate) * u128::from(self.minimum_rtt.as_nanos());
        let bytes = u64::try_from(bytes / 1_000_000_000).unwrap_or(u64::MAX);
        (bytes / windows.mss * windows.mss).max(2 * windows.mss)
    }
}

/// A low-pass filter with gain 1/8.
const fn filtered(before: u64, sample: u64) -> u64 {
    (before - before / 8) + sample / 8
}
