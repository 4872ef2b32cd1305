//! One direction of a link: a policer, a queue, a server, an error model and a delay.
//!
//! However many packets are in it, a pipe needs one pending event: the arrival of the next. Packets
//! wait for it in a ring sorted by arrival; simultaneous arrivals stay in the order in which they
//! were sent. A queue that decides at its head adds a second time, the next departure, but still
//! needs one event: whichever is first; likewise a shaper in front. Packets that wait for repair
//! packets add the end of their block.

mod config;
mod fec;
mod ordinary;
mod protection;
mod shaper;

use self::fec::Fec;
use self::shaper::Shaper;
use crate::delay::{Delay, DelayProcess};
use crate::error::ErrorProcess;
use crate::frame::{Admission, QueuedPacket, Transmission};
use crate::policer::Policer;
use crate::queue::drop_tail::DropTail;
use crate::queue::managed::ManagedQueue;
use crate::queue::{CakeConfig, EcnField};
use crate::random::Stream;
use crate::service::Server;
use airtcp_units::{Duration, Instant};
use std::collections::VecDeque;

pub use self::config::PipeConfig;
pub use self::fec::FecConfig;

/// The shaper in front of that link, with its initial rate; `None` without a shaper, or if it would
/// follow a link that never makes packets wait.
fn shaper_of(config: &PipeConfig) -> Option<CakeConfig> {
    let shaper = config.discipline.shaper()?;
    let rate = shaper.rate.or_else(|| config.service.mean_rate())?;
    Some(CakeConfig {
        rate: Some(rate),
        ..*shaper
    })
}

/// The flow queue of a packet is drawn from this part of a pipe's stream.
const QUEUE_DRAWS: u64 = u64::MAX - 5;

/// One direction of a link that carries packets of type `P`.
#[derive(Clone, Debug)]
pub struct Pipe<P> {
    policer: Option<Policer>,
    server: Server,
    queue: DropTail,
    /// In front of `queue`, if the discipline shapes.
    shaper: Option<Box<Shaper<P>>>,
    /// In place of `queue`, if the discipline decides at the head.
    managed: Option<Box<ManagedQueue<P>>>,
    /// Its repair packets.
    fec: Option<Box<Fec<P>>>,
    /// None of the three: the fate of a packet is known on entry. One flag is read for each packet,
    /// in place of three parts.
    is_plain: bool,
    /// Whether [`ordinary`] describes the whole pipe.
    is_ordinary: bool,
    errors: ErrorProcess,
    delays: DelayProcess,
    under_way: VecDeque<UnderWay<P>>,
    /// Arrival time of the first of them, [`Instant::FAR_FUTURE`] if there are no packets, and of
    /// the last of all: cached, since they are read far more often than they change.
    next_arrival: Instant,
    last_arrival: Instant,
}

#[derive(Clone, Debug)]
struct UnderWay<P> {
    arrival: Instant,
    packet: P,
}

impl<P: EcnField> Pipe<P> {
    /// An idle pipe; its losses are drawn from `stream`, which nothing else may use.
    pub fn new(config: PipeConfig, stream: Stream) -> Self {
        let draws = stream.substream(QUEUE_DRAWS);
        let shaper = shaper_of(&config).map(|shaper| {
            let delay = match config.delay {
                Delay::Constant(delay) => delay,
                // A shaper cannot influence a variable delay.
                _ => Duration::ZERO,
            };
            Box::new(Shaper::new(shaper, delay, draws))
        });
        let managed = match &shaper {
            None => ManagedQueue::new(config.discipline, config.queue, draws).map(Box::new),
            Some(_) => None,
        };
        let is_plain = shaper.is_none() && managed.is_none() && config.fec.is_none();
        Self {
            is_plain,
            is_ordinary: is_plain && ordinary::is_all_of(&config),
            policer: config.policer.map(Policer::new),
            server: Server::new(config.service, stream),
            queue: DropTail::new(config.queue),
            shaper,
            managed,
            fec: config.fec.map(|fec| Box::new(Fec::new(fec))),
            errors: ErrorProcess::new(config.error, stream),
            delays: DelayProcess::new(config.delay, stream),
            under_way: VecDeque::new(),
            next_arrival: Instant::FAR_FUTURE,
            last_arrival: Instant::ZERO,
        }
    }

    /// Hands `packet` to the link at `now`, which may not lie before the `now` of an earlier call.
    #[inline(always)]
    pub fn push(&mut self, now: Instant, transmission: Transmission, packet: P) -> Admission {
        if self.is_ordinary {
            return self.push_ordinary(now, &transmission, packet);
        }
        self.push_any(now, transmission, packet)
    }

