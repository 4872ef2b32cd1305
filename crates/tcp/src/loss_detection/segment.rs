//! One outstanding segment, its state, and the sums over all of them.

use core::ops::Range;

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
    /// Time of its last transmission.
    pub sent_at: Instant,
    /// Bytes of the stream it covers, a FIN counted as one.
    pub length: u32,
    /// Number of transmissions; after 255 it wraps to 2.
    pub transmissions: u8,
    /// Number of its timer's expiries, up to 31.
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

    /// Stream offset after its last byte.
    #[inline]
    #[must_use]
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.length)
    }

    /// Its stream offsets.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.start..self.end()
    }

    /// Whether it was SACKed.
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

/// An outstanding segment as stored: compact, so that very many senders fit in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub sent_at: Instant,
    /// The low bits of its first byte's offset. The outstanding data is far less than 2^32 bytes,
    /// as no window is larger than 1 GiB (RFC 7323 §2.3).
    start: u32,
    /// A packet is no longer than 64 KiB, and a header is longer than a FIN.
    pub length: u16,
    pub transmissions: u8,
    /// Its flags in the low bits, the number of its timer's expiries in the others.
    state: u8,
}

/// Number of flag bits in [`Record`]'s state.
const FLAG_BITS: u32 = 3;
const FLAGS: u8 = (1 << FLAG_BITS) - 1;
const MAX_EXPIRIES: u8 = u8::MAX >> FLAG_BITS;

impl Record {
    /// Creates the record of `segment`, which was sent for the first time.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the low bits; a segment is at most 64 KiB"
    )]
    pub const fn new(segment: &SentSegment) -> Self {
        Self {
            sent_at: segment.sent_at,
            start: segment.start as u32,
            length: segment.length as u16,
            transmissions: segment.transmissions,
            state: segment.flags,
        }
    }

    /// Stream offset of its first byte, at or after `una`.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the low bits")]
    pub const fn start(&self, una: u64) -> u64 {
        una + self.start.wrapping_sub(una as u32) as u64
    }

    /// Stream offset after its last byte.
    #[inline]
    pub const fn end(&self, una: u64) -> u64 {
        self.start(una) + self.length as u64
    }

    /// The segment in full.
    #[inline]
    pub const fn segment(&self, una: u64) -> SentSegment {
        SentSegment {
            start: self.start(una),
            sent_at: self.sent_at,
            length: self.length as u32,
            transmissions: self.transmissions,
            expiries: self.expiries(),
            flags: self.flags(),
        }
    }

    #[inline]
    pub const fn flags(&self) -> u8 {
        self.state & FLAGS
    }

    #[inline]
    pub const fn is_sacked(&self) -> bool {
        self.state & SACKED != 0
    }

    #[inline]
    pub const fn expiries(&self) -> u8 {
        self.state >> FLAG_BITS
    }

    /// Removes its first `bytes`, now acknowledged, but not all of it.
    pub const fn cut_front(&mut self, bytes: u16) {
        self.start = self.start.wrapping_add(bytes as u32);
        self.length -= bytes;
    }

    /// Keeps its first `bytes`, and returns the rest.
    pub const fn split_off(&mut self, bytes: u16) -> Self {
        let mut rest = *self;
        rest.cut_front(bytes);
        self.length = bytes;
        rest
    }

    /// Records that it is retransmitted at `now`.
    pub const fn on_resent(&mut self, now: Instant) {
        self.sent_at = now;
        // Remembers that it was sent more than once.
        self.transmissions = match self.transmissions {
            u8::MAX => 2,
            some => some + 1,
        };
    }

    /// Counts an expiry of its timer; returns the number of earlier ones.
    pub const fn on_expiry(&mut self) -> u8 {
        let before = self.expiries();
        if before < MAX_EXPIRIES {
            self.state += 1 << FLAG_BITS;
        }
        before
    }

    #[inline]
    const fn set_flags(&mut self, flags: u8) {
        self.state = self.state & !FLAGS | flags;
    }
}

/// Bytes of the outstanding segments by state: less than 2^32 in all, as no window is larger than 1
/// GiB (RFC 7323 §2.3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub sacked: u32,
    pub lost: u32,
    pub resent: u32,
    pub awaiting_repair: u32,
}

impl Sums {
    /// Adds `bytes` of a segment with `flags`.
    fn add(&mut self, flags: u8, bytes: u32) {
        self.sacked += if flags & SACKED != 0 { bytes } else { 0 };
        self.lost += if flags & LOST != 0 { bytes } else { 0 };
        self.resent += if flags & RESENT != 0 { bytes } else { 0 };
        self.awaiting_repair += if awaits_repair(flags) { bytes } else { 0 };
    }

    /// Removes `bytes` of a segment with `flags`.
    pub fn remove(&mut self, flags: u8, bytes: u32) {
        self.sacked -= if flags & SACKED != 0 { bytes } else { 0 };
        self.lost -= if flags & LOST != 0 { bytes } else { 0 };
        self.resent -= if flags & RESENT != 0 { bytes } else { 0 };
        self.awaiting_repair -= if awaits_repair(flags) { bytes } else { 0 };
    }

    /// Changes the flags of `record`.
    #[inline]
    pub fn change(&mut self, record: &mut Record, flags: u8) {
        let bytes = u32::from(record.length);
        let before = record.flags();
        record.set_flags(flags);
        if before == 0 && flags == SACKED {
            // A segment without flags is SACKed: by far the most frequent change.
            self.sacked += bytes;
            return;
        }
        self.remove(before, bytes);
        self.add(flags, bytes);
    }
}

/// Whether a segment with these flags is lost and was not retransmitted since.
pub(super) const fn awaits_repair(flags: u8) -> bool {
    flags == LOST
}
