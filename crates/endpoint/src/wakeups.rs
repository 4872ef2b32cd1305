//! One heap of wake-ups for all connections.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

use airtcp_units::Instant;

/// Wake-up times. An entry that has become later is not moved: it is found to be early when it is
/// due, so that a timer moved by every acknowledgment costs nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wakeups {
    heap: BinaryHeap<Reverse<(Instant, u64)>>,
}

impl Wakeups {
    /// The earliest possible time; [`Instant::FAR_FUTURE`] for never.
    pub fn next(&self) -> Instant {
        self.heap
            .peek()
            .map_or(Instant::FAR_FUTURE, |&Reverse((at, _))| at)
    }

    /// Adds a wake-up of `key` at `at`.
    pub fn push(&mut self, at: Instant, key: u64) {
        self.heap.push(Reverse((at, key)));
    }

    /// Takes an entry that is due by `now`.
    pub fn pop_due(&mut self, now: Instant) -> Option<(Instant, u64)> {
        if self.next() > now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry)
    }

    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Drops every entry for which `is_current` returns false.
    pub fn retain(&mut self, is_current: impl Fn(Instant, u64) -> bool) {
        self.heap.retain(|&Reverse((at, key))| is_current(at, key));
    }
}
