//! Facts about one endpoint gathered without asking it: the bytes of its peer's stream that reached
//! it, the window announced to it, the data it has sent. They rest on the true offsets that each
//! packet carries in addition to its bytes, so that a wrapped number cannot mislead it as it might
//! the endpoint.

use airtcp_packet::{Ecn, Flags, Segment, SequenceNumber};

/// A piece of a stream, a FIN counted as the byte after the last.
pub type Piece = (u64, u64);

#[derive(Clone, Debug)]
pub struct Witness {
    /// Initial sequence numbers: the endpoint's, and its peer's.
    own: SequenceNumber,
    peer: SequenceNumber,
    /// Data that has reached it, in order and disjoint.
    arrived: Vec<Piece>,
    /// The largest shift that a SYN offered it.
    scale: u8,
    /// The highest offset that it was ever allowed to send to, exclusive.
    right_edge: u64,
    /// The largest window announced to it, in bytes (MAX.SND.WND of RFC 5961 §5.2).
    pub largest_window: u64,
    /// The last window announced to it with the highest acknowledgment, in bytes.
    window: u64,
    heard: u64,
    /// The highest offset sent, exclusive, and the highest acknowledged.
    sent_to: u64,
    acknowledged: u64,
    /// The most recent timestamp that reached it, and the one it sent last.
    pub peer_stamp: Option<u32>,
    pub own_stamp: Option<u32>,
    /// Payload bytes it has sent, retransmissions included.
    pub payload_sent: u64,
    /// Whether marked data has reached it.
    marked: bool,
}

impl Witness {
    pub const fn new(own: SequenceNumber, peer: SequenceNumber) -> Self {
        Self {
            own,
            peer,
            arrived: Vec::new(),
            scale: 0,
            right_edge: 0,
            largest_window: 0,
            window: 0,
            heard: 0,
            sent_to: 0,
            acknowledged: 0,
            peer_stamp: None,
            own_stamp: None,
            payload_sent: 0,
            marked: false,
        }
    }

    /// A window field for a segment other than a SYN: the window last announced to it, shifted
    /// right, and never larger: a SYN's window was not scaled (RFC 7323 §2.2), and would be larger
    /// if its field were repeated unchanged.
    pub fn window_field(&self, shift: u32) -> u16 {
        let told = self.window.checked_shr(shift).unwrap_or(0) >> self.scale;
        u16::try_from(told).unwrap_or(u16::MAX)
    }

    /// Number of bytes from the start of the peer's stream that have reached it.
    pub fn prefix(&self) -> u64 {
        match self.arrived.first() {
            Some(&(0, end)) => end,
            _ => 0,
        }
    }

    /// The piece of its stream in a segment that it sends.
    pub fn piece(&self, segment: &Segment) -> Option<Piece> {
        let length = u64::from(segment.sequence_length());
        let carries = length > 0 && !segment.flags.contains(Flags::SYN);
        let start = offset(segment.sequence, self.own, self.sent_to);
        carries.then_some((start, start + length))
    }

    /// Records that a packet with this piece of the peer's stream reaches it.
    pub fn on_arrival(&mut self, segment: &Segment, piece: Option<Piece>) {
        let syn = segment.flags.contains(Flags::SYN);
        if syn {
            self.scale = self.scale.max(segment.window_scale.unwrap_or(0).min(14));
        }
        if let Some(piece) = piece {
            self.add(piece);
            self.marked |= segment.ecn == Ecn::CongestionExperienced;
        }
        if let Some(stamps) = segment.timestamps {
            let older = |known: u32| SequenceNumber(stamps.value).before(SequenceNumber(known));
            if !self.peer_stamp.is_some_and(older) {
                self.peer_stamp = Some(stamps.value);
            }
        }
        if segment.flags.contains(Flags::ACK) && !segment.flags.contains(Flags::RST) {
            let scale = if syn { 0 } else { self.scale };
            let window = u64::from(segment.window) << scale;
            let acknowledged = offset(segment.acknowledgment, self.own, self.sent_to);
            self.largest_window = self.largest_window.max(window);
            if acknowledged <= self.sent_to {
                self.right_edge = self.right_edge.max(acknowledged + window);
                if acknowledged >= self.heard {
                    (self.heard, self.window) = (acknowledged, window);
                }
            }
        }
    }

