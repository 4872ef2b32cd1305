//! Congestion avoidance as of RFC 5681 §3.1 with byte counting (RFC 3465 §2.1): one segment more
//! for each window acknowledged.

/// Bytes acknowledged since the window last grew.
#[derive(Clone, Debug, Default)]
pub struct Reno {
    acked: u64,
}

impl Reno {
    /// How many bytes a window of `cwnd` grows by when `credit` more bytes are acknowledged.
    #[inline]
    pub fn increase(&mut self, credit: u64, cwnd: u64, mss: u64) -> u64 {
        self.acked += credit;
        if self.acked < cwnd {
            return 0;
        }
        self.acked -= cwnd;
        mss
    }
}
