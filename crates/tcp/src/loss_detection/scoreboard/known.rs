//! A SACK block of the last acknowledgment, in half the room: very many senders keep four.

/// A block of the last acknowledgment, as far as it is known; without bytes if there is none. The
/// outstanding data is far less than 2^32 bytes (RFC 7323 §2.3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KnownBlock {
    /// The low half of its first byte's offset.
    start: u32,
    length: u32,
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "low halves, and less than 2^32 bytes"
)]
impl KnownBlock {
    pub const fn new(start: u64, end: u64) -> Self {
        Self {
            start: start as u32,
            length: end.saturating_sub(start) as u32,
        }
    }

    /// Its end, if it contains `offset`.
    #[inline]
    pub const fn end_around(self, offset: u64) -> Option<u64> {
        let into = (offset as u32).wrapping_sub(self.start);
        if into < self.length {
            Some(offset + (self.length - into) as u64)
        } else {
            None
        }
    }
}