    /// As [`push`](Self::push), for every kind of pipe.
    #[inline(never)]
    fn push_any(&mut self, now: Instant, transmission: Transmission, packet: P) -> Admission {
        let lost = self.errors.loses(&transmission);
        let queued = |packet| QueuedPacket {
            packet,
            transmission,
            is_lost: lost,
            since: now,
        };
        if self.shaper.is_some() {
            return self.push_shaped(queued(packet));
        }
        if !self.is_within_police(now, transmission.bytes) {
            return Admission::Overflow;
        }
        if self.managed.is_some() {
            return self.push_managed(queued(packet));
        }
        match self.enter(now, transmission, packet, lost) {
            Ok(()) => Admission::Queued,
            Err((_, admission)) => admission,
        }
    }

    #[inline]
    fn is_within_police(&mut self, now: Instant, bytes: u32) -> bool {
        let policer = self.policer.as_mut();
        policer.is_none_or(|policer| policer.admit(now, bytes))
    }

    /// Hands a packet to a drop-tail queue and the link after it; the packet is returned, with its
    /// fate, unless it is queued.
    #[inline]
    fn enter(
        &mut self,
        now: Instant,
        transmission: Transmission,
        packet: P,
        lost: bool,
    ) -> Result<(), (P, Admission)> {
        let is_protected = self.fec.is_some();
        if is_protected {
            self.end_block_by(now);
        }
        let start = self.server.next_start(now);
        if !self.queue.admit(now, start, transmission.bytes) {
            return Err((packet, Admission::Overflow));
        }
        let departure = self.server.serve(start, transmission.bytes);
        if is_protected {
            self.protect(start, departure, transmission, packet, lost);
            return Ok(());
        }
        if lost || self.errors.loses_at(departure, &transmission) {
            return Err((packet, Admission::Lost));
        }
        let arrival = self.delays.arrival(departure, &transmission);
        self.insert(arrival, packet);
        Ok(())
    }

    /// Time of the next call of [`Self::pop`]: a packet arrives, or a queue that decides at its
    /// head is to decide; [`Instant::FAR_FUTURE`] for never.
    #[inline]
    pub fn next_wakeup(&self) -> Instant {
        if self.is_plain {
            return self.next_arrival;
        }
        self.next_arrival.min(self.next_decision())
    }

    /// When a shaper, a queue that decides at its head or a block of repair packets acts next.
    #[inline(never)]
    fn next_decision(&self) -> Instant {
        let never = Instant::FAR_FUTURE;
        let released = self.shaper.as_ref().map_or(never, |shaper| shaper.next);
        let served = (self.managed.as_ref()).map_or(never, |queue| queue.next_departure);
        let repaired = self.fec.as_ref().map_or(never, |fec| self.block_ends(fec));
        released.min(served).min(repaired)
    }

    /// The next packet, if it has arrived by `now`. To be called until it returns `None`.
    #[inline]
    pub fn pop(&mut self, now: Instant) -> Option<P> {
        if !self.is_plain {
            self.decide_until(now);
        }
        if self.next_arrival > now {
            return None;
        }
        let head = self.under_way.pop_front()?;
        self.next_arrival = self
            .under_way
            .front()
            .map_or(Instant::FAR_FUTURE, |next| next.arrival);
        Some(head.packet)
    }

    /// Whether packets that were queued may be discarded.
    #[inline]
    pub const fn discards(&self) -> bool {
        !self.is_plain
    }

    /// A packet that was [queued](Admission::Queued) and will not arrive, since the queue's
    /// discipline dropped it or the link has lost it; never with drop-tail, where that is known on
    /// entry. To be called after [`Self::push`] and [`Self::pop`] until it returns `None`.
    #[inline]
    pub fn take_discarded(&mut self) -> Option<(P, Admission)> {
        if self.is_plain {
            return None;
        }
        if let Some(fec) = &mut self.fec
            && let Some(lost) = fec.discarded.pop_front()
        {
            return Some((lost, Admission::Lost));
        }
        if let Some(shaper) = &mut self.shaper {
            return shaper.discarded.pop_front();
        }
        self.managed.as_mut()?.discarded.pop_front()
    }

    /// Packets queued for the link at `now`.
    pub fn queued_packets(&mut self, now: Instant) -> usize {
        let shaped = self.shaper.as_ref().map_or(0, |shaper| shaper.packets());
        match &self.managed {
            None => shaped + self.queue.packets(now),
            Some(queue) => queue.packets(),
        }
    }

    /// Bytes queued for the link at `now`.
    pub fn queued_bytes(&mut self, now: Instant) -> u64 {
        let shaped = self.shaper.as_ref().map_or(0, |shaper| shaper.bytes());
        match &self.managed {
            None => shaped + self.queue.bytes(now),
            Some(queue) => queue.bytes(),
        }
    }

