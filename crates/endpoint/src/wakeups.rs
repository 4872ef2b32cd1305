//! One heap of wake-ups for all connections.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use airtcp_units::Instant;

/// When something wants to be woken. An entry that has become later is not moved: it is found to be
/// early when it comes up, so that a timer that every acknowledgment moves costs nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wakeups {
    heap: BinaryHeap<Reverse<(Instant, u64)>>,
}

impl Wakeups {
    /// When the first may be due; [`Instant::FAR_FUTURE`] for never.
    pub fn next(&self) -> Instant {
        self.heap
            .peek()
            .map_or(Instant::FAR_FUTURE, |&Reverse((at, _))| at)
    }

    /// `key` wants to be woken at `at`.
    pub fn push(&mut self, at: Instant, key: u64) {
        self.heap.push(Reverse((at, key)));
    }

    /// An entry that is due by `now`.
    pub fn pop_due(&mut self, now: Instant) -> Option<(Instant, u64)> {
        if self.next() > now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry)
    }

    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Drops every entry that `is_current` denies.
    pub fn retain(&mut self, is_current: impl Fn(Instant, u64) -> bool) {
        self.heap.retain(|&Reverse((at, key))| is_current(at, key));
    }
}
