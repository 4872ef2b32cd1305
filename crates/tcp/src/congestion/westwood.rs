//! Westwood+ (Grieco & Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and
//! Vegas TCP congestion control", CCR 34(2), 2004), as Linux has it (`net/ipv4/tcp_westwood.c`):
//! Reno until a loss is repaired; then the window is the one that the measured bandwidth fills at
//! the minimum round trip. One bandwidth sample per round trip, filtered twice.

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
    /// Bytes of the sample being built.
    delivered: u64,
    /// First unacknowledged byte.
    una: u64,
    /// Bytes counted for duplicate acknowledgments, to be subtracted once they are acknowledged.
    accounted: u64,
    once_filtered: Option<u64>,
    estimate: u64,
    rtt: Option<Duration>,
    minimum_rtt: Option<Duration>,
}

impl Start for Westwood {
    fn start(_config: &Config, _windows: &Windows) -> Self {
        Self::default()
    }
}

impl Westwood {
    /// Bytes that an acknowledgment up to `una` means: a duplicate a segment, which the
    /// acknowledgment of that segment does not count again (`westwood_acked_count`).
    fn count(&mut self, una: u64, mss: u64) -> u64 {
        let advanced = una - self.una;
        self.una = una;
        if advanced == 0 {
            self.accounted += mss;
            return mss;
        }
        if advanced <= mss {
            return advanced;
        }
        if self.accounted >= advanced {
            self.accounted -= advanced;
            return mss;
        }
        advanced - core::mem::take(&mut self.accounted)
    }

    /// Ends the sample, which took `span`.
    fn take_sample(&mut self, span: Duration) {
        let bytes = u128::from(core::mem::take(&mut self.delivered));
        let sample = bytes * 1_000_000_000 / u128::from(span.as_nanos());
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
    }

    /// BWE × RTTmin in whole segments, at least two.
    fn filled(&self, windows: &Windows) -> u64 {
        let minimum = self.minimum_rtt.unwrap_or(Duration::ZERO);
        let bytes = u128::from(self.estimate) * u128::from(minimum.as_nanos());
        let bytes = u64::try_from(bytes / 1_000_000_000).unwrap_or(u64::MAX);
        (bytes / windows.mss * windows.mss).max(2 * windows.mss)
    }
}

impl Rule for Westwood {
    fn observe(&mut self, ack: &Ack, windows: &mut Windows) {
        match (self.began, self.rtt) {
            // The sample begins with the transmission, and its data counts as a duplicate's.
            (None, _) => {
                let rtt = ack.rtt.unwrap_or(Duration::ZERO);
                let sent = ack.now.as_nanos().saturating_sub(rtt.as_nanos());
                (self.began, self.una) = (Some(Instant::from_nanos(sent)), ack.una);
            }
            (Some(began), Some(rtt)) if ack.now - began > MIN_SAMPLE.max(rtt) => {
                self.take_sample(ack.now - began);
                self.began = Some(ack.now);
            }
            _ => {}
        }
        self.delivered += self.count(ack.una, windows.mss);
        self.rtt = ack.rtt.or(self.rtt);
        self.minimum_rtt = match (self.minimum_rtt, self.rtt) {
            (Some(least), Some(rtt)) => Some(least.min(rtt)),
            (least, rtt) => least.or(rtt),
        };
    }

    fn grow(&mut self, acked: u64, windows: &Windows) -> u64 {
        self.reno.grow(acked, windows)
    }

    fn threshold(&mut self, base: u64, windows: &Windows) -> u64 {
        self.reno.threshold(base, windows)
    }

    /// The minimum round trip is measured again: the path may have changed (`reset_rtt_min`).
    fn on_given_up(&mut self, windows: &mut Windows) {
        windows.ssthresh = self.filled(windows);
        self.minimum_rtt = None;
    }

    fn on_reduction_over(&mut self, windows: &mut Windows) {
        windows.ssthresh = self.filled(windows);
        windows.settle();
    }
}

/// A low-pass filter with gain 1/8.
const fn filtered(before: u64, sample: u64) -> u64 {
    (before - before / 8) + sample / 8
}
