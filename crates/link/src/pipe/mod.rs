//! One direction of a link: a policer, a queue, a server, an error model and a delay.
//!
//! However many packets are in it, a pipe needs one pending event: the arrival of the next. Packets
//! wait for it in a ring sorted by arrival; simultaneous arrivals stay in the order in which they
//! were sent. A queue that decides at its head adds a second time, the next departure, but still
//! needs one event: whichever is first; likewise a shaper in front.

mod shaper;

use self::shaper::Shaper;
use crate::delay::{BaseDelay, Delay, DelayProcess, RecordingStart};
use crate::error::{ErrorModel, ErrorProcess};
use crate::frame::{Admission, QueuedPacket, Transmission};
use crate::policer::{Policer, PolicerConfig};
use crate::queue::drop_tail::DropTail;
use crate::queue::managed::ManagedQueue;
use crate::queue::{CakeConfig, Discipline, EcnField, QueueLimit};
use crate::random::Stream;
use crate::service::{Server, Service};
use crate::stops::Stops;
use crate::trace::conditions::Conditions;
use crate::trace::repeat::Repeat;
use airtcp_units::{Duration, Instant};
use std::collections::VecDeque;
use std::sync::Arc;

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

/// The parts of a [`Pipe`].
#[derive(Clone, Debug)]
pub struct PipeConfig {
    /// Drops packets that exceed its tokens, before the queue.
    pub policer: Option<PolicerConfig>,
    /// Rate at which the link takes packets.
    pub service: Service,
    /// Its queue.
    pub queue: QueueLimit,
    /// The choice of the packet that is served, dropped or marked.
    pub discipline: Discipline,
    /// Its losses.
    pub error: ErrorModel,
    /// One-way delay of a packet.
    pub delay: Delay,
}

impl PipeConfig {
    /// A line without losses and with an unlimited queue.
    #[must_use]
    pub fn line(service: Service, delay: Delay) -> Self {
        Self {
            policer: None,
            service,
            queue: QueueLimit::Unlimited,
            discipline: Discipline::DropTail,
            error: ErrorModel::None,
            delay,
        }
    }

    /// The same direction; its random stops, and the start of its recordings, are drawn from
    /// `shared`, so that two directions with the same stream stop and change together.
    #[must_use]
    pub fn with_shared_draws(mut self, shared: Stream) -> Self {
        if let Service::Suspended { stops, .. } = &mut self.service {
            *stops = stops.clone().shared(shared);
        }
        if let Delay::Variable(delay) = &mut self.delay {
            delay.held = delay.held.take().map(|stops| stops.shared(shared));
            if let BaseDelay::Recorded { conditions, .. } = &mut delay.base {
                *conditions = Arc::clone(conditions).begun(shared);
            }
        }
        if let ErrorModel::Recorded(conditions) = &mut self.error {
            *conditions = Arc::clone(conditions).begun(shared);
        }
        self
    }

    /// The same direction; its recordings of delays, losses and stops repeat according to `repeat`.
    #[must_use]
    pub fn with_repeat(mut self, repeat: Repeat) -> Self {
        let stops = |stops: &mut Stops| {
            if let Stops::Recorded(list) = stops {
                *list = Arc::new(list.repeated(repeat));
            }
        };
        let conditions =
            |conditions: &mut Arc<Conditions>| *conditions = Arc::new(conditions.repeated(repeat));
        if let Service::Suspended { stops: of, .. } = &mut self.service {
            stops(of);
        }
        if let Delay::Variable(delay) = &mut self.delay {
            delay.held.iter_mut().for_each(stops);
            if let BaseDelay::Recorded { conditions: of, .. } = &mut delay.base {
                conditions(of);
            }
        }
        if let ErrorModel::Recorded(of) = &mut self.error {
            conditions(of);
        }
        self
    }

    /// Whether anything in it depends on the seed. The hash of flow queues does, and so do random
    /// drops.
    #[must_use]
    pub fn draws(&self) -> bool {
        let begins = |repeat: Option<&Repeat>| repeat.is_some_and(Repeat::draws);
        let random = |stops: &Stops| match stops {
            Stops::Random(_) => true,
            Stops::Recorded(list) => begins(list.repeat()),
            Stops::Periodic { .. } => false,
        };
        let delays = match &self.delay {
            Delay::Constant(_) => false,
            Delay::Variable(delay) => {
                delay.jitter.is_some()
                    || delay.late.is_some()
                    || delay.held.as_ref().is_some_and(random)
                    || matches!(&delay.base, BaseDelay::Recorded { conditions, .. }
                        if begins(conditions.repeat()))
            }
            Delay::Recorded { start, .. } => *start == RecordingStart::Random,
            Delay::Modelled { .. } => true,
        };
        let stops = match &self.service {
            Service::Suspended { stops, .. } => random(stops),
            _ => false,
        };
        delays || stops || self.discipline.draws() || self.error.draws()
    }

    /// Its stops, if it has any: packets wait for its service, or are held.
    #[must_use]
    pub fn stops(&self) -> Option<&Stops> {
        match (&self.service, &self.delay) {
            (Service::Suspended { stops, .. }, _) => Some(stops),
            (_, Delay::Variable(delay)) => delay.held.as_ref(),
            _ => None,
        }
    }
}

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
        Self {
            policer: config.policer.map(Policer::new),
            server: Server::new(config.service, stream),
            queue: DropTail::new(config.queue),
            managed: match &shaper {
                None => ManagedQueue::new(config.discipline, config.queue, draws).map(Box::new),
                Some(_) => None,
            },
            shaper,
            errors: ErrorProcess::new(config.error, stream),
            delays: DelayProcess::new(config.delay, stream),
            under_way: VecDeque::new(),
            next_arrival: Instant::FAR_FUTURE,
            last_arrival: Instant::ZERO,
        }
    }

    /// Hands `packet` to the link at `now`, which may not lie before the `now` of an earlier call.
    #[inline]
    pub fn push(&mut self, now: Instant, transmission: Transmission, packet: P) -> Admission {
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
        let start = self.server.next_start(now);
        if !self.queue.admit(now, start, transmission.bytes) {
            return Err((packet, Admission::Overflow));
        }
        let departure = self.server.serve(start, transmission.bytes);
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
        let arrival = match &self.shaper {
            None => self.next_arrival,
            Some(shaper) => self.next_arrival.min(shaper.next),
        };
        match &self.managed {
            None => arrival,
            Some(queue) => arrival.min(queue.next_departure),
        }
    }

    /// The next packet, if it has arrived by `now`. To be called until it returns `None`.
    #[inline]
    pub fn pop(&mut self, now: Instant) -> Option<P> {
        if self.managed.is_some() {
            self.serve_until(now);
        }
        if self.shaper.is_some() {
            self.release_until(now);
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
        self.managed.is_some() || self.shaper.is_some()
    }

    /// A packet that was [queued](Admission::Queued) and will not arrive, since the queue's
    /// discipline dropped it or the link has lost it; never with drop-tail, where that is known on
    /// entry. To be called after [`Self::push`] and [`Self::pop`] until it returns `None`.
    #[inline]
    pub fn take_discarded(&mut self) -> Option<(P, Admission)> {
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
        self.under_way.len() + waiting + shaped
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
            let Some(served) = queue.dequeue(start) else {
                queue.next_departure = Instant::FAR_FUTURE;
                return;
            };
            let departure = self.server.serve(start, served.transmission.bytes);
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
