//! The queues of one of CAKE's tins: flows by a set-associative hash, sparse ones before bulk ones,
//! hosts in equal shares (Linux, `net/sched/sch_cake.c`, `cake_hash` and `cake_dequeue`).

use std::cmp::Reverse;
use std::collections::VecDeque;

use airtcp_units::Instant;

use super::ack_filter::{AckFilter, superfluous};
use super::cobalt::{Cobalt, Limits};
use super::is_dropped;
use crate::frame::QueuedPacket;
use crate::queue::EcnField;
use crate::random::Stream;

/// The number of queues, and how many of them a flow may have (`CAKE_QUEUES`, `CAKE_SET_WAYS`).
const QUEUES: usize = 1024;
const WAYS: usize = 8;

/// A queue's state in the rotation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Standing {
    /// Not in it: it may be given to any flow.
    #[default]
    None,
    /// Among the new queues, which go first.
    Sparse,
    /// Among the old queues, but empty on arrival there.
    SparseWaiting,
    Bulk,
    /// Empty, and kept until Cobalt has forgotten it.
    Decaying,
}

#[derive(Clone, Debug)]
struct FlowQueue<P> {
    packets: VecDeque<QueuedPacket<P>>,
    bytes: u64,
    flow: u32,
    host: u32,
    deficit: i64,
    /// The hash value that leads to it.
    number: u32,
    standing: Standing,
    cobalt: Cobalt,
}

impl<P> FlowQueue<P> {
    fn new(number: u32) -> Self {
        Self {
            packets: VecDeque::new(),
            bytes: 0,
            flow: 0,
            host: 0,
            deficit: 0,
            number,
            standing: Standing::None,
            cobalt: Cobalt::default(),
        }
    }
}

/// The queues of a tin.
#[derive(Clone, Debug)]
pub(super) struct FlowQueues<P> {
    /// The queues of the sets that have had packets, in the order of their first. The others are
    /// not made: all of them take 100 kB a tin, and an overflow searches them for the longest.
    queues: Vec<FlowQueue<P>>,
    /// Sets with queues, in order, and the place of their first queue.
    sets: Vec<(u32, u32)>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    decaying: VecDeque<u32>,
    /// Sparse and bulk queues.
    active: usize,
    /// Bulk queues of each host; hosts without bulk queues are left out.
    bulk_of_hosts: Vec<(u32, u32)>,
    quantum: u64,
    bytes: u64,
    hash: Stream,
}

impl<P: EcnField> FlowQueues<P> {
    pub fn new(quantum: u64, hash: Stream) -> Self {
        Self {
            queues: Vec::new(),
            sets: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            decaying: VecDeque::new(),
            active: 0,
            bulk_of_hosts: Vec::new(),
            quantum,
            bytes: 0,
            hash,
        }
    }

    /// Changes the bytes that a flow sends in its turn.
    pub const fn set_quantum(&mut self, quantum: u64) {
        self.quantum = quantum;
    }

    /// Bytes queued.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Queues that were made.
    #[cfg(test)]
    pub const fn made(&self) -> usize {
        self.queues.len()
    }

    /// Whether it has queues other than decaying ones.
    pub const fn is_active(&self) -> bool {
        self.active > 0
    }

    /// Bytes of the longest queue.
    pub fn longest(&self) -> u64 {
        let lengths = self.queues.iter().map(|queue| queue.bytes);
        lengths.max().unwrap_or(0)
    }

    /// Drops the head of the longest queue, and informs its Cobalt.
    pub fn drop_longest(&mut self, limits: &Limits, now: Instant) -> Option<QueuedPacket<P>> {
        // Of equally long ones that with the smallest hash value.
        let length = |queue: &&mut FlowQueue<P>| (queue.bytes, Reverse(queue.number));
        let longest = self.queues.iter_mut().max_by_key(length)?;
        let dropped = longest.packets.pop_front()?;
        longest.bytes -= u64::from(dropped.transmission.bytes);
        self.bytes -= u64::from(dropped.transmission.bytes);
        longest.cobalt.on_overflow(limits, now);
        Some(dropped)
    }

    /// Adds a packet of `host`; returns the packet that `filter` then drops.
    pub fn push(
        &mut self,
        waiting: QueuedPacket<P>,
        host: u32,
        filter: AckFilter,
    ) -> Option<QueuedPacket<P>> {
        let index = self.place(waiting.transmission.flow, host);
        let queue = &mut self.queues[index as usize];
        let bytes = u64::from(waiting.transmission.bytes);
        queue.packets.push_back(waiting);
        queue.bytes += bytes;
        self.bytes += bytes;
        let dropped = superfluous(filter, &queue.packets)
            .and_then(|superfluous| queue.packets.remove(superfluous));
        if let Some(dropped) = &dropped {
            queue.bytes -= u64::from(dropped.transmission.bytes);
            self.bytes -= u64::from(dropped.transmission.bytes);
        }
        let host = queue.host;
        match queue.standing {
            Standing::None | Standing::Decaying => {
                if queue.standing == Standing::Decaying {
                    self.decaying.retain(|&other| other != index);
                }
                self.new.push_back(index);
                queue.standing = Standing::Sparse;
                self.active += 1;
                let share = self.quantum / u64::from(self.load(host));
                self.queues[index as usize].deficit = share as i64;
            }
            Standing::SparseWaiting => {
                queue.standing = Standing::Bulk;
                self.add_bulk(host);
            }
            Standing::Sparse | Standing::Bulk => {}
        }
        dropped
    }

