//! Bytes outside the core: the stream offsets that a segment carries, in and out.
//!
//! The core moves ranges of offsets. A caller that moves bytes keeps them alongside: the bytes that
//! an [`Observer`] sees accepted, and the payload of a polled segment.

use core::ops::Range;

use airtcp_packet::{Flags, Segment, SequenceNumber};
use airtcp_units::Instant;

use super::Connection;
use crate::observer::{Accepted, Observer};

impl Connection {
    /// The stream offsets that `segment` carries, which [`poll`](Self::poll) has just returned: the
    /// bytes to append to its header.
    #[must_use]
    pub fn payload_of(&self, segment: &Segment) -> Range<u64> {
        // The data of a SYN follows it (RFC 9293 §3.4).
        let start = if segment.flags.contains(Flags::SYN) {
            0
        } else {
            self.sent_offset(segment.sequence)
        };
        start..start + u64::from(segment.payload_bytes)
    }

    /// Reports the part of a payload at `range`, cut to the window, that is about to be accepted.
    #[inline]
    pub(super) fn tell_accepted(&self, range: Range<u64>, observer: &mut impl Observer) {
        let first = range.start.max(self.receiver.next_expected());
        let last = self.receiver.end().unwrap_or(u64::MAX).min(range.end);
        if first < last {
            #[expect(clippy::cast_possible_truncation, reason = "within a payload")]
            let skipped = (first - range.start) as usize;
            observer.accepted(Accepted {
                range: first..last,
                skipped,
            });
        }
    }

    /// First byte that the peer has not acknowledged.
    #[inline]
    #[must_use]
    pub fn acknowledged(&self) -> u64 {
        self.sender.una()
    }

    /// Largest payload of a segment, in bytes, as agreed on in the handshake.
    #[inline]
    #[must_use]
    pub const fn segment_payload(&self) -> u32 {
        self.sender.agreed_payload()
    }

    /// The sequence number of the next byte to be sent for the first time (SND.NXT).
    #[must_use]
    pub fn next_sequence(&self) -> SequenceNumber {
        self.sequence(self.sender.nxt())
    }

    /// The sequence number of the next byte expected (RCV.NXT).
    #[must_use]
    pub const fn expected_sequence(&self) -> SequenceNumber {
        super::at(self.irs, self.receiver.next_expected())
    }

    /// The peer's timestamp to echo (RFC 7323 §4.3, TS.Recent); `None` if timestamps are not in
    /// use.
    #[must_use]
    pub const fn recent_timestamp(&self) -> Option<u32> {
        self.timestamps.recent()
    }

    /// The timestamp for a segment sent at `now`, whether or not timestamps are in use.
    #[must_use]
    pub fn timestamp(&self, now: Instant) -> u32 {
        self.clock().value(now)
    }

    /// Makes an acknowledgment due at once: for a driver that has merged several of the peer's
    /// segments into one.
    pub const fn demand_acknowledgment(&mut self) {
        self.receiver.demand_acknowledgment();
    }
}
