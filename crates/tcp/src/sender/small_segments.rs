//! Small segments that wait for more (RFC 9293 §3.7.4).

/// Nagle's algorithm as modified by Minshall, and the application's wish to wait for full segments.
#[derive(Clone, Debug)]
pub(super) struct SmallSegments {
    nagle: bool,
    corked: bool,
    /// The next small segment leaves though it is corked: it has waited for long enough.
    uncorks: bool,
    /// End of the last segment sent that was not full.
    sent_end: u64,
}

impl SmallSegments {
    /// `nagle`: a small segment waits while another is not acknowledged.
    pub const fn new(nagle: bool) -> Self {
        Self {
            nagle,
            corked: false,
            uncorks: false,
            sent_end: 0,
        }
    }

    /// Whether small segments leave at once (TCP_NODELAY).
    pub const fn set_no_delay(&mut self, no_delay: bool) {
        self.nagle = !no_delay;
    }

    /// Whether no segment leaves that is not full (TCP_CORK).
    pub const fn set_corked(&mut self, corked: bool) {
        self.corked = corked;
    }

    /// Whether no segment leaves that is not full.
    #[inline]
    pub const fn is_corked(&self) -> bool {
        self.corked
    }

    /// What is corked has waited for long enough.
    pub const fn uncork_once(&mut self) {
        self.uncorks = true;
    }

    /// Whether the last bytes written, up to `end` and less than a segment, may leave while `una` is
    /// the first byte not acknowledged.
    #[inline]
    pub const fn may_leave(&mut self, end: u64, una: u64) -> bool {
        if !(self.nagle || self.corked) {
            return true;
        }
        // Minshall: only behind another small segment.
        let waits = self.corked || self.sent_end > una;
        if waits && !std::mem::replace(&mut self.uncorks, false) {
            return false;
        }
        self.sent_end = end;
        true
    }
}
