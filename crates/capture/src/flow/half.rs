//! One direction of a flow, as counts from a single pass.

use airtcp_packet::{Flags, Segment, SequenceNumber};
use airtcp_units::Instant;

/// Packets of one end of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Half {
    /// Packets.
    pub packets: u64,
    /// Packets with payload.
    pub data_packets: u64,
    /// Bytes of payload, repeats included.
    pub bytes: u64,
    /// Packets below the highest byte seen: retransmissions and reordered packets.
    pub repeats: u64,
    /// Sequence space up to the highest byte seen, from the first number seen.
    pub span: u64,
    /// Maximum segment size announced by this end.
    pub mss: Option<u16>,
    /// Window scale announced by this end; `None` if its SYN lacks the option, or was cut.
    pub window_scale: Option<u8>,
    /// Whether part of its SYN's options was cut off: the other fields may then be lacking.
    pub is_syn_cut: bool,
    /// Packets after the SYN with options cut off, SACK blocks among them.
    pub cut_options: u64,
    /// Whether this end offered SACK.
    pub sack_permitted: bool,
    /// Whether this end sent a timestamps option at least once.
    pub timestamps: bool,
    /// Time of its first SYN.
    pub syn: Option<Instant>,
    /// Time of its first packet.
    pub first: Instant,
    /// Time of its last packet.
    pub last: Instant,
    /// Whether it sent a FIN or RST.
    pub closed: bool,
    /// Number of times that it closed its receive window.
    pub zero_windows: u64,
    /// ACKs of bytes not seen in the other direction.
    pub acks_of_unseen: u64,
    /// Packets that carried a D-SACK block (RFC 2883).
    pub duplicates_reported: u64,
    /// Packets with a congestion mark in the IP header.
    pub marked: u64,
    /// Whether its last window was zero.
    is_shut: bool,
    /// The first sequence number seen.
    start: SequenceNumber,
    /// One past the highest number seen, relative to `start`.
    end: u64,
    /// The last ACK, relative to the other half's start.
    acknowledged: u64,
}

impl Half {
    /// Whether a packet of this direction was seen.
    #[inline]
    #[must_use]
    pub fn is_seen(&self) -> bool {
        self.packets > 0
    }

    /// The first sequence number seen: the SYN's if there was one.
    #[inline]
    #[must_use]
    pub fn start(&self) -> SequenceNumber {
        self.start
    }

    /// Whether its SYN was captured so far that a window scale option would show.
    #[must_use]
    pub fn has_scale(&self) -> bool {
        self.syn.is_some() && (self.window_scale.is_some() || !self.is_syn_cut)
    }

    /// Counts a packet of this direction; `is_cut`: part of its options is missing; `other` is the
    /// other direction's state.
    #[inline]
    pub fn count(&mut self, segment: &Segment, is_cut: bool, now: Instant, other: &Self) {
        if self.packets == 0 {
            self.first = now;
            self.start = segment.sequence;
        }
        self.packets += 1;
        self.last = now;
        self.marked += u64::from(segment.ecn == airtcp_packet::Ecn::CongestionExperienced);
        self.timestamps |= segment.timestamps.is_some();
        let rare = Flags::SYN.bits() | Flags::FIN.bits() | Flags::RST.bits();
        if segment.flags.bits() & rare != 0 {
            self.count_rare(segment, is_cut, now);
        }
        self.cut_options += u64::from(is_cut && !segment.flags.contains(Flags::SYN));
        self.count_range(segment);
        if segment.flags.contains(Flags::ACK) && other.is_seen() {
            self.count_ack(segment, other);
        }
    }

    #[cold]
    fn count_rare(&mut self, segment: &Segment, is_cut: bool, now: Instant) {
        if segment.flags.contains(Flags::SYN) {
            self.syn = self.syn.or(Some(now));
            self.is_syn_cut = is_cut;
            self.mss = segment.mss;
            self.window_scale = segment.window_scale;
            self.sack_permitted = segment.sack_permitted;
        } else {
            self.closed = true;
        }
    }

    #[inline]
    fn count_range(&mut self, segment: &Segment) {
        let length = u64::from(segment.sequence_length());
        self.data_packets += u64::from(segment.payload_bytes > 0);
        self.bytes += u64::from(segment.payload_bytes);
        if length == 0 {
            return;
        }
        let distance = i64::from(segment.sequence.distance(self.start + self.end as u32));
        let end = self.end.saturating_add_signed(distance) + length;
        if distance >= 0 || end > self.end {
            self.end = end;
            self.span = end;
        } else {
            self.repeats += 1;
        }
    }

    #[inline]
    fn count_ack(&mut self, segment: &Segment, other: &Self) {
        let acknowledgment = segment.acknowledgment;
        let beyond = acknowledgment.distance(other.start + other.end as u32);
        self.acks_of_unseen += u64::from(beyond > 0 && other.end > 0);
        let is_shut = segment.window == 0 && !segment.flags.contains(Flags::RST);
        self.zero_windows += u64::from(is_shut && !self.is_shut);
        self.is_shut = is_shut;
        if let Some(first) = segment.tail.blocks().first() {
            // RFC 2883 §4: the first block lies below the ACK, or within the second block.
            let is_below = first.start.before(acknowledgment);
            let is_within = segment.tail.blocks().get(1).is_some_and(|second| {
                !first.start.before(second.start) && !first.end.after(second.end)
            });
            self.duplicates_reported += u64::from(is_below || is_within);
        }
        let offset = acknowledgment.distance(other.start + self.acknowledged as u32);
        if offset > 0 {
            self.acknowledged += u64::from(offset.unsigned_abs());
        }
    }

    /// Bytes acknowledged by this end, relative to the first number seen in the other direction.
    #[must_use]
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged
    }
}
