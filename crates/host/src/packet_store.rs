//! The bytes of packets in flight.
//!
//! A network moves small values; the bytes of a real packet wait here until it arrives. References
//! to them cannot be counted, since an agent may keep a packet to retransmit it. So the slots are
//! used in turn: a packet is lost, and counted, if a later one has taken its slot.

use airtcp_network::Content;
use airtcp_packet::Segment;

/// Identifies a packet's bytes. The default identifies no packet, for packets created by agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticket(u64);

impl Ticket {
    /// The packet's number among all stored ones, from 1; 0 without a packet.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// A packet as parsed.
#[derive(Clone, Debug, Default)]
pub struct ParsedPacket {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its segment, if any: a packet that arrives with another one was changed.
    pub segment: Option<Segment>,
}

/// The most recent packets, one in each slot.
#[derive(Debug)]
pub struct Store {
    places: Vec<ParsedPacket>,
    /// Number of packets stored so far; the first has number 1.
    kept: u64,
}

impl Store {
    /// Creates slots for that many packets in flight; at least one.
    pub fn new(places: usize) -> Self {
        Self {
            places: vec![ParsedPacket::default(); places.max(1)],
            kept: 0,
        }
    }

    /// Stores a copy of `packet` with its parsed `content`.
    pub fn keep(&mut self, packet: &[u8], content: &Content) -> Ticket {
        self.kept += 1;
        let place = self.place(self.kept);
        let kept = &mut self.places[place];
        kept.bytes.clear();
        kept.bytes.extend_from_slice(packet);
        kept.segment = match content {
            Content::Segment(segment) => Some(*segment),
            _ => None,
        };
        Ticket(self.kept)
    }

    /// The packet identified by `ticket`. `None` if it was never stored, or has been overwritten.
    pub fn get(&mut self, ticket: Ticket) -> Option<&mut ParsedPacket> {
        let age = self.kept.checked_sub(ticket.0)?;
        if ticket.0 == 0 || age >= self.places.len() as u64 {
            return None;
        }
        let place = self.place(ticket.0);
        Some(&mut self.places[place])
    }

    fn place(&self, number: u64) -> usize {
        (number % self.places.len() as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(store: &mut Store, ticket: Ticket) -> Option<Vec<u8>> {
        store.get(ticket).map(|kept| kept.bytes.clone())
    }

    #[test]
    fn the_oldest_packet_gives_its_place() {
        let mut store = Store::new(3);
        let other = Content::Other(2);
        let tickets = [1_u8, 2, 3].map(|byte| store.keep(&[byte; 2], &other));
        assert_eq!(bytes(&mut store, tickets[0]), Some(vec![1, 1]));
        let fourth = store.keep(&[4], &other);
        assert_eq!(bytes(&mut store, tickets[0]), None);
        assert_eq!(bytes(&mut store, tickets[1]), Some(vec![2, 2]));
        assert_eq!(bytes(&mut store, fourth), Some(vec![4]));
    }

    #[test]
    fn no_ticket_names_nothing() {
        let mut store = Store::new(2);
        assert!(store.get(Ticket::default()).is_none());
        store.keep(&[1], &Content::Other(1));
        assert!(store.get(Ticket::default()).is_none());
    }
}
