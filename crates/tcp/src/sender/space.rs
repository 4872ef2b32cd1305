//! The stream being sent, as offsets: the data acknowledged, sent, written, and allowed by the
//! peer.

/// The sender's position in its stream. A FIN takes the offset after the last byte.
#[derive(Clone, Debug, Default)]
pub(super) struct SendSpace {
    una: u64,
    nxt: u64,
    written: u64,
    closed: bool,
    /// The largest window the peer ever announced, at most 1 GiB (RFC 7323 §2.3).
    largest_window: u32,
    right_edge: u64,
}

/// New data that could be sent next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fresh {
    /// First byte.
    pub start: u64,
    /// The byte after the last, the FIN excluded.
    pub end: u64,
    /// Whether a FIN follows.
    pub fin: bool,
}

impl SendSpace {
    /// First unacknowledged byte.
    #[inline]
    pub const fn una(&self) -> u64 {
        self.una
    }

    /// First byte never sent.
    #[inline]
    pub const fn nxt(&self) -> u64 {
        self.nxt
    }

    /// End of the data written by the application.
    #[inline]
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// Whether a FIN follows the data written.
    #[inline]
    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// First byte beyond the peer's window.
    #[inline]
    pub const fn right_edge(&self) -> u64 {
        self.right_edge
    }

    /// The largest window the peer ever announced.
    #[inline]
    pub const fn largest_window(&self) -> u64 {
        self.largest_window as u64
    }

    /// Whether everything, the FIN included, is acknowledged.
    #[inline]
    pub const fn is_finished(&self) -> bool {
        self.closed && self.una > self.written
    }

    /// End of the data to send, the FIN included.
    #[inline]
    const fn end(&self) -> u64 {
        self.written + self.closed as u64
    }

    /// Whether everything to send, the FIN included, has been sent.
    #[inline]
    pub const fn is_exhausted(&self) -> bool {
        self.nxt >= self.end()
    }

    /// Whether there is new data for which the peer has room.
    #[inline]
    pub fn has_fresh(&self) -> bool {
        self.nxt < self.end().min(self.right_edge)
    }

    /// Whether there is a full segment of `mss` bytes of new data, and the peer has room for it.
    #[inline]
    pub fn has_full_segment(&self, mss: u64) -> bool {
        self.nxt + mss <= self.written.min(self.right_edge)
    }

    /// Whether there is new data for which the peer has no room.
    #[inline]
    pub const fn is_blocked(&self) -> bool {
        self.nxt < self.end() && self.right_edge <= self.nxt
    }

    /// The next new segment of at most `mss` bytes, within the peer's window.
    #[inline]
    pub fn fresh(&self, mss: u64) -> Fresh {
        let start = self.nxt;
        let end = (start + mss)
            .min(self.written)
            .min(self.right_edge)
            .max(start);
        // A FIN takes a byte of the peer's window too (RFC 9293 §3.4).
        let fin =
            self.closed && end == self.written && start <= self.written && end < self.right_edge;
        Fresh { start, end, fin }
    }

    /// Appends `bytes` to the stream, unless it is closed.
    pub fn write(&mut self, bytes: u64) {
        if !self.closed {
            self.written = self.written.saturating_add(bytes).min(u64::MAX >> 1);
        }
    }

    /// Closes the stream.
    pub const fn close(&mut self) {
        self.closed = true;
    }

    /// Records that everything below `nxt` has been sent.
    #[inline]
    pub const fn on_sent(&mut self, nxt: u64) {
        self.nxt = nxt;
    }

    /// Records that everything below `una` is acknowledged.
    #[inline]
    pub const fn on_acknowledged(&mut self, una: u64) {
        self.una = una;
    }

    /// Records that the peer has everything below `offset`, and room up to `right_edge`.
    #[inline]
    pub fn on_window(&mut self, offset: u64, right_edge: u64) {
        self.right_edge = right_edge;
        let window = u32::try_from(right_edge.saturating_sub(offset)).unwrap_or(u32::MAX);
        self.largest_window = self.largest_window.max(window);
    }
}