    /// Number of packets that have been admitted and have neither been taken by [`Self::pop`] nor
    /// discarded: waiting, in service, in transit or arrived.
    pub fn in_flight(&self) -> usize {
        let waiting = self.managed.as_ref().map_or(0, |queue| queue.packets());
        let shaped = self.shaper.as_ref().map_or(0, |shaper| shaper.packets());
        let protected = self.fec.as_ref().map_or(0, |fec| fec.waiting());
        self.under_way.len() + waiting + shaped + protected
    }

    #[inline(never)]
    fn push_shaped(&mut self, packet: QueuedPacket<P>) -> Admission {
        let now = packet.since;
        self.release_until(now);
        if let Some(shaper) = &mut self.shaper {
            shaper.push(packet);
        }
        self.release_until(now);
        Admission::Queued
    }

    /// Does what is due by `now` in a pipe that is not plain.
    #[inline(never)]
    fn decide_until(&mut self, now: Instant) {
        self.serve_until(now);
        self.release_until(now);
        self.end_block_if_waiting(now);
    }

    /// Hands the packets that the shaper releases by `now` to the link.
    #[inline(never)]
    fn release_until(&mut self, now: Instant) {
        while let Some(shaper) = &mut self.shaper
            && shaper.next <= now
            && shaper.next < Instant::FAR_FUTURE
        {
            let at = shaper.next;
            let server = &mut self.server;
            shaper.follow(at, |sent| server.next_start(sent) - sent);
            let Some(released) = shaper.take(at) else {
                continue;
            };
            let QueuedPacket {
                packet,
                transmission,
                is_lost,
                ..
            } = released;
            let entered = if self.is_within_police(at, transmission.bytes) {
                self.enter(at, transmission, packet, is_lost)
            } else {
                Err((packet, Admission::Overflow))
            };
            if let (Err(discarded), Some(shaper)) = (entered, &mut self.shaper) {
                shaper.discarded.push_back(discarded);
            }
        }
    }

    #[inline(never)]
    fn push_managed(&mut self, packet: QueuedPacket<P>) -> Admission {
        let now = packet.since;
        // Packets that are due go first.
        self.serve_until(now);
        if self
            .managed
            .as_ref()
            .is_some_and(|queue| queue.packets() == 0)
        {
            self.end_block_by(now);
        }
        let Some(queue) = &mut self.managed else {
            return Admission::Overflow;
        };
        if !queue.push(packet) {
            return Admission::Overflow;
        }
        if queue.next_departure == Instant::FAR_FUTURE {
            queue.next_departure = self.server.next_start(now);
            self.serve_until(now);
        }
        Admission::Queued
    }

    /// Serves the packets that are due by `now` from a queue that decides at its head.
    #[inline(never)]
    fn serve_until(&mut self, now: Instant) {
        while let Some(queue) = &mut self.managed
            && queue.next_departure <= now
            && queue.next_departure < Instant::FAR_FUTURE
        {
            let start = queue.next_departure;
            if let Some(window) = queue.capacity_window()
                && let Some(bytes) = self.server.capacity(start, window)
            {
                queue.note_capacity(bytes);
            }
            let Some(served) = queue.dequeue(start) else {
                queue.next_departure = Instant::FAR_FUTURE;
                return;
            };
            let departure = self.server.serve(start, served.transmission.bytes);
            if self.fec.is_some() {
                let QueuedPacket {
                    packet,
                    transmission,
                    is_lost,
                    ..
                } = served;
                let last = self.protect(start, departure, transmission, packet, is_lost);
                if let Some(queue) = &mut self.managed {
                    queue.next_departure = match queue.packets() {
                        0 => Instant::FAR_FUTURE,
                        _ => self.server.next_start_behind(last),
                    };
                }
                continue;
            }
            queue.next_departure = if queue.packets() == 0 {
                Instant::FAR_FUTURE
            } else {
                self.server.next_start_behind(start)
            };
            if served.is_lost || self.errors.loses_at(departure, &served.transmission) {
                queue.discarded.push_back((served.packet, Admission::Lost));
                continue;
            }
            let arrival = self.delays.arrival(departure, &served.transmission);
            self.insert(arrival, served.packet);
        }
    }

    #[inline]
    fn insert(&mut self, arrival: Instant, packet: P) {
        self.next_arrival = self.next_arrival.min(arrival);
        if arrival < self.last_arrival {
            return self.overtake(UnderWay { arrival, packet });
        }
        self.last_arrival = arrival;
        self.under_way.push_back(UnderWay { arrival, packet });
    }

    /// Few packets overtake, and not by much, so the position of one is near the end.
    #[inline(never)]
    fn overtake(&mut self, new: UnderWay<P>) {
        let behind = self.under_way.iter().rev();
        let overtaken = behind
            .take_while(|other| other.arrival > new.arrival)
            .count();
        self.under_way.insert(self.under_way.len() - overtaken, new);
    }
}

#[cfg(test)]
mod tests;
