//! Packets missing on their way here, by their IPv4 identification.

use crate::packet::Packet;

/// Maximum gap that is a loss; larger ones are a counter of the whole host, or random numbers.
const MAX_GAP: u16 = 64;

/// The place of a packet among those of its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Behind all before it, with this number of packets missing between.
    Behind(u32),
    /// This number of places before the newest: it was overtaken.
    Overtaken(u32),
}

/// The IPv4 identifications of one direction: Linux increments them per connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbering {
    last: Option<u16>,
}

impl Numbering {
    /// The place of a packet, if its number shows it.
    pub fn place(&mut self, packet: &Packet) -> Place {
        let (Some(last), Some(own)) = (self.last, packet.identification) else {
            self.last = packet.identification;
            return Place::Behind(0);
        };
        let (step, back) = (own.wrapping_sub(last), last.wrapping_sub(own));
        if (1..=MAX_GAP).contains(&back) {
            return Place::Overtaken(u32::from(back));
        }
        self.last = Some(own);
        let missing = if step <= MAX_GAP {
            step.saturating_sub(1)
        } else {
            0
        };
        Place::Behind(u32::from(missing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap() {
        let mut numbering = Numbering::default();
        let packet = |number| Packet {
            identification: Some(number),
            ..Packet::default()
        };
        let places =
            [65_534, 65_535, 2, 2, 1, 3, 9_000].map(|number| numbering.place(&packet(number)));
        let behind = Place::Behind;
        let overtaken = Place::Overtaken(1);
        assert_eq!(
            places,
            [
                behind(0),
                behind(0),
                behind(2),
                behind(0),
                overtaken,
                behind(0),
                behind(0)
            ]
        );
    }
}