    /// Checks a segment it is about to send, with ECN if `agreed`: only new data may be marked (RFC
    /// 3168 §6.1.4, §6.1.5 and §6.1.6), and an endpoint that echoes a mark has met one. Where marks
    /// are `counted` the flags are a number. A control that heeds each, as `heeds_each` tells, may
    /// have whatever carries data marked (RFC 9331 §4.1; Linux, `tcp_ca_needs_ecn`).
    pub fn check_marks(&self, segment: &Segment, agreed: bool, counted: bool, heeds_each: bool) {
        let has = |flag| segment.flags.contains(flag);
        if has(Flags::SYN) {
            assert_eq!(segment.ecn, Ecn::NotCapable, "a SYN that may be marked");
            return;
        }
        let speaks = segment.ecn != Ecn::NotCapable || has(Flags::ECE) || has(Flags::CWR);
        assert!(agreed || !speaks, "{segment:?} speaks of marks unasked");
        let start = offset(segment.sequence, self.own, self.sent_to);
        let new = segment.payload_bytes > 0 && start == self.sent_to;
        let has_data = segment.payload_bytes > 0;
        let legal = match segment.ecn {
            Ecn::NotCapable => true,
            Ecn::Capable0 => new || heeds_each && has_data,
            Ecn::Capable1 => (counted || heeds_each) && has_data,
            Ecn::CongestionExperienced => false,
        };
        assert!(legal, "{segment:?} may be marked");
        if counted {
            return;
        }
        assert!(!has(Flags::CWR) || new, "{segment:?} has reduced no window");
        assert!(
            !has(Flags::ECE) || self.marked,
            "{segment:?} echoes nothing"
        );
    }

    fn add(&mut self, (start, end): Piece) {
        let first = self.arrived.partition_point(|piece| piece.1 < start);
        let last = self.arrived.partition_point(|piece| piece.0 <= end);
        let merged = self.arrived[first..last]
            .iter()
            .fold((start, end), |sum, piece| {
                (sum.0.min(piece.0), sum.1.max(piece.1))
            });
        self.arrived.splice(first..last, [merged]);
    }

    /// Checks a segment it sends: within the window announced to it, without a gap, acknowledging
    /// and SACKing only data that arrived, and never moving an acknowledgment back.
    pub fn on_sent(&mut self, segment: &Segment) {
        if let Some(stamps) = segment.timestamps {
            self.own_stamp = Some(stamps.value);
        }
        if segment.flags.contains(Flags::RST) || segment.flags.contains(Flags::SYN) {
            return;
        }
        self.payload_sent += u64::from(segment.payload_bytes);
        if let Some((start, end)) = self.piece(segment) {
            assert!(
                end <= self.right_edge,
                "sent to {end}, allowed to {}",
                self.right_edge
            );
            assert!(
                start <= self.sent_to,
                "a gap before {start} in what is sent"
            );
            self.sent_to = self.sent_to.max(end);
        }
        let prefix = self.prefix();
        let acknowledged = offset(segment.acknowledgment, self.peer, prefix);
        assert!(
            acknowledged <= prefix,
            "{acknowledged} acknowledged, {prefix} arrived"
        );
        assert!(
            acknowledged >= self.acknowledged,
            "an acknowledgment moved back"
        );
        self.acknowledged = acknowledged;
        for block in segment.tail.blocks() {
            let start = offset(block.start, self.peer, prefix);
            let end = offset(block.end, self.peer, prefix);
            let held = |&(from, to): &Piece| from <= start && start < end && end <= to;
            assert!(
                self.arrived.iter().any(held),
                "SACK {start}..{end} did not arrive"
            );
        }
    }
}

/// The stream offset of a sequence number, near another offset.
fn offset(sequence: SequenceNumber, initial: SequenceNumber, near: u64) -> u64 {
    let relative = sequence.0.wrapping_sub(initial.0).wrapping_sub(1);
    SequenceNumber(relative).expand(near)
}
