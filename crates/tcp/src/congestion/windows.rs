//! The two windows that every controller moves.

use airtcp_units::{BitRate, Duration};

/// The congestion window and the slow-start threshold, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    /// Payload of a full segment.
    pub mss: u64,
    /// The congestion window, at least one segment.
    pub cwnd: u64,
    /// The slow-start threshold; `u64::MAX` before the first loss.
    pub ssthresh: u64,
    /// The congestion window's upper bound.
    pub max: u64,
}

impl Windows {
    /// Whether the window is below the slow-start threshold (RFC 5681 §3.1).
    #[inline]
    pub const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Sets the window to the value that the last loss demands.
    #[inline]
    pub const fn settle(&mut self) {
        self.cwnd = if self.ssthresh < self.max {
            self.ssthresh
        } else {
            self.max
        };
    }

    /// Sets the window to `bytes`, at least one segment and at most the upper bound.
    #[inline]
    pub fn set(&mut self, bytes: u64) {
        self.cwnd = bytes.max(self.mss).min(self.max);
    }

    /// The threshold that preserves an unused window: three quarters of it (RFC 7661 §4.4; Linux,
    /// `tcp_current_ssthresh`).
    pub fn preserving_threshold(&self) -> u64 {
        let segments = self.cwnd / self.mss;
        self.ssthresh
            .max(((segments >> 1) + (segments >> 2)) * self.mss)
    }

    /// `window` bytes per `srtt`, plus room to grow: twice that in slow start, `percent` otherwise
    /// (Linux, `tcp_update_pacing_rate`).
    pub fn rate(&self, window: u64, srtt: Duration, percent: u128) -> BitRate {
        let percent = if self.cwnd < self.ssthresh / 2 {
            200
        } else {
            percent
        };
        let nanos = srtt.as_nanos().max(1);
        let bits = u128::from(window) * 8 * percent / 100;
        let rate = match u64::try_from(bits * 1_000_000_000) {
            // 128-bit divisions are slow, and few windows need them.
            Ok(product) => product / nanos,
            Err(_) => u64::try_from(bits * 1_000_000_000 / u128::from(nanos)).unwrap_or(u64::MAX),
        };
        BitRate::from_bps(rate)
    }

    /// The congestion window in segments, a real number for formulas.
    #[expect(
        clippy::cast_precision_loss,
        reason = "windows are far below 2^53 bytes"
    )]
    pub fn segments(&self) -> f64 {
        self.cwnd as f64 / self.mss as f64
    }

    /// `segments` in bytes, rounded down to whole segments, at least `least` of them. The only
    /// place where a formula's window becomes an integer.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates; no window is negative"
    )]
    pub const fn whole(&self, segments: f64, least: u64) -> u64 {
        let whole = segments as u64;
        let whole = if whole > least { whole } else { least };
        whole.saturating_mul(self.mss)
    }
}
