//! Flow queues with controlled delay: packets are queued by a hash of their flow, queues take turns
//! by deficit round robin, newly active ones go first, and CoDel runs in each (RFC 8290).

use std::cmp::Reverse;
use std::collections::VecDeque;

use airtcp_units::Instant;

use super::codel::{CoDelConfig, Control, Head};
use super::fifo::Fifo;
use super::{EcnField, QueueLimit};
use crate::frame::QueuedPacket;
use crate::random::Stream;

/// Maximum number of packets dropped in one batch when there is no room (Linux, `drop_batch_size`).
const MAX_DROPPED_AT_ONCE: u32 = 64;

/// The parameters of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCoDelConfig {
    /// CoDel's, in each queue. Marks are on by default (Linux, `fq_codel_init`).
    pub codel: CoDelConfig,
    /// The number of queues (RFC 8290 §5.2.3: 1024).
    pub queues: u32,
    /// Bytes that a queue may send before the next one's turn (§5.2.4: one packet of the
    /// interface's size, 1514 with an Ethernet header; packets here are counted without).
    pub quantum: u32,
}

impl Default for FqCoDelConfig {
    fn default() -> Self {
        Self {
            codel: CoDelConfig {
                ecn: true,
                ..CoDelConfig::default()
            },
            queues: 1024,
            quantum: 1500,
        }
    }
}

/// The queues.
#[derive(Clone, Debug)]
pub(crate) struct FqCoDel<P> {
    config: FqCoDelConfig,
    limit: QueueLimit,
    /// The queues that have had packets, in the order of their first. The others are not made: an
    /// access point has 1024 for each station, of which its few flows use as many.
    queues: Vec<FlowQueue<P>>,
    /// Hash values with a queue, in order, and its place among the queues.
    places: Vec<(u32, u32)>,
    /// Queues that were empty and are served first, and the others (RFC 8290 §4.1).
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: usize,
    bytes: u64,
    /// The hash's perturbation, which determines the queue of a flow (§4.1.1).
    hash: Stream,
    /// A flow and its queue's place: packets of one flow arrive in succession.
    last: Option<(u32, u32)>,
}

#[derive(Clone, Debug)]
struct FlowQueue<P> {
    /// The hash value of its flows.
    number: u32,
    fifo: Fifo<P>,
    control: Control,
    /// Bytes that it may still send in this turn; below zero after a packet that was longer.
    deficit: i64,
    is_listed: bool,
}

impl<P> FlowQueue<P> {
    fn new(number: u32) -> Self {
        Self {
            number,
            fifo: Fifo::default(),
            control: Control::default(),
            deficit: 0,
            is_listed: false,
        }
    }
}

impl<P: EcnField> FqCoDel<P> {
    pub(crate) fn new(config: FqCoDelConfig, limit: QueueLimit, hash: Stream) -> Self {
        Self {
            config,
            limit,
            queues: Vec::new(),
            places: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
            hash,
            last: None,
        }
    }

    pub(crate) const fn packets(&self) -> usize {
        self.packets
    }

    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds a packet; if that exceeds the limit, packets of the longest queue are discarded, from
    /// its head (RFC 8290 §4.1.3).
    pub(crate) fn push(
        &mut self,
        waiting: QueuedPacket<P>,
        mut discard: impl FnMut(QueuedPacket<P>),
    ) {
        let index = self.place_of(waiting.transmission.flow);
        let bytes = u64::from(waiting.transmission.bytes);
        let queue = &mut self.queues[index as usize];
        queue.fifo.push(waiting);
        if !queue.is_listed {
            queue.is_listed = true;
            queue.deficit = i64::from(self.config.quantum);
            self.new.push_back(index);
        }
        self.packets += 1;
        self.bytes += bytes;
        if !self.limit.holds(self.packets, self.bytes) {
            self.shorten_longest(&mut discard);
        }
    }

    /// The packet to be served at `now`; `discard` gets packets dropped by CoDel on the way.
    pub(crate) fn dequeue(
        &mut self,
        now: Instant,
        mut discard: impl FnMut(QueuedPacket<P>),
    ) -> Option<QueuedPacket<P>> {
        loop {
            let (index, is_new) = self.next_queue()?;
            let queue = &mut self.queues[index as usize];
            let (packets, bytes) = (&mut self.packets, &mut self.bytes);
            let fifo = &mut queue.fifo;
            // The backlog is that of all queues (Linux, `fq_codel_dequeue`).
            let take = || {
                let waiting = fifo.pop()?;
                *packets -= 1;
                *bytes -= u64::from(waiting.transmission.bytes);
                let backlog = *bytes;
                Some(Head { waiting, backlog })
            };
            let control = &mut queue.control;
            if let Some(served) = control.dequeue(now, &self.config.codel, take, &mut discard) {
                queue.deficit -= i64::from(served.transmission.bytes);
                return Some(served);
            }
            self.unlist(is_new);
            // A queue that has been new passes through the old ones once, or short flows could
            // starve them (RFC 8290 §4.2).
            if is_new && !self.old.is_empty() {
                self.old.push_back(index);
            } else {
                self.queues[index as usize].is_listed = false;
            }
        }
    }

