//! One outstanding segment, what is known of it, and the sums over all of them.

use std::ops::Range;

use airtcp_units::Instant;

/// The receiver holds it (RFC 2018).
pub(super) const SACKED: u8 = 1;
/// Presumed lost, and not counted in flight.
pub(super) const LOST: u8 = 2;
/// Retransmitted since it was presumed lost, or by RFC 6675 §4 rule 3 or 4: one copy is in flight.
pub(super) const RESENT: u8 = 4;

/// One outstanding segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentSegment {
    /// Stream offset of its first byte.
    pub start: u64,
    /// When it was last sent.
    pub sent_at: Instant,
    /// Bytes of the stream it covers, a FIN counted as one.
    pub length: u32,
    /// How often it was sent.
    pub transmissions: u16,
    /// How often its timer expired.
    pub expiries: u8,
    pub(super) flags: u8,
}

impl SentSegment {
    /// A segment just sent for the first time.
    #[inline]
    #[must_use]
    pub const fn new(range: &Range<u64>, sent_at: Instant) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a segment is at most 64 KiB"
        )]
        let length = (range.end - range.start) as u32;
        Self {
            start: range.start,
            sent_at,
            length,
            transmissions: 1,
            expiries: 0,
            flags: 0,
        }
    }

    /// Stream offset behind its last byte.
    #[inline]
    #[must_use]
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.length)
    }

    /// The offsets it covers.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.start..self.end()
    }

    /// Whether the receiver reported it.
    #[must_use]
    pub const fn is_sacked(&self) -> bool {
        self.flags & SACKED != 0
    }

    /// Whether it is presumed lost.
    #[must_use]
    pub const fn is_lost(&self) -> bool {
        self.flags & LOST != 0
    }

    /// Whether it was retransmitted since it was presumed lost.
    #[must_use]
    pub const fn is_resent(&self) -> bool {
        self.flags & RESENT != 0
    }
}

/// Bytes of the outstanding segments by what is known of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub sacked: u64,
    pub lost: u64,
    pub resent: u64,
    pub awaiting_repair: u64,
}

impl Sums {
    /// `bytes` of a segment with `flags` count from now on.
    fn add(&mut self, flags: u8, bytes: u64) {
        self.sacked += if flags & SACKED != 0 { bytes } else { 0 };
        self.lost += if flags & LOST != 0 { bytes } else { 0 };
        self.resent += if flags & RESENT != 0 { bytes } else { 0 };
        self.awaiting_repair += if awaits_repair(flags) { bytes } else { 0 };
    }

    /// `bytes` of a segment with `flags` count no longer.
    pub fn remove(&mut self, flags: u8, bytes: u64) {
        self.sacked -= if flags & SACKED != 0 { bytes } else { 0 };
        self.lost -= if flags & LOST != 0 { bytes } else { 0 };
        self.resent -= if flags & RESENT != 0 { bytes } else { 0 };
        self.awaiting_repair -= if awaits_repair(flags) { bytes } else { 0 };
    }

    /// `segment` has `flags` from now on.
    #[inline]
    pub fn change(&mut self, segment: &mut SentSegment, flags: u8) {
        let bytes = u64::from(segment.length);
        if segment.flags == 0 && flags == SACKED {
            // What nothing was known of is reported: by far the most frequent change.
            self.sacked += bytes;
            segment.flags = flags;
            return;
        }
        self.remove(segment.flags, bytes);
        self.add(flags, bytes);
        segment.flags = flags;
    }
}

/// Whether a segment with these flags is lost and was not retransmitted since.
pub(super) const fn awaits_repair(flags: u8) -> bool {
    flags == LOST
}
