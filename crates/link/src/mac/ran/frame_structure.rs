//! Slots, and the direction of each (TS 36.211 §4, TS 38.211 §4.3).

use airtcp_units::{Duration, Instant};

/// Direction of a slot of a carrier in time division duplex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotDirection {
    /// From the base station; a special slot is one of them.
    Down,
    /// To the base station.
    Up,
}

/// Slots, and their directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameStructure {
    /// Length of a slot.
    pub slot: Duration,
    /// Directions of slots, repeated; empty for frequency division duplex, where each goes both
    /// ways.
    pub pattern: Vec<SlotDirection>,
    /// Whole slots between a transmission and the reaction to it, at either end: data and its
    /// acknowledgment, a grant and its transmission. 3 in LTE: the answer comes in subframe n + 4
    /// (TS 36.213 §10.1, §8.0).
    pub processing: u32,
}

impl FrameStructure {
    /// Start of a slot.
    pub(super) fn start_of(&self, slot: u64) -> Instant {
        Instant::ZERO + self.slot * slot
    }

    /// The slot that begins at or after `now`.
    pub(super) const fn slot_from(&self, now: Instant) -> u64 {
        now.as_nanos().div_ceil(self.slot.as_nanos())
    }

    /// Slots that last at least `time`.
    #[must_use]
    pub const fn slots(&self, time: Duration) -> u64 {
        time.as_nanos().div_ceil(self.slot.as_nanos())
    }

    /// Whether blocks go from the base station in `slot`.
    pub(super) fn goes_down(&self, slot: u64) -> bool {
        self.goes(slot, SlotDirection::Down)
    }

    /// Whether blocks go to the base station in `slot`.
    pub(super) fn goes_up(&self, slot: u64) -> bool {
        self.goes(slot, SlotDirection::Up)
    }

    fn goes(&self, slot: u64, direction: SlotDirection) -> bool {
        let count = self.pattern.len() as u64;
        count == 0 || self.pattern[(slot % count) as usize] == direction
    }

    /// Whether the pattern has slots of both directions.
    pub(super) fn goes_both_ways(&self) -> bool {
        let has = |direction| self.pattern.contains(&direction);
        self.pattern.is_empty() || has(SlotDirection::Down) && has(SlotDirection::Up)
    }

    /// The slot that begins when the content of `slot` is decoded.
    pub(super) fn decoded(&self, slot: u64) -> u64 {
        slot + 1 + u64::from(self.processing)
    }

    /// The first slot in which the sender of `slot` can react to its acknowledgment: the next of
    /// its direction after one of the other for the answer.
    pub(super) fn reaction(&self, slot: u64, direction: SlotDirection) -> u64 {
        let other = match direction {
            SlotDirection::Down => SlotDirection::Up,
            SlotDirection::Up => SlotDirection::Down,
        };
        let answer = self.next(self.decoded(slot), other);
        self.next(self.decoded(answer), direction)
    }

    fn next(&self, slot: u64, direction: SlotDirection) -> u64 {
        let mut next = slot;
        // A pattern has slots of both directions.
        while !self.goes(next, direction) {
            next += 1;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use SlotDirection::{Down, Up};

    /// LTE's FDD: the answer 4 subframes later, a retransmission 8 later (TS 36.213 §7, §8). NR's
    /// DDDSU: data of slot 0, decoded 4 slots later, is answered in slot 4; the next slot that is
    /// not too soon, 8, goes down.
    #[test]
    fn a_round_trip_is_eight_subframes() {
        let lte = FrameStructure {
            slot: Duration::from_millis(1),
            pattern: Vec::new(),
            processing: 3,
        };
        assert_eq!(lte.decoded(10), 14);
        assert_eq!([lte.reaction(10, Down), lte.reaction(10, Up)], [18, 18]);
        let nr = FrameStructure {
            slot: Duration::from_micros(500),
            pattern: vec![Down, Down, Down, Down, Up],
            processing: 3,
        };
        assert_eq!([nr.reaction(0, Down), nr.reaction(1, Down)], [8, 13]);
        assert_eq!(nr.reaction(4, Up), 14);
        assert!(nr.goes_up(9) && nr.goes_down(10) && !nr.goes_down(14));
        assert!(nr.goes_both_ways());
        let one_way = FrameStructure {
            pattern: vec![Down],
            ..nr
        };
        assert!(!one_way.goes_both_ways());
    }
}
