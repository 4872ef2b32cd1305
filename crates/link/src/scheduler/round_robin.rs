//! Round robin.

use std::collections::VecDeque;

/// Turns among numbered queues.
#[derive(Clone, Debug)]
pub(crate) struct RoundRobin {
    waiting: VecDeque<usize>,
    is_waiting: Vec<bool>,
}

impl RoundRobin {
    /// No queue waits for a turn.
    pub(crate) fn new(queues: usize) -> Self {
        Self {
            waiting: VecDeque::with_capacity(queues),
            is_waiting: vec![false; queues],
        }
    }

    /// A queue requests a turn after all waiting ones, unless it waits already.
    pub(crate) fn activate(&mut self, queue: usize) {
        if !std::mem::replace(&mut self.is_waiting[queue], true) {
            self.waiting.push_back(queue);
        }
    }

    /// A queue could not use its turn: it remains the next.
    pub(crate) fn put_back(&mut self, queue: usize) {
        if !std::mem::replace(&mut self.is_waiting[queue], true) {
            self.waiting.push_front(queue);
        }
    }

    /// Removes and returns the queue to be served next.
    pub(crate) fn next(&mut self) -> Option<usize> {
        let queue = self.waiting.pop_front()?;
        self.is_waiting[queue] = false;
        Some(queue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_take_turns() {
        let mut turns = RoundRobin::new(3);
        for queue in [2, 0, 2] {
            turns.activate(queue);
        }
        let mut served = Vec::new();
        for _ in 0..4 {
            let queue = turns.next().expect("two wait");
            served.push(queue);
            turns.activate(queue);
        }
        assert_eq!(served, [2, 0, 2, 0]);
        assert_eq!(
            (turns.next(), turns.next(), turns.next()),
            (Some(2), Some(0), None)
        );
    }
}
