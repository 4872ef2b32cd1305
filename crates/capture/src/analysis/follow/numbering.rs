//! Packets missing on their way here, by their IPv4 identification.

use crate::packet::Packet;

/// Maximum gap that is a loss; larger ones are a counter of the whole host, or random numbers.
const MAX_GAP: u16 = 64;

/// The IPv4 identifications of one direction: Linux increments them per connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbering {
    last: Option<u16>,
}

impl Numbering {
    /// Number of packets missing between the last one and this, if its number shows it.
    pub fn missing_before(&mut self, packet: &Packet) -> u32 {
        let step = match (self.last, packet.identification) {
            (Some(last), Some(own)) => own.wrapping_sub(last),
            _ => 1,
        };
        self.last = packet.identification;
        if (1..=MAX_GAP).contains(&step) {
            u32::from(step - 1)
        } else {
            0
        }
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
        let missing: Vec<u32> = [65_534, 65_535, 2, 2, 9_000]
            .map(|number| numbering.missing_before(&packet(number)))
            .to_vec();
        assert_eq!(missing, [0, 0, 2, 0, 0]);
    }
}
