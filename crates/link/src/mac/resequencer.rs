//! The receiver: delivers packets in the order of arrival, or of the frames' numbers.

use std::collections::{BTreeMap, VecDeque};

/// The order in which a receiver delivers packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Handover {
    /// As they arrive: a packet overtakes one that is being retransmitted.
    #[default]
    AsReceived,
    /// As they were first transmitted: packets after a missing frame wait in a reordering buffer
    /// until it has arrived, or until the sender reports that it gave it up.
    InOrder,
}

/// The state of a frame, as the receiver knows it.
#[derive(Clone, Copy, Debug)]
enum FrameState<T> {
    Arrived(T),
    GivenUp,
}

/// Delivers the frames that arrive.
#[derive(Clone, Debug)]
pub(crate) struct Resequencer<T> {
    handover: Handover,
    /// The first number with unknown state.
    expected: u64,
    /// The reordering buffer: the state of later numbers.
    later: BTreeMap<u64, FrameState<T>>,
    ready: VecDeque<T>,
}

impl<T> Resequencer<T> {
    pub(crate) const fn new(handover: Handover) -> Self {
        Self {
            handover,
            expected: 0,
            later: BTreeMap::new(),
            ready: VecDeque::new(),
        }
    }

    /// Frame `number` has arrived.
    #[inline]
    pub(crate) fn on_arrived(&mut self, number: u64, content: T) {
        match self.handover {
            Handover::AsReceived => self.ready.push_back(content),
            Handover::InOrder => self.know(number, FrameState::Arrived(content)),
        }
    }

    /// Frame `number` has arrived and may be delivered at once: nothing is missing before it, and
    /// no frame is held. `false` if [`on_arrived`](Self::on_arrived) must be called for it.
    #[inline]
    pub(crate) fn passes(&mut self, number: u64) -> bool {
        let passes = self.handover == Handover::InOrder
            && number == self.expected
            && self.later.is_empty()
            && self.ready.is_empty();
        self.expected += u64::from(passes);
        passes
    }

    /// The sender reports that it gave frame `number` up.
    pub(crate) fn on_given_up(&mut self, number: u64) {
        if self.handover == Handover::InOrder {
            self.know(number, FrameState::GivenUp);
        }
    }

    /// The next packet to deliver; call until it returns `None`.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<T> {
        self.ready.pop_front()
    }

    /// No frame before `start` will arrive any more: packets held there are delivered.
    pub(crate) fn advance(&mut self, start: u64) {
        while self.expected < start {
            match self.later.first_entry() {
                Some(first) if *first.key() < start => {
                    self.expected = first.key() + 1;
                    if let FrameState::Arrived(content) = first.remove() {
                        self.ready.push_back(content);
                    }
                }
                _ => self.expected = start,
            }
        }
        self.hand_on();
    }

    /// The first number with unknown state.
    #[inline]
    pub(crate) const fn expected(&self) -> u64 {
        self.expected
    }

    /// The first held packet, and its number.
    #[inline]
    pub(crate) fn first_held(&self) -> Option<(u64, &T)> {
        self.later.iter().find_map(|(number, known)| match known {
            FrameState::Arrived(content) => Some((*number, content)),
            FrameState::GivenUp => None,
        })
    }

    fn know(&mut self, number: u64, known: FrameState<T>) {
        if number == self.expected && self.later.is_empty() {
            self.expected += 1;
            if let FrameState::Arrived(content) = known {
                self.ready.push_back(content);
            }
            return;
        }
        self.later.insert(number, known);
        self.hand_on();
    }

    fn hand_on(&mut self) {
        if self.later.is_empty() {
            return;
        }
        while let Some(next) = self.later.remove(&self.expected) {
            self.expected += 1;
            if let FrameState::Arrived(content) = next {
                self.ready.push_back(content);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 and 3 overtake 0 and 2; 0 arrives, 2 is given up.
    #[test]
    fn what_has_overtaken_waits_for_what_it_has_overtaken() {
        let mut receiver = Resequencer::new(Handover::InOrder);
        let mut handed_on = Vec::new();
        for (number, arrived) in [(1, true), (3, true), (0, true), (2, false)] {
            if arrived {
                receiver.on_arrived(number, number);
            } else {
                receiver.on_given_up(number);
            }
            let now: Vec<_> = std::iter::from_fn(|| receiver.take()).collect();
            handed_on.push(now);
        }
        assert_eq!(handed_on, [vec![], vec![], vec![0, 1], vec![3]]);
        let mut receiver = Resequencer::new(Handover::InOrder);
        assert!(receiver.passes(0), "nothing is missing");
        assert!(!receiver.passes(2), "1 is missing");
        receiver.on_arrived(2, 2);
        assert!(!receiver.passes(1), "2 waits for it");
        receiver.on_arrived(1, 1);
        assert!(!receiver.passes(3), "1 and 2 go first");
        assert_eq!((receiver.take(), receiver.take()), (Some(1), Some(2)));
        assert!(receiver.passes(3));
        let mut receiver = Resequencer::new(Handover::AsReceived);
        for number in [1, 3, 0] {
            receiver.on_arrived(number, number);
        }
        receiver.on_given_up(2);
        let all: Vec<_> = std::iter::from_fn(|| receiver.take()).collect();
        assert_eq!(all, [1, 3, 0]);
    }
}
