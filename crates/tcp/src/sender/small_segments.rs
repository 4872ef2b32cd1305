//! Small segments that wait for more (RFC 9293 §3.7.4 and §3.8.6.2.1).

/// Nagle's algorithm as modified by Minshall, and the application's wish to wait for full segments.
#[derive(Clone, Debug)]
pub(super) struct SmallSegments {
    nagle: bool,
    corked: bool,
    /// The application has said that more follows what it wrote last.
    more: bool,
    /// The next small segment leaves though it should wait: it has waited for long enough.
    released: bool,
    /// End of the last segment sent that was not full.
    sent_end: u64,
}

impl SmallSegments {
    /// `nagle`: a small segment waits while another is not acknowledged.
    pub const fn new(nagle: bool) -> Self {
        Self {
            nagle,
            corked: false,
            more: false,
            released: false,
            sent_end: 0,
        }
    }

    /// Whether small segments leave at once (TCP_NODELAY), also those that wait for more (Linux,
    /// `__tcp_sock_set_nodelay`).
    pub const fn set_no_delay(&mut self, no_delay: bool) {
        self.nagle = !no_delay;
        self.more &= !no_delay;
    }

    /// Whether no segment leaves that is not full (TCP_CORK).
    pub const fn set_corked(&mut self, corked: bool) {
        self.corked = corked;
    }

    /// Whether what is written waits for more, until an acknowledgment comes (MSG_MORE).
    pub const fn set_more(&mut self, more: bool) {
        self.more = more;
    }

    /// An acknowledgment came: what waits for more leaves with it (Linux, `tcp_data_snd_check`,
    /// which knows of TCP_CORK and not of MSG_MORE).
    #[inline]
    pub const fn on_acknowledgment(&mut self) {
        self.more = false;
    }

    /// What is held back has waited for long enough.
    pub const fn release_once(&mut self) {
        self.released = true;
    }

    /// Whether the last bytes written, up to `end` and less than a segment, may leave while `una`
    /// is the first byte not acknowledged.
    #[inline]
    pub const fn may_leave(&mut self, end: u64, una: u64) -> bool {
        let held = self.corked || self.more;
        if !(self.nagle || held) {
            return true;
        }
        // Minshall: only behind another small segment.
        let waits = held || self.sent_end > una;
        if waits && !std::mem::replace(&mut self.released, false) {
            return false;
        }
        self.sent_end = end;
        true
    }

    /// Whether `bytes` may leave, less than a segment and all that the peer's window has room for,
    /// though more is written: half of the largest window it ever offered is enough (RFC 9293
    /// §3.8.6.2.1, F_s = 1/2).
    #[inline]
    pub const fn may_fill_window(&mut self, bytes: u64, largest_window: u64) -> bool {
        bytes >= largest_window / 2 || std::mem::replace(&mut self.released, false)
    }
}