    /// The next packet; `None` when a queue turned out to be empty, after which the tin is chosen
    /// anew. `is_first`: a decaying queue is checked before all others. `discard` gets packets
    /// dropped on the way.
    pub fn dequeue(
        &mut self,
        now: Instant,
        limits: &Limits,
        is_first: &mut bool,
        draw: &mut impl FnMut() -> u32,
        mut discard: impl FnMut(QueuedPacket<P>),
    ) -> Option<QueuedPacket<P>> {
        loop {
            // A decaying one is checked each time, so that it is forgotten.
            let list = match *is_first && !self.decaying.is_empty() {
                true => &mut self.decaying,
                false if !self.new.is_empty() => &mut self.new,
                false if !self.old.is_empty() => &mut self.old,
                false => &mut self.decaying,
            };
            *is_first = false;
            let index = *list.front()?;
            let queue = &mut self.queues[index as usize];
            if queue.deficit <= 0 {
                list.pop_front();
                self.begin_turn(index, draw());
                continue;
            }
            while let Some(mut waiting) = queue.packets.pop_front() {
                let bytes = u64::from(waiting.transmission.bytes);
                queue.bytes -= bytes;
                self.bytes -= bytes;
                let is_capable = waiting.packet.ecn().is_capable();
                let verdict = queue
                    .cobalt
                    .verdict(limits, now, waiting.since, is_capable, draw());
                if is_dropped(verdict, &mut waiting.packet, queue.packets.is_empty()) {
                    discard(waiting);
                    continue;
                }
                queue.deficit -= bytes as i64;
                return Some(waiting);
            }
            list.pop_front();
            queue.cobalt.on_empty(limits, now);
            self.retire(index, now);
            return None;
        }
    }

    /// A queue has used its turn and goes to the old ones, with its share of its host's quantum for
    /// the next one. `draw` rounds it, so that no byte is lost permanently.
    fn begin_turn(&mut self, index: u32, draw: u32) {
        let queue = &mut self.queues[index as usize];
        let host = queue.host;
        if queue.standing == Standing::Sparse {
            if queue.packets.is_empty() {
                queue.standing = Standing::SparseWaiting;
            } else {
                queue.standing = Standing::Bulk;
                self.add_bulk(host);
            }
        }
        let inverse = 65_535 / u64::from(self.load(host));
        let share = (self.quantum * inverse + u64::from(draw >> 16)) >> 16;
        self.queues[index as usize].deficit += share as i64;
        self.old.push_back(index);
    }

    /// An empty queue leaves the rotation.
    fn retire(&mut self, index: u32, now: Instant) {
        let queue = &mut self.queues[index as usize];
        let host = queue.host;
        let was = queue.standing;
        queue.standing = if queue.cobalt.is_at_rest(now) {
            Standing::None
        } else {
            self.decaying.push_back(index);
            Standing::Decaying
        };
        if was == Standing::Bulk {
            self.remove_bulk(host);
        }
        if was != Standing::Decaying {
            self.active -= 1;
        }
    }

    /// Number of queues that share the turn of a host's.
    fn load(&self, host: u32) -> u32 {
        let bulk = self.bulk_of_hosts.iter().find(|(known, _)| *known == host);
        bulk.map_or(1, |&(_, count)| count)
    }

    fn add_bulk(&mut self, host: u32) {
        match self
            .bulk_of_hosts
            .iter_mut()
            .find(|(known, _)| *known == host)
        {
            Some((_, count)) => *count += 1,
            None => self.bulk_of_hosts.push((host, 1)),
        }
    }

    fn remove_bulk(&mut self, host: u32) {
        if let Some(place) = self
            .bulk_of_hosts
            .iter()
            .position(|(known, _)| *known == host)
        {
            self.bulk_of_hosts[place].1 -= 1;
            if self.bulk_of_hosts[place].1 == 0 {
                self.bulk_of_hosts.swap_remove(place);
            }
        }
    }

    /// The queue of a flow: its present one, or an empty one of its set, or one that it has to
    /// share.
    fn place(&mut self, flow: u32, host: u32) -> u32 {
        let hash = (self.hash.draw(u64::from(flow)) % QUEUES as u64) as usize;
        let (first, set) = (hash % WAYS, self.first_of_set((hash / WAYS) as u32));
        let ways = || (0..WAYS).map(|way| set + (first + way) % WAYS);
        let is_own = |queue: &FlowQueue<P>| queue.flow == flow && queue.standing != Standing::None;
        let own = ways().find(|&place| is_own(&self.queues[place]));
        if let Some(own) = own {
            return own as u32;
        }
        let free = ways().find(|&place| self.queues[place].standing == Standing::None);
        let place = free.unwrap_or(set + first);
        let queue = &mut self.queues[place];
        queue.flow = flow;
        let former = std::mem::replace(&mut queue.host, host);
        if queue.standing == Standing::Bulk {
            self.remove_bulk(former);
            self.add_bulk(host);
        }
        place as u32
    }

    /// The place of a set's first queue; its queues are made for its first packet.
    fn first_of_set(&mut self, set: u32) -> usize {
        match self.sets.binary_search_by_key(&set, |&(set, _)| set) {
            Ok(found) => self.sets[found].1 as usize,
            Err(next) => {
                let place = self.queues.len();
                let first = set * WAYS as u32;
                let numbers = first..first + WAYS as u32;
                self.queues.extend(numbers.map(FlowQueue::new));
                self.sets.insert(next, (set, place as u32));
                place
            }
        }
    }
}
