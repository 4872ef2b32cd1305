//! The stream being sent, as offsets: what is acknowledged, sent, written, and allowed by the peer.

/// Where the sender stands in its stream. A FIN takes the offset behind the last byte.
#[derive(Clone, Debug, Default)]
pub(super) struct SendSpace {
    una: u64,
    nxt: u64,
    written: u64,
    closed: bool,
    /// The most bytes the peer ever had room for, 1 GiB at most (RFC 7323 §2.3).
    largest_window: u32,
    right_edge: u64,
}

/// What could be sent next that never was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fresh {
    /// First byte.
    pub start: u64,
    /// Behind the last byte, the FIN not counted.
    pub end: u64,
    /// Whether a FIN follows.
    pub fin: bool,
}

impl SendSpace {
    /// First byte not acknowledged.
    #[inline]
    pub const fn una(&self) -> u64 {
        self.una
    }

    /// First byte never sent.
    #[inline]
    pub const fn nxt(&self) -> u64 {
        self.nxt
    }

    /// End of what the application has written.
    #[inline]
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// Whether a FIN follows what is written.
    #[inline]
    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// First byte the peer has no room for.
    #[inline]
    pub const fn right_edge(&self) -> u64 {
        self.right_edge
    }

    /// The most bytes the peer ever had room for.
    #[inline]
    pub const fn largest_window(&self) -> u64 {
        self.largest_window as u64
    }

    /// Whether everything, the FIN included, is acknowledged.
    #[inline]
    pub const fn is_finished(&self) -> bool {
        self.closed && self.una > self.written
    }

    /// End of what is to be sent, the FIN included.
    #[inline]
    const fn end(&self) -> u64 {
        self.written + self.closed as u64
    }

    /// Whether everything there is to send, the FIN included, was sent.
    #[inline]
    pub const fn is_exhausted(&self) -> bool {
        self.nxt >= self.end()
    }

    /// Whether something was never sent that the peer has room for.
    #[inline]
    pub fn has_fresh(&self) -> bool {
        self.nxt < self.end().min(self.right_edge)
    }

    /// Whether something was never sent, and the peer has no room for it.
    #[inline]
    pub const fn is_blocked(&self) -> bool {
        self.nxt < self.end() && self.right_edge <= self.nxt
    }

    /// The next segment of at most `mss` bytes that was never sent, as far as the peer has room.
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

    /// Nothing more will be written.
    pub const fn close(&mut self) {
        self.closed = true;
    }

    /// Everything below `nxt` has been sent.
    #[inline]
    pub const fn on_sent(&mut self, nxt: u64) {
        self.nxt = nxt;
    }

    /// Everything below `una` is acknowledged.
    #[inline]
    pub const fn on_acknowledged(&mut self, una: u64) {
        self.una = una;
    }

    /// The peer has everything below `offset`, and room up to `right_edge`.
    #[inline]
    pub fn on_window(&mut self, offset: u64, right_edge: u64) {
        self.right_edge = right_edge;
        let window = u32::try_from(right_edge.saturating_sub(offset)).unwrap_or(u32::MAX);
        self.largest_window = self.largest_window.max(window);
    }
}
