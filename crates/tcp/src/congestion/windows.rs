//! The two windows that every controller moves.

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
