//! Flow queues with controlled delay: packets are queued by a hash of their flow, queues take turns
//! by deficit round robin, newly active ones go first, and CoDel runs in each (RFC 8290).

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
    queues: Vec<FlowQueue<P>>,
    /// Queues that were empty and are served first, and the others (RFC 8290 §4.1).
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: usize,
    bytes: u64,
    /// The hash's perturbation, which determines the queue of a flow (§4.1.1).
    hash: Stream,
    /// A flow and its queue: packets of one flow arrive in succession.
    last: Option<(u32, u32)>,
}

#[derive(Clone, Debug)]
struct FlowQueue<P> {
    fifo: Fifo<P>,
    control: Control,
    /// Bytes that it may still send in this turn; below zero after a packet that was longer.
    deficit: i64,
    is_listed: bool,
}

impl<P: EcnField> FqCoDel<P> {
    pub(crate) fn new(config: FqCoDelConfig, limit: QueueLimit, hash: Stream) -> Self {
        let queue = |_| FlowQueue {
            fifo: Fifo::default(),
            control: Control::default(),
            deficit: 0,
            is_listed: false,
        };
        Self {
            queues: (0..config.queues.max(1)).map(queue).collect(),
            config,
            limit,
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
        let index = self.queue_of(waiting.transmission.flow);
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
        let longest = |best: usize, (index, queue): (usize, &FlowQueue<P>)| {
            if queue.fifo.bytes() > self.queues[best].fifo.bytes() {
                index
            } else {
                best
            }
        };
        let index = self.queues.iter().enumerate().fold(0, longest);
        let queue = &mut self.queues[index];
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

    /// All values are equally likely for any number of queues.
    #[inline]
    fn queue_of(&mut self, flow: u32) -> u32 {
        match self.last {
            Some((last, queue)) if last == flow => queue,
            _ => {
                let hash = u128::from(self.hash.draw(u64::from(flow)));
                let queue = ((hash * self.queues.len() as u128) >> 64) as u32;
                self.last = Some((flow, queue));
                queue
            }
        }
    }
}
