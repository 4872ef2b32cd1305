//! How large the congestion window is.
//!
//! A controller is composed of a slow start and a window rule; what to do about a loss is
//! [`recovery`](crate::recovery)'s. All windows are integers, in bytes.

mod reno;
mod slow_start;

use crate::config::{Config, WindowGrowth};
use reno::Reno;

/// The congestion window and the slow-start threshold, and the rules that move them.
#[derive(Clone, Debug)]
pub struct Congestion {
    mss: u64,
    cwnd: u64,
    ssthresh: u64,
    max_window: u64,
    growth: WindowGrowth,
    slow_start_limit: u64,
    avoidance: Reno,
}

impl Congestion {
    /// The windows at the start of a connection whose segments carry `mss` bytes.
    #[must_use]
    pub fn new(config: &Config, mss: u64) -> Self {
        let max_window = config
            .max_window
            .map_or(u64::MAX, |segments| u64::from(segments.max(1)) * mss);
        Self {
            mss,
            cwnd: (u64::from(config.initial_window.max(1)) * mss).min(max_window),
            ssthresh: config.initial_ssthresh.unwrap_or(u64::MAX),
            max_window,
            growth: config.window_growth,
            slow_start_limit: u64::from(config.slow_start_limit) * mss,
            avoidance: Reno::default(),
        }
    }

    /// The congestion window in bytes, at least one segment.
    #[inline]
    #[must_use]
    pub const fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// The slow-start threshold in bytes; `u64::MAX` before the first loss.
    #[inline]
    #[must_use]
    pub const fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    /// Whether the window is below the slow-start threshold (RFC 5681 §3.1).
    #[inline]
    #[must_use]
    pub const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// An acknowledgment covered `acked` new bytes while the window was the limit.
    /// `after_timeout`: the data acknowledged may have left before a timeout, so that slow start
    /// opens by one segment at most (RFC 3465 §2.3).
    #[inline]
    pub fn on_acknowledged(&mut self, acked: u64, after_timeout: bool) {
        let mut credit = match self.growth {
            WindowGrowth::Bytes => acked,
            WindowGrowth::Acknowledgments => self.mss,
        };
        if self.in_slow_start() {
            let limit = if after_timeout {
                self.mss
            } else {
                self.slow_start_limit
            };
            let used = slow_start::increase(credit, limit, self.ssthresh - self.cwnd);
            self.cwnd += used;
            // RFC 3465 §2.3 caps what one acknowledgment may add; only what is left when slow
            // start has just ended counts towards congestion avoidance.
            credit = if self.in_slow_start() {
                0
            } else {
                credit.min(limit) - used
            };
        }
        if credit > 0 {
            self.cwnd += match self.growth {
                WindowGrowth::Bytes => self.avoidance.by_bytes(credit, self.cwnd, self.mss),
                WindowGrowth::Acknowledgments => Reno::by_acknowledgment(self.cwnd, self.mss),
            };
        }
        self.cwnd = self.cwnd.min(self.max_window);
    }

    /// A loss was found by duplicate acknowledgments or SACK while `flight_size` bytes were
    /// outstanding: the window halves (RFC 5681 §3.2, eq. 4).
    pub fn on_loss(&mut self, flight_size: u64) {
        self.ssthresh = self.halved(flight_size);
        self.cwnd = self.ssthresh.min(self.max_window);
        self.avoidance = Reno::default();
    }

    /// The retransmission timer expired. `first` tells the first expiry for this segment: at later
    /// ones ssthresh stays (RFC 5681 §3.1).
    pub fn on_timeout(&mut self, flight_size: u64, first: bool) {
        if first {
            self.ssthresh = self.halved(flight_size);
        }
        self.cwnd = self.mss;
        self.avoidance = Reno::default();
    }

    /// Sets the window to one segment, for a slow start after a loss (Tahoe).
    pub fn restart(&mut self) {
        self.cwnd = self.mss;
    }

    /// Bounds the window from above, at the end of a recovery (RFC 6582 §3.2 step 3).
    pub fn bound(&mut self, limit: u64) {
        self.cwnd = self.cwnd.min(limit.max(self.mss));
    }

    /// Half of what is in flight, in whole segments: a part of one sends nothing, and the stacks
    /// compared with (Linux, ns-2) count their windows in segments.
    fn halved(&self, flight_size: u64) -> u64 {
        let half = flight_size / (2 * self.mss) * self.mss;
        half.max(2 * self.mss)
    }
}

#[cfg(test)]
mod tests;
