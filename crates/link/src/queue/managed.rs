//! Queues that decide at the head: what is served is known only when it is.
//!
//! [Drop-tail](super::drop_tail) knows when each packet leaves as it comes, and needs no event for
//! it. Here the packets themselves wait, and the pipe is woken for each departure.

use std::collections::VecDeque;

use airtcp_units::Instant;

use super::codel::{CoDelConfig, Control, Head};
use super::fq_codel::FqCoDel;
use super::{Discipline, EcnField, QueueLimit};
use crate::frame::{Admission, QueuedPacket};
use crate::random::Stream;

/// First in, first out.
#[derive(Clone, Debug)]
pub(super) struct Fifo<P> {
    packets: VecDeque<QueuedPacket<P>>,
    bytes: u64,
}

impl<P> Default for Fifo<P> {
    fn default() -> Self {
        Self {
            packets: VecDeque::new(),
            bytes: 0,
        }
    }
}

impl<P> Fifo<P> {
    pub fn push(&mut self, waiting: QueuedPacket<P>) {
        self.bytes += u64::from(waiting.transmission.bytes);
        self.packets.push_back(waiting);
    }

    pub fn pop(&mut self) -> Option<QueuedPacket<P>> {
        let waiting = self.packets.pop_front()?;
        self.bytes -= u64::from(waiting.transmission.bytes);
        Some(waiting)
    }

    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// A queue with a discipline other than drop-tail.
#[derive(Clone, Debug)]
pub(crate) struct ManagedQueue<P> {
    kind: Kind<P>,
    /// When the next packet is taken from the queue; [`Instant::FAR_FUTURE`] when none waits.
    pub next_departure: Instant,
    /// Packets that will not arrive, and why, oldest first.
    pub discarded: VecDeque<(P, Admission)>,
}

#[derive(Clone, Debug)]
enum Kind<P> {
    DropTail {
        limit: QueueLimit,
        fifo: Fifo<P>,
    },
    CoDel {
        config: CoDelConfig,
        limit: QueueLimit,
        control: Control,
        fifo: Fifo<P>,
    },
    FqCoDel(FqCoDel<P>),
}

impl<P: EcnField> ManagedQueue<P> {
    /// An empty queue, or `None` for drop-tail, which a pipe need not ask at each departure.
    pub fn new(discipline: Discipline, limit: QueueLimit, hash: Stream) -> Option<Self> {
        (discipline != Discipline::DropTail).then(|| Self::of(discipline, limit, hash))
    }

    /// An empty queue.
    pub fn of(discipline: Discipline, limit: QueueLimit, hash: Stream) -> Self {
        let kind = match discipline {
            Discipline::DropTail => Kind::DropTail {
                limit,
                fifo: Fifo::default(),
            },
            Discipline::CoDel(config) => Kind::CoDel {
                config,
                limit,
                control: Control::default(),
                fifo: Fifo::default(),
            },
            Discipline::FqCoDel(config) => Kind::FqCoDel(FqCoDel::new(config, limit, hash)),
        };
        Self {
            kind,
            next_departure: Instant::FAR_FUTURE,
            discarded: VecDeque::new(),
        }
    }

    /// Packets that wait.
    pub fn packets(&self) -> usize {
        match &self.kind {
            Kind::DropTail { fifo, .. } | Kind::CoDel { fifo, .. } => fifo.packets.len(),
            Kind::FqCoDel(queues) => queues.packets(),
        }
    }

    /// Bytes that wait.
    pub const fn bytes(&self) -> u64 {
        match &self.kind {
            Kind::DropTail { fifo, .. } | Kind::CoDel { fifo, .. } => fifo.bytes(),
            Kind::FqCoDel(queues) => queues.bytes(),
        }
    }

    /// Adds a packet, or says `false` when there is no room. Where room is made by dropping others,
    /// they are among the discarded.
    pub fn push(&mut self, waiting: QueuedPacket<P>) -> bool {
        let discarded = &mut self.discarded;
        match &mut self.kind {
            Kind::DropTail { fifo, limit } | Kind::CoDel { fifo, limit, .. } => {
                let bytes = waiting.transmission.bytes;
                if !limit.has_room(fifo.packets.len(), fifo.bytes(), bytes) {
                    return false;
                }
                fifo.push(waiting);
            }
            Kind::FqCoDel(queues) => queues.push(waiting, |dropped| {
                discarded.push_back((dropped.packet, Admission::Overflow));
            }),
        }
        true
    }

    /// Drops from the head, of the longest queue where there are several: another queue that shares
    /// the room needs it.
    pub fn shorten(&mut self) {
        let discarded = &mut self.discarded;
        let mut discard = |dropped: QueuedPacket<P>| {
            discarded.push_back((dropped.packet, Admission::Overflow));
        };
        match &mut self.kind {
            Kind::DropTail { fifo, .. } | Kind::CoDel { fifo, .. } => {
                fifo.pop().into_iter().for_each(discard);
            }
            Kind::FqCoDel(queues) => queues.shorten_longest(&mut discard),
        }
    }

    /// The packet that is served at `now`; what is dropped on the way is among the discarded.
    pub fn dequeue(&mut self, now: Instant) -> Option<QueuedPacket<P>> {
        let discarded = &mut self.discarded;
        let discard = |dropped: QueuedPacket<P>| {
            discarded.push_back((dropped.packet, Admission::Overflow));
        };
        match &mut self.kind {
            Kind::DropTail { fifo, .. } => fifo.pop(),
            Kind::CoDel {
                config,
                control,
                fifo,
                ..
            } => {
                let take = || {
                    let waiting = fifo.pop()?;
                    let backlog = fifo.bytes();
                    Some(Head { waiting, backlog })
                };
                control.dequeue(now, config, take, discard)
            }
            Kind::FqCoDel(queues) => queues.dequeue(now, discard),
        }
    }
}
