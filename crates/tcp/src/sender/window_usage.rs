//! Whether the congestion window held the sender back, so that an acknowledgment may let it grow
//! (RFC 7661; Linux, `tcp_cwnd_validate` and `tcp_is_cwnd_limited`).

use airtcp_units::{Duration, Instant};

/// The use of the window in the current round trip, in bytes.
#[derive(Clone, Debug, Default)]
pub struct WindowUsage {
    limited: bool,
    most: u64,
    /// The round trip ends when this offset is acknowledged.
    ends: u64,
    /// Maximum number of bytes used since the window was last the limit, and the time of that.
    used: u64,
    limited_at: Instant,
}

/// The sender's state after sending, or after finding that it may not.
#[derive(Clone, Copy, Debug)]
pub struct SendState {
    pub now: Instant,
    pub una: u64,
    pub nxt: u64,
    pub outstanding: u64,
    /// Whether the congestion window allows no further segment.
    pub limited: bool,
}

impl WindowUsage {
    /// Records the sender's state.
    #[inline]
    pub fn note(&mut self, standing: &SendState) {
        let newer = standing.una >= self.ends;
        if newer || standing.limited || (!self.limited && standing.outstanding > self.most) {
            self.limited = standing.limited;
            self.most = standing.outstanding;
            self.ends = standing.nxt;
        }
    }

    /// Most bytes outstanding, and whether the window was the limit.
    pub const fn last_round(&self) -> (u64, bool) {
        (self.most, self.limited)
    }

    /// Whether a window of `cwnd` may grow: it was the limit, or in slow start half of it was used.
    #[inline]
    pub const fn is_used(&self, cwnd: u64, in_slow_start: bool) -> bool {
        self.limited || (in_slow_start && cwnd < 2 * self.most)
    }

    /// For a window that decays when it is not used for an RTO: the bytes used of it, once that
    /// much time has passed (RFC 2861 §3).
    pub fn unused_for(&mut self, standing: &SendState, used: bool, rto: Duration) -> Option<u64> {
        if used {
            self.used = 0;
            self.limited_at = standing.now;
            return None;
        }
        self.used = self.used.max(standing.outstanding);
        if standing.now - self.limited_at < rto {
            return None;
        }
        self.limited_at = standing.now;
        Some(core::mem::take(&mut self.used))
    }
}