    /// The same for a packet served in the common case, without being moved: `take` gets it. `None`
    /// if [`dequeue`](Self::dequeue) must decide.
    #[inline]
    pub(crate) fn pass<T>(
        &mut self,
        now: Instant,
        take: impl FnOnce(&QueuedPacket<P>) -> T,
    ) -> Option<T> {
        let (index, _) = self.next_queue()?;
        let queue = &mut self.queues[index as usize];
        let head = queue.fifo.head()?;
        let bytes = u64::from(head.transmission.bytes);
        let (codel, backlog) = (&self.config.codel, self.bytes - bytes);
        if !queue.control.passes(now, codel, head.since, backlog) {
            return None;
        }
        let taken = take(head);
        queue.fifo.pop();
        queue.deficit -= bytes as i64;
        self.packets -= 1;
        self.bytes = backlog;
        Some(taken)
    }

    /// The next queue in turn, and whether it is a new one: queues that have used their turn go to
    /// the end.
    #[inline]
    fn next_queue(&mut self) -> Option<(u32, bool)> {
        loop {
            let is_new = !self.new.is_empty();
            let index = *self.new.front().or(self.old.front())?;
            let queue = &mut self.queues[index as usize];
            if queue.deficit > 0 {
                return Some((index, is_new));
            }
            queue.deficit += i64::from(self.config.quantum);
            // The only one stays where it is.
            if is_new || self.old.len() > 1 {
                self.unlist(is_new);
                self.old.push_back(index);
            }
        }
    }

    fn unlist(&mut self, is_new: bool) {
        if is_new {
            self.new.pop_front();
        } else {
            self.old.pop_front();
        }
    }

    /// Drops half of the longest queue, at most a batch, which amortizes the search over the
    /// packets (Linux, `fq_codel_drop`).
    pub(super) fn shorten_longest(&mut self, mut discard: impl FnMut(QueuedPacket<P>)) {
        // Of equally long ones that with the smallest hash value.
        let length = |queue: &&mut FlowQueue<P>| (queue.fifo.bytes(), Reverse(queue.number));
        let Some(queue) = self.queues.iter_mut().max_by_key(length) else {
            return;
        };
        let enough = queue.fifo.bytes() / 2;
        let (mut dropped, mut bytes) = (0, 0);
        while let Some(waiting) = queue.fifo.pop() {
            dropped += 1;
            bytes += u64::from(waiting.transmission.bytes);
            discard(waiting);
            if dropped >= MAX_DROPPED_AT_ONCE || bytes >= enough {
                break;
            }
        }
        queue.control.on_overflow(dropped);
        self.packets -= dropped as usize;
        self.bytes -= bytes;
    }

    /// The place of a flow's queue, which is made for its first packet.
    #[inline]
    fn place_of(&mut self, flow: u32) -> u32 {
        match self.last {
            Some((last, place)) if last == flow => place,
            _ => {
                let place = self.place_of_number(self.number_of(flow));
                self.last = Some((flow, place));
                place
            }
        }
    }

    /// A flow's hash value: all are equally likely for any number of queues.
    fn number_of(&self, flow: u32) -> u32 {
        let hash = u128::from(self.hash.draw(u64::from(flow)));
        ((hash * u128::from(self.config.queues.max(1))) >> 64) as u32
    }

    fn place_of_number(&mut self, number: u32) -> u32 {
        match self
            .places
            .binary_search_by_key(&number, |&(number, _)| number)
        {
            Ok(found) => self.places[found].1,
            Err(next) => {
                let place = self.queues.len() as u32;
                self.queues.push(FlowQueue::new(number));
                self.places.insert(next, (number, place));
                place
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use airtcp_units::Instant;

    use super::*;
    use crate::frame::Transmission;

    fn packet(flow: u32) -> QueuedPacket<u64> {
        QueuedPacket {
            packet: u64::from(flow),
            transmission: Transmission {
                bytes: 1500,
                flow,
                index: 0,
            },
            is_lost: false,
            since: Instant::ZERO,
        }
    }

    /// The memory of a station's queues grows with its flows, and not with the hash's values.
    #[test]
    fn only_queues_with_flows_are_made() {
        let hash = Stream::new(1, "hash");
        let mut queues = FqCoDel::new(FqCoDelConfig::default(), QueueLimit::Unlimited, hash);
        assert_eq!(queues.queues.capacity(), 0);
        for turn in 0..20 {
            for flow in 0..10 {
                queues.push(packet(flow), |_| panic!("unlimited"));
            }
            assert!(queues.queues.len() <= 10, "{turn}");
        }
        assert_eq!(queues.packets(), 200);
    }

    /// Of two equally long queues that with the smaller hash value makes room, whichever was first.
    #[test]
    fn equally_long_queues_make_room_in_the_order_of_their_numbers() {
        for flows in [[1, 2], [2, 1]] {
            let limit = QueueLimit::Packets(3);
            let hash = Stream::new(1, "hash");
            let mut queues = FqCoDel::new(FqCoDelConfig::default(), limit, hash);
            let smaller = flows.into_iter().min_by_key(|&flow| queues.number_of(flow));
            let mut discarded = Vec::new();
            for flow in [flows[0], flows[1], flows[0], flows[1]] {
                queues.push(packet(flow), |waiting| {
                    discarded.push(waiting.transmission.flow)
                });
            }
            assert_eq!(discarded.first().copied(), smaller);
        }
    }
}
