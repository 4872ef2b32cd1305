//! Packets missing on their way here, by their IPv4 identification.

use std::collections::VecDeque;

use crate::packet::Packet;

/// Maximum gap that is a loss; larger ones are a counter of the whole host, or random numbers.
const MAX_GAP: u16 = 64;

/// The place of a packet among others of its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// After all before it, with this number of packets missing between.
    Newest(u32),
    /// Overtaken: it was missing before the packet with this index.
    Overtaken(usize),
    /// Its number has come already, or is too old to say.
    Again,
}

/// The IPv4 identifications of one direction: Linux increments them per connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbering {
    last: Option<u16>,
    /// Missing numbers, the newest last, each with the index of the packet after its gap.
    missing: VecDeque<(u16, usize)>,
}

impl Numbering {
    /// The place of packet number `index`, if its identification shows it.
    pub fn place(&mut self, packet: &Packet, index: usize) -> Place {
        let (Some(last), Some(own)) = (self.last, packet.identification) else {
            self.last = packet.identification;
            self.missing.clear();
            return Place::Newest(0);
        };
        let (step, back) = (own.wrapping_sub(last), last.wrapping_sub(own));
        if (1..=MAX_GAP).contains(&back) {
            let at = self.missing.iter().position(|(number, _)| *number == own);
            let found = at.and_then(|at| self.missing.remove(at));
            return found.map_or(Place::Again, |(_, index)| Place::Overtaken(index));
        }
        self.last = Some(own);
        if step > MAX_GAP {
            self.missing.clear();
            return Place::Newest(0);
        }
        let missing = step.saturating_sub(1);
        let numbers = (1..=missing).map(|more| (last.wrapping_add(more), index));
        self.missing.extend(numbers);
        while let Some((oldest, _)) = self.missing.front()
            && own.wrapping_sub(*oldest) > MAX_GAP
        {
            self.missing.pop_front();
        }
        Place::Newest(u32::from(missing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places<const N: usize>(numbers: [u16; N]) -> [Place; N] {
        let mut numbering = Numbering::default();
        let mut index = 0..;
        numbers.map(|number| {
            let packet = Packet {
                identification: Some(number),
                ..Packet::default()
            };
            numbering.place(&packet, index.next().unwrap())
        })
    }

    /// 0 and 1 are missing before the packet with index 2; 1 comes late.
    #[test]
    fn numbers_wrap() {
        use Place::{Newest, Overtaken};
        let found = places([65_534, 65_535, 2, 2, 1, 3, 9_000]);
        let late = Overtaken(2);
        let rest = [Newest(0), Newest(0)];
        assert_eq!(found[..2], rest);
        assert_eq!(found[2..5], [Newest(2), Newest(0), late]);
        assert_eq!(found[5..], rest);
    }

    /// A duplicate fills no gap, nor does a late packet fill another gap than its own.
    #[test]
    fn a_late_number_fills_its_gap_once() {
        use Place::{Again, Newest, Overtaken};
        let found = places([1, 3, 6, 2, 2, 1, 5, 4, 4]);
        let expected = [
            Newest(0),
            Newest(1),
            Newest(2),
            Overtaken(1),
            Again,
            Again,
            Overtaken(2),
            Overtaken(2),
            Again,
        ];
        assert_eq!(found, expected);
    }
}
