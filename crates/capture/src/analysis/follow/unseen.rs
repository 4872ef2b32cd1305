//! Bytes that were acknowledged before any packet with them was captured.

use std::collections::VecDeque;

/// Maximum number of ranges remembered, in case their packets come late.
const REMEMBERED: usize = 256;

/// The latest ranges acknowledged without having been seen.
#[derive(Debug, Default)]
pub struct Unseen {
    ranges: VecDeque<(u64, u64)>,
}

impl Unseen {
    /// Remembers a range covered by an ACK although no packet of it had passed.
    pub fn acknowledged(&mut self, start: u64, end: u64) {
        if self.ranges.len() >= REMEMBERED {
            self.ranges.pop_front();
        }
        self.ranges.push_back((start, end));
    }

    /// Whether these bytes were acknowledged before they were first seen. A packet with the lowest
    /// bytes of a range removes them from it.
    pub fn passes(&mut self, start: u64, end: u64) -> bool {
        let mut newest_first = self.ranges.iter_mut().rev();
        let Some(range) = newest_first.find(|range| range.0 < end && start < range.1) else {
            return false;
        };
        if range.0 == start {
            range.0 = end.min(range.1);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_packet_is_behind_its_ack_once() {
        let mut unseen = Unseen::default();
        unseen.acknowledged(100, 300);
        assert!(unseen.passes(100, 200));
        assert!(!unseen.passes(100, 200), "now it is a repetition");
        assert!(unseen.passes(200, 300));
        assert!(!unseen.passes(300, 400), "never acknowledged");
    }
}
