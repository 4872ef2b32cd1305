//! Queues that decide at the head: the packet served is only known at that time.
//!
//! [Drop-tail](super::drop_tail) knows on arrival when each packet leaves, and needs no event for
//! it. Here the packets themselves wait, and the pipe is woken for each departure.

use std::collections::VecDeque;

use airtcp_units::{Duration, Instant};

use super::abc::Abc;
use super::cake::Cake;
use super::codel::{CoDelConfig, Control, Head};
use super::dual_pi2::DualPi2;
use super::fifo::Fifo;
use super::fq_codel::FqCoDel;
use super::pie::Pie;
use super::{Discipline, EcnField, QueueLimit};
use crate::frame::{Admission, QueuedPacket};
use crate::random::Stream;

/// A queue with a discipline other than drop-tail.
#[derive(Clone, Debug)]
pub(crate) struct ManagedQueue<P> {
    kind: Kind<P>,
    /// Time at which the next packet is taken from the queue; [`Instant::FAR_FUTURE`] if it is
    /// empty.
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
    Pie(Pie<P>),
    DualPi2(DualPi2<P>),
    Cake(Cake<P>),
    Abc(Abc<P>),
}

impl<P: EcnField> ManagedQueue<P> {
    /// An empty queue, or `None` for drop-tail, which a pipe need not query at each departure.
    pub fn new(discipline: Discipline, limit: QueueLimit, draws: Stream) -> Option<Self> {
        (discipline != Discipline::DropTail).then(|| Self::of(discipline, limit, draws))
    }

    /// An empty queue.
    pub fn of(discipline: Discipline, limit: QueueLimit, draws: Stream) -> Self {
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
            Discipline::FqCoDel(config) => Kind::FqCoDel(FqCoDel::new(config, limit, draws)),
            Discipline::Pie(config) => Kind::Pie(Pie::new(config, limit, draws)),
            Discipline::DualPi2(config) => Kind::DualPi2(DualPi2::new(config, limit, draws)),
            Discipline::Cake(config) => Kind::Cake(Cake::new(config, limit, draws)),
            Discipline::Abc(config) => Kind::Abc(Abc::new(config, limit)),
        };
        Self {
            kind,
            next_departure: Instant::FAR_FUTURE,
            discarded: VecDeque::new(),
        }
    }

    /// Packets queued.
    pub fn packets(&self) -> usize {
        match &self.kind {
            Kind::DropTail { fifo, .. } | Kind::CoDel { fifo, .. } => fifo.packets(),
            Kind::FqCoDel(queues) => queues.packets(),
            Kind::Pie(queue) => queue.fifo().packets(),
            Kind::DualPi2(queues) => queues.packets(),
            Kind::Cake(queues) => queues.packets(),
            Kind::Abc(queue) => queue.fifo().packets(),
        }
    }

    /// Bytes queued.
    pub const fn bytes(&self) -> u64 {
        match &self.kind {
            Kind::DropTail { fifo, .. } | Kind::CoDel { fifo, .. } => fifo.bytes(),
            Kind::FqCoDel(queues) => queues.bytes(),
            Kind::Pie(queue) => queue.fifo().bytes(),
            Kind::DualPi2(queues) => queues.bytes(),
            Kind::Cake(queues) => queues.bytes(),
            Kind::Abc(queue) => queue.fifo().bytes(),
        }
    }

    /// Adds a packet; returns `false` if there is no room. Packets dropped to make room are among
    /// the discarded; so is the packet itself if the discipline drops it.
    pub fn push(&mut self, waiting: QueuedPacket<P>) -> bool {
        let discarded = &mut self.discarded;
        match &mut self.kind {
            Kind::DropTail { fifo, limit } | Kind::CoDel { fifo, limit, .. } => {
                let bytes = waiting.transmission.bytes;
                if !limit.has_room(fifo.packets(), fifo.bytes(), bytes) {
                    return false;
                }
                fifo.push(waiting);
            }
            Kind::FqCoDel(queues) => queues.push(waiting, |dropped| {
                discarded.push_back((dropped.packet, Admission::Overflow));
            }),
            Kind::Pie(queue) => {
                return queue.push(waiting, |dropped| {
                    discarded.push_back((dropped.packet, Admission::Overflow));
                });
            }
            Kind::DualPi2(queues) => return queues.push(waiting),
            Kind::Abc(queue) => return queue.push(waiting),
            Kind::Cake(queues) => queues.push(waiting, |dropped| {
                discarded.push_back((dropped.packet, Admission::Overflow));
            }),
        }
        true
    }

    /// At `now` drops from the head, of the longest queue if there are several: another queue that
    /// shares the limit needs the room.
    pub fn shorten(&mut self, now: Instant) {
        let discarded = &mut self.discarded;
        let mut discard = |dropped: QueuedPacket<P>| {
            discarded.push_back((dropped.packet, Admission::Overflow));
        };
        match &mut self.kind {
            Kind::DropTail { fifo, .. } | Kind::CoDel { fifo, .. } => {
                fifo.pop().into_iter().for_each(discard);
            }
            Kind::FqCoDel(queues) => queues.shorten_longest(&mut discard),
            Kind::Pie(queue) => queue.fifo_mut().pop().into_iter().for_each(discard),
            Kind::DualPi2(queues) => queues.shorten().into_iter().for_each(discard),
            Kind::Cake(queues) => queues.shorten(now).into_iter().for_each(discard),
            Kind::Abc(queue) => queue.fifo_mut().pop().into_iter().for_each(discard),
        }
    }

    /// Time over which the discipline wants to know the link's capacity, if it does.
    pub const fn capacity_window(&self) -> Option<Duration> {
        match &self.kind {
            Kind::Abc(queue) => Some(queue.window()),
            _ => None,
        }
    }

    /// Notes the bytes that the link could have carried in the last such time.
    pub const fn note_capacity(&mut self, bytes: u64) {
        if let Kind::Abc(queue) = &mut self.kind {
            queue.note_capacity(bytes);
        }
    }

    /// The packet that is served at `now`; packets dropped on the way are among the discarded.
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
            Kind::Pie(queue) => queue.dequeue(now),
            Kind::DualPi2(queues) => queues.dequeue(now, discard),
            Kind::Cake(queues) => queues.dequeue(now, discard),
            Kind::Abc(queue) => queue.dequeue(now),
        }
    }
}

impl<P: EcnField + Copy> ManagedQueue<P> {
    /// The packet that is served at `now`, as by [`dequeue`](Self::dequeue); `take` gets it in
    /// place.
    #[inline]
    pub fn serve<T>(
        &mut self,
        now: Instant,
        mut take: impl FnMut(&QueuedPacket<P>) -> T,
    ) -> Option<T> {
        if let Kind::FqCoDel(queues) = &mut self.kind
            && let Some(taken) = queues.pass(now, &mut take)
        {
            return Some(taken);
        }
        self.dequeue(now).map(|served| take(&served))
    }
}
