//! Events ordered by time: a 4-ary heap, which is shallow and keeps siblings in one or two cache
//! lines (LaMarca & Ladner 1996).

use airtcp_units::Instant;

const CHILDREN: usize = 4;

/// Entries ordered by time; entries of the same instant in scheduling order.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    /// The entries, followed by sentinels that compare later than any entry: every node with a
    /// child has four, so the earliest is found without counting them.
    heap: Vec<Entry<E>>,
    /// Number of entries, sentinels excluded.
    len: usize,
    scheduled: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    time: Instant,
    order: u64,
    event: E,
}

impl<E> Entry<E> {
    /// A sentinel after all entries. Its event is never read.
    const fn empty(event: E) -> Self {
        Self {
            time: Instant::FAR_FUTURE,
            order: u64::MAX,
            event,
        }
    }

    /// Time in the high half, and below it the order of scheduling: one number, which compares
    /// without a branch where a pair takes two. It is kept in halves, which take less room.
    #[inline]
    const fn key(&self) -> u128 {
        (self.time.as_nanos() as u128) << 64 | self.order as u128
    }
}

impl<E: Copy> Default for EventQueue<E> {
    fn default() -> Self {
        Self {
            heap: Vec::new(),
            len: 0,
            scheduled: 0,
        }
    }
}

impl<E: Copy> EventQueue<E> {
    /// The next event and its time.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<(Instant, E)> {
        let entry = self.heap.first().filter(|_| self.len > 0)?;
        Some((entry.time, entry.event))
    }

    /// Adds an event after all others of the same instant.
    #[inline]
    pub fn schedule(&mut self, time: Instant, event: E) {
        let entry = self.entry(time, event);
        while self.heap.len() < self.len + CHILDREN {
            self.heap.push(Entry::empty(event));
        }
        self.len += 1;
        self.rise(self.len - 1, entry);
    }

    /// Removes the first event.
    #[inline]
    pub fn remove_first(&mut self) {
        let Some(end) = self.len.checked_sub(1) else {
            return;
        };
        self.len = end;
        let last = self.heap[end];
        self.heap[end] = Entry::empty(last.event);
        if end > 0 {
            self.sink(last);
        }
    }

    /// Reschedules the first event for `time`: cheaper than removing and re-adding it, and the
    /// common case for a pipe's entry.
    #[inline]
    pub fn reschedule_first(&mut self, time: Instant) {
        if let Some((_, event)) = self.first() {
            let entry = self.entry(time, event);
            self.sink(entry);
        }
    }

    /// Number of pending events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no event is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    fn entry(&mut self, time: Instant, event: E) -> Entry<E> {
        let order = self.scheduled;
        self.scheduled += 1;
        Entry { time, order, event }
    }

    /// Moves `entry` up from `index` to its place.
    #[inline]
    fn rise(&mut self, mut index: usize, entry: Entry<E>) {
        while index > 0 {
            let parent = (index - 1) / CHILDREN;
            if self.heap[parent].key() <= entry.key() {
                break;
            }
            self.heap[index] = self.heap[parent];
            index = parent;
        }
        self.heap[index] = entry;
    }

    /// Moves `entry` down from the root to its place.
    #[inline]
    fn sink(&mut self, entry: Entry<E>) {
        let heap = self.heap.as_mut_slice();
        let mut index = 0;
        loop {
            let first = index * CHILDREN + 1;
            let Some(children) = heap.get(first..).and_then(<[_]>::first_chunk) else {
                break;
            };
            let child = least_of(children);
            let least = children[child];
            if entry.key() <= least.key() {
                break;
            }
            heap[index] = least;
            index = first + child;
        }
        heap[index] = entry;
    }
}

/// Index of the earliest child: two pairs, then their winners, each choice a conditional move.
#[inline]
fn least_of<E>(children: &[Entry<E>; CHILDREN]) -> usize {
    let left = usize::from(children[1].key() < children[0].key());
    let right = 2 + usize::from(children[3].key() < children[2].key());
    if children[right].key() < children[left].key() {
        right
    } else {
        left
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equal_times_keep_the_order_of_scheduling() {
        let mut queue = EventQueue::default();
        for event in 0..20 {
            queue.schedule(Instant::from_nanos(event / 10), event);
        }
        // The first is rescheduled for the same instant and goes to the end of it.
        queue.reschedule_first(Instant::ZERO);
        let mut events = Vec::new();
        while let Some((_, event)) = queue.first() {
            events.push(event);
            queue.remove_first();
        }
        let expected: Vec<_> = (1..10).chain([0]).chain(10..20).collect();
        assert_eq!(events, expected);
    }

    proptest! {
        /// Against a sorted map.
        #[test]
        fn agrees_with_a_sorted_map(
            operations in prop::collection::vec((0_u8..4, 0_u64..50), 1..400)
        ) {
            let mut queue = EventQueue::default();
            let mut model = BTreeMap::new();
            for (order, (operation, time)) in (0_u64..).zip(operations) {
                match operation {
                    0 | 1 => {
                        queue.schedule(Instant::from_nanos(time), order);
                        model.insert((time, order), order);
                    }
                    2 => {
                        queue.remove_first();
                        model.pop_first();
                    }
                    _ => {
                        queue.reschedule_first(Instant::from_nanos(time));
                        if let Some((_, event)) = model.pop_first() {
                            model.insert((time, order), event);
                        }
                    }
                }
                let expected = model.first_key_value().map(|(&(time, _), &event)| (time, event));
                let first = queue.first().map(|(time, event)| (time.as_nanos(), event));
                prop_assert_eq!(first, expected);
                prop_assert_eq!(queue.len(), model.len());
                prop_assert_eq!(queue.is_empty(), model.is_empty());
            }
        }
    }
}
