//! The network's actions, seen from outside: the bytes that reached an endpoint, and the window
//! announced to it.

use airtcp_packet::{Flags, Segment, SequenceNumber};

/// Facts about one endpoint, gathered without asking it.
pub struct Truth {
    /// Initial sequence numbers: the endpoint's, and its peer's.
    own: SequenceNumber,
    peer: SequenceNumber,
    /// Ranges of the peer's stream that reached it, in order and disjoint; a FIN counts as a byte.
    delivered: Vec<(u64, u64)>,
    /// Shifts of the window field in its segments and in its peer's.
    scales: [Option<u8>; 2],
    /// The highest offset it may send to, exclusive, according to the segments that reached it.
    right_edge: u64,
    /// The highest offsets it sent and acknowledged.
    sent_to: u64,
    acknowledged: u64,
}

impl Truth {
    pub fn new(own: SequenceNumber, peer: SequenceNumber) -> Self {
        Self {
            own,
            peer,
            delivered: Vec::new(),
            scales: [None; 2],
            right_edge: 0,
            sent_to: 0,
            acknowledged: 0,
        }
    }

    /// Number of bytes from the start that have reached it.
    pub fn prefix(&self) -> u64 {
        self.delivered
            .first()
            .map_or(0, |&(start, end)| if start == 0 { end } else { 0 })
    }

    fn scale(&self, of_peer: bool) -> u8 {
        match self.scales {
            [Some(_), Some(_)] => self.scales[usize::from(of_peer)].unwrap_or(0),
            _ => 0,
        }
    }

    /// Records that a segment reaches it.
    pub fn on_delivered(&mut self, segment: &Segment) {
        let syn = segment.flags.contains(Flags::SYN);
        if syn {
            self.scales[1] = segment.window_scale;
        }
        let start = offset(segment.sequence, self.peer, self.prefix());
        let fin = u64::from(segment.flags.contains(Flags::FIN));
        let end = start + u64::from(segment.payload_bytes) + fin;
        if !syn && end > start {
            self.deliver(start, end);
        }
        if segment.flags.contains(Flags::ACK) {
            let scale = if syn { 0 } else { self.scale(true) };
            let acknowledged = offset(segment.acknowledgment, self.own, self.sent_to);
            let window = u64::from(segment.window) << scale;
            self.right_edge = self.right_edge.max(acknowledged + window);
        }
    }

    fn deliver(&mut self, start: u64, end: u64) {
        self.delivered.push((start, end));
        self.delivered.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for &(start, end) in &self.delivered {
            match merged.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => merged.push((start, end)),
            }
        }
        self.delivered = merged;
    }

    /// Checks a segment it sends: never beyond the window announced to it, never an acknowledgment
    /// of data that did not arrive or one that moves back, and SACK only of data that arrived.
    pub fn on_sent(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if segment.flags.contains(Flags::SYN) {
            self.scales[0] = segment.window_scale;
            return;
        }
        let start = offset(segment.sequence, self.own, self.sent_to);
        let end = start + u64::from(segment.sequence_length());
        if segment.sequence_length() > 0 {
            assert!(
                end <= self.right_edge,
                "sent to {end}, window {}",
                self.right_edge
            );
            assert!(start <= self.sent_to, "a gap in what is sent");
            self.sent_to = self.sent_to.max(end);
        }
        let acknowledged = offset(segment.acknowledgment, self.peer, self.prefix());
        assert!(
            acknowledged <= self.prefix(),
            "acknowledged what did not arrive"
        );
        assert!(
            acknowledged >= self.acknowledged,
            "an acknowledgment moved back"
        );
        self.acknowledged = acknowledged;
        for block in segment.tail.blocks() {
            let start = offset(block.start, self.peer, self.prefix());
            let end = offset(block.end, self.peer, self.prefix());
            let held = |&(from, to): &(u64, u64)| from <= start && start < end && end <= to;
            assert!(self.delivered.iter().any(held), "SACK {start}..{end}");
        }
    }
}

/// The stream offset of a sequence number, near another offset.
fn offset(sequence: SequenceNumber, initial: SequenceNumber, near: u64) -> u64 {
    let relative = sequence.0.wrapping_sub(initial.0).wrapping_sub(1);
    SequenceNumber(relative).expand(near)
}
