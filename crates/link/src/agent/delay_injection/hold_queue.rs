//! Storage of held packets: first in, first out within a connection.
//!
//! All connections share one store of slots; the slots of one connection form a list in it. The
//! memory is therefore bounded by the number of held packets, not of connections, without
//! allocation.

use std::collections::{BTreeSet, VecDeque};

use airtcp_units::{Compact, Duration, Instant};

use crate::agent::{FlowKey, Passage};

/// Maximum number of held packets, over all connections: some 10 MB.
pub(super) const HELD_LIMIT: usize = 1 << 16;

/// A slot; empty at the end of a list.
type Place = Compact<u32>;

/// The list of a connection's held packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane {
    first: Place,
    last: Place,
}

impl Lane {
    pub(super) const EMPTY: Self = Self {
        first: Place::NONE,
        last: Place::NONE,
    };

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}

#[derive(Clone, Debug)]
struct Slot<P> {
    /// Time of its release.
    leave: Instant,
    /// The next of the connection, or the next free slot.
    next: Place,
    passage: Passage<P>,
}

/// Packets held for all connections, and those ready to be sent.
#[derive(Clone, Debug)]
pub(super) struct HoldQueue<P> {
    slots: Vec<Slot<P>>,
    first_free: Place,
    held: usize,
    limit: usize,
    /// Release time of the first packet of each lane; at equal times the lower flow goes first.
    heads: BTreeSet<(Instant, FlowKey)>,
    ready: VecDeque<Passage<P>>,
}

impl<P: Copy> HoldQueue<P> {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            slots: Vec::new(),
            first_free: Place::NONE,
            held: 0,
            // Each has an index, and the last number means an empty slot.
            limit: limit.min(u32::MAX as usize),
            heads: BTreeSet::new(),
            ready: VecDeque::new(),
        }
    }

    /// Release time of the last packet of `lane`, if it holds one.
    pub(super) fn last_leave(&self, lane: &Lane) -> Option<Instant> {
        lane.last.get().map(|last| self.slots[last as usize].leave)
    }

    /// Release time of the next packet, and its connection.
    pub(super) fn next_departure(&self) -> Option<(Instant, FlowKey)> {
        self.heads.first().copied()
    }

    pub(super) fn pop_ready(&mut self) -> Option<Passage<P>> {
        self.ready.pop_front()
    }

    /// Sends `passage` ahead of the packets held for its connection.
    pub(super) fn send(&mut self, passage: Passage<P>) {
        self.ready.push_back(passage);
    }

    /// Appends `passage` to the packets held in `lane`, to leave at `leave` or with the last of
    /// them if that is later. Returns its waiting time.
    ///
    /// When the store is full the lane is released immediately, including `passage`.
    pub(super) fn push(
        &mut self,
        now: Instant,
        lane: &mut Lane,
        leave: Instant,
        passage: Passage<P>,
    ) -> Duration {
        let leave = self.last_leave(lane).map_or(leave, |last| last.max(leave));
        let flow = passage.flow;
        if lane.is_empty() && leave <= now {
            self.ready.push_back(passage);
            return Duration::ZERO;
        }
        if self.held >= self.limit {
            self.release_all(lane, flow);
            self.ready.push_back(passage);
            return Duration::ZERO;
        }
        let place = self.store(Slot {
            leave,
            next: Place::NONE,
            passage,
        });
        if let Some(last) = lane.last.get() {
            self.slots[last as usize].next = Place::some(place);
        } else {
            lane.first = Place::some(place);
            self.heads.insert((leave, flow));
        }
        lane.last = Place::some(place);
        leave - now
    }

    /// Sends the packets of `lane`, which belongs to `flow`, that are due.
    pub(super) fn release_due(&mut self, now: Instant, lane: &mut Lane, flow: FlowKey) {
        self.release_while(lane, flow, |leave| leave <= now);
    }

    /// Sends all that `lane` holds, in order.
    pub(super) fn release_all(&mut self, lane: &mut Lane, flow: FlowKey) {
        self.release_while(lane, flow, |_| true);
    }

    fn release_while(&mut self, lane: &mut Lane, flow: FlowKey, due: impl Fn(Instant) -> bool) {
        let Some(first) = lane.first.get() else {
            return;
        };
        let head = self.slots[first as usize].leave;
        if !due(head) {
            return;
        }
        self.heads.remove(&(head, flow));
        while let Some(place) = lane.first.get() {
            let slot = &mut self.slots[place as usize];
            if !due(slot.leave) {
                self.heads.insert((slot.leave, flow));
                return;
            }
            lane.first = slot.next;
            slot.next = self.first_free;
            self.first_free = Place::some(place);
            self.held -= 1;
            self.ready.push_back(slot.passage);
        }
        lane.last = Place::NONE;
    }

    fn store(&mut self, slot: Slot<P>) -> u32 {
        self.held += 1;
        let Some(place) = self.first_free.get() else {
            self.slots.push(slot);
            // `limit` is below 2^32.
            return (self.slots.len() - 1) as u32;
        };
        let free = &mut self.slots[place as usize];
        self.first_free = free.next;
        *free = slot;
        place
    }

    /// Number of packets held.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Number of packets it has memory for.
    #[cfg(test)]
    pub(super) fn slots(&self) -> usize {
        self.slots.len()
    }
}
