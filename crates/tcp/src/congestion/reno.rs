//! Congestion avoidance as of RFC 5681 §3.1: about one segment more for each window acknowledged.

/// The window rule, and the bytes acknowledged since the window last grew.
#[derive(Clone, Debug, Default)]
pub struct Reno {
    acked: u64,
}

impl Reno {
    /// How many bytes a window of `cwnd` grows by when `credit` more bytes are acknowledged: one
    /// segment for each full window (RFC 3465 §2.1).
    #[inline]
    pub const fn by_bytes(&mut self, credit: u64, cwnd: u64, mss: u64) -> u64 {
        self.acked += credit;
        if self.acked < cwnd {
            return 0;
        }
        self.acked -= cwnd;
        mss
    }

    /// How many bytes a window of `cwnd` grows by at an acknowledgment, whatever it covers
    /// (RFC 5681 §3.1, eq. 3), but at least one.
    #[inline]
    pub const fn by_acknowledgment(cwnd: u64, mss: u64) -> u64 {
        let step = mss * mss / cwnd;
        if step > 0 { step } else { 1 }
    }
}
