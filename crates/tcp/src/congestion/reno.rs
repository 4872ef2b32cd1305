//! Congestion avoidance by RFC 5681 §3.1: about one more segment for each window acknowledged.

use super::rule::{Rule, Start};
use super::windows::Windows;
use crate::config::Config;

/// The window rule, and the bytes acknowledged since the window last grew.
#[derive(Clone, Debug, Default)]
pub struct Reno {
    acked: u64,
}

impl Reno {
    /// Returns by how many bytes a window of `cwnd` grows when `credit` more bytes are
    /// acknowledged: one segment for each full window (RFC 3465 §2.1).
    #[inline]
    pub const fn by_bytes(&mut self, credit: u64, cwnd: u64, mss: u64) -> u64 {
        self.acked += credit;
        if self.acked < cwnd {
            return 0;
        }
        self.acked -= cwnd;
        mss
    }

    /// Returns by how many bytes, at least one, a window of `cwnd` grows at an acknowledgment,
    /// whatever it covers (RFC 5681 §3.1, eq. 3).
    #[inline]
    pub const fn by_acknowledgment(cwnd: u64, mss: u64) -> u64 {
        let step = mss * mss / cwnd;
        if step > 0 { step } else { 1 }
    }
}

impl Start for Reno {
    fn start(_config: &Config, _windows: &Windows) -> Self {
        Self::default()
    }
}

impl Rule for Reno {
    #[inline]
    fn grow(&mut self, acked: u64, windows: &Windows) -> u64 {
        self.by_bytes(acked, windows.cwnd, windows.mss)
    }

    /// Half of the data in flight, in whole segments: a fraction of one sends nothing, and the
    /// stacks compared with (Linux, ns-2) count their windows in segments (RFC 5681 §3.1, eq. 4).
    fn threshold(&mut self, base: u64, windows: &Windows) -> u64 {
        *self = Self::default();
        let half = base / (2 * windows.mss) * windows.mss;
        half.max(2 * windows.mss)
    }

    fn on_timeout(&mut self) {
        *self = Self::default();
    }
}
