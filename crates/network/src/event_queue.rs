//! What is due when: a heap with four children a node, which is shallow and keeps siblings in one
//! or two cache lines (LaMarca & Ladner 1996).

use airtcp_units::Instant;

const CHILDREN: usize = 4;

/// Entries by time, those of one instant by when they were scheduled.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    heap: Vec<Entry<E>>,
    scheduled: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    time: Instant,
    order: u64,
    event: E,
}

impl<E> Entry<E> {
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
            scheduled: 0,
        }
    }
}

impl<E: Copy> EventQueue<E> {
    /// The next event and its time.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<(Instant, E)> {
        self.heap.first().map(|entry| (entry.time, entry.event))
    }

    /// Adds an event, behind all others of its instant.
    #[inline]
    pub fn schedule(&mut self, time: Instant, event: E) {
        let entry = self.entry(time, event);
        self.heap.push(entry);
        self.rise(self.heap.len() - 1, entry);
    }

    /// Removes the first event.
    #[inline]
    pub fn remove_first(&mut self) {
        if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sink(last);
        }
    }

    /// Schedules the first event anew, for `time`: cheaper than removing it and adding it again,
    /// and the usual fate of a pipe's entry.
    #[inline]
    pub fn reschedule_first(&mut self, time: Instant) {
        if let Some(&Entry { event, .. }) = self.heap.first() {
            let entry = self.entry(time, event);
            self.sink(entry);
        }
    }

    /// How many events are waiting.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether none is waiting.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
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
            let least = match heap.get(first..first + CHILDREN) {
                Some(children) => first + least_of_four(children),
                None => match least_of_few(heap.get(first..).unwrap_or_default()) {
                    Some(child) => first + child,
                    None => break,
                },
            };
            if entry.key() <= heap[least].key() {
                break;
            }
            heap[index] = heap[least];
            index = least;
        }
        heap[index] = entry;
    }
}

/// Which of a full set of children is the first: two pairs, then their winners, each choice a
/// conditional move.
#[inline]
fn least_of_four<E>(children: &[Entry<E>]) -> usize {
    let left = usize::from(children[1].key() < children[0].key());
    let right = 2 + usize::from(children[3].key() < children[2].key());
    if children[right].key() < children[left].key() {
        right
    } else {
        left
    }
}

/// The same among fewer than four; none among none.
#[inline]
fn least_of_few<E>(children: &[Entry<E>]) -> Option<usize> {
    match children {
        [] => None,
        [_] => Some(0),
        [first, second] => Some(usize::from(second.key() < first.key())),
        [first, second, third, ..] => {
            let (left, least) = if second.key() < first.key() {
                (1, second.key())
            } else {
                (0, first.key())
            };
            Some(if third.key() < least { 2 } else { left })
        }
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
        // The first is scheduled anew for its own instant: it goes to the end of that.
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
