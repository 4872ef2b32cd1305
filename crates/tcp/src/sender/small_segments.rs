//! Small segments that wait for more (RFC 9293 §3.7.4 and §3.8.6.2.1).

/// Nagle's algorithm as modified by Minshall, and the application's requests to wait for full
/// segments.
#[derive(Clone, Debug)]
pub(super) struct SmallSegments {
    nagle: bool,
    corked: bool,
    /// Whether the application has announced more data after its last write.
    more: bool,
    /// Whether a record is written after the data that the sender knows of.
    followed: bool,
    /// Whether the next small segment may leave because it has waited long enough.
    released: bool,
    /// End of the last segment sent that was not full.
    sent_end: u64,
}

impl SmallSegments {
    /// `nagle`: a small segment waits while another is unacknowledged.
    pub const fn new(nagle: bool) -> Self {
        Self {
            nagle,
            corked: false,
            more: false,
            followed: false,
            released: false,
            sent_end: 0,
        }
    }

    /// Sets whether small segments leave at once (TCP_NODELAY), including segments already held
    /// back (Linux, `__tcp_sock_set_nodelay`).
    pub const fn set_no_delay(&mut self, no_delay: bool) {
        self.nagle = !no_delay;
        self.more &= !no_delay;
    }

    /// Sets whether only full segments may leave (TCP_CORK).
    pub const fn set_corked(&mut self, corked: bool) {
        self.corked = corked;
    }

    /// Sets whether written data waits for more, until an acknowledgment arrives (MSG_MORE).
    pub const fn set_more(&mut self, more: bool) {
        self.more = more;
    }

    /// Whether a record is written after the last bytes, which then need not wait (Linux,
    /// `tcp_write_xmit`: a segment that is not the last of the queue is pushed).
    pub const fn set_followed(&mut self, followed: bool) {
        self.followed = followed;
    }

    /// Handles an acknowledgment: data that waits for more leaves with it (Linux,
    /// `tcp_data_snd_check`, which knows of TCP_CORK and not of MSG_MORE).
    #[inline]
    pub const fn on_acknowledgment(&mut self) {
        self.more = false;
    }

    /// Releases data that has been held back long enough.
    pub const fn release_once(&mut self) {
        self.released = true;
    }

    /// Whether the last bytes written, up to `end` and less than a segment, may leave while `una`
    /// is the first unacknowledged byte.
    #[inline]
    pub const fn may_leave(&mut self, end: u64, una: u64) -> bool {
        let held = self.corked || self.more;
        if !(self.nagle || held) {
            return true;
        }
        // Minshall: only while another small segment is unacknowledged.
        let waits = (held || self.sent_end > una) && !self.followed;
        if waits && !core::mem::replace(&mut self.released, false) {
            return false;
        }
        self.sent_end = end;
        true
    }

    /// Whether `bytes` may leave, less than a segment and all that fits into the peer's window,
    /// though more is written: half of the largest window it ever offered is enough (RFC 9293
    /// §3.8.6.2.1, F_s = 1/2).
    #[inline]
    pub const fn may_fill_window(&mut self, bytes: u64, largest_window: u64) -> bool {
        bytes >= largest_window / 2 || core::mem::replace(&mut self.released, false)
    }
}
