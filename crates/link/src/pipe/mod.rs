//! One direction of a link: a queue, a server, an error model and a delay.
//!
//! However many packets are in it, a pipe needs one pending event: the arrival of the next. Packets
//! wait for it in a ring sorted by arrival; those that arrive together stay in the order in which
//! they were sent.

use crate::delay::{Delay, DelayProcess};
use crate::error::{ErrorModel, ErrorProcess};
use crate::queue::QueueLimit;
use crate::queue::drop_tail::DropTail;
use crate::random::Stream;
use crate::service::{Server, Service};
use airtcp_units::Instant;
use std::collections::VecDeque;

/// What the link has to know about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Size on the link, headers included.
    pub bytes: u32,
    /// Whose packet it is; flows are numbered from zero without gaps.
    pub flow: u32,
    /// How many packets this flow has handed to this direction before: 0, 1, 2, ...
    pub index: u64,
}

/// What becomes of a packet that is handed to a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It will arrive.
    Queued,
    /// The queue had no room; it takes nothing of the link.
    Overflow,
    /// It takes its turn on the link, but is damaged and never arrives.
    Lost,
}

/// The parts of a [`Pipe`].
#[derive(Clone, Debug)]
pub struct PipeConfig {
    /// How fast the link takes packets.
    pub service: Service,
    /// How much may wait for it.
    pub queue: QueueLimit,
    /// What is lost on it.
    pub error: ErrorModel,
    /// How long a packet is under way.
    pub delay: Delay,
}

/// One direction of a link that carries packets of type `P`.
#[derive(Clone, Debug)]
pub struct Pipe<P> {
    server: Server,
    queue: DropTail,
    errors: ErrorProcess,
    delays: DelayProcess,
    under_way: VecDeque<UnderWay<P>>,
}

#[derive(Clone, Debug)]
struct UnderWay<P> {
    arrival: Instant,
    packet: P,
}

impl<P> Pipe<P> {
    /// An idle pipe; its losses are drawn from `stream`, which nothing else may use.
    pub fn new(config: PipeConfig, stream: Stream) -> Self {
        Self {
            server: Server::new(config.service),
            queue: DropTail::new(config.queue),
            errors: ErrorProcess::new(config.error, stream),
            delays: DelayProcess::new(config.delay, stream),
            under_way: VecDeque::new(),
        }
    }

    /// Hands `packet` to the link at `now`, which may not lie before the `now` of an earlier call.
    #[inline]
    pub fn push(&mut self, now: Instant, transmission: Transmission, packet: P) -> Admission {
        let lost = self.errors.loses(&transmission);
        let start = self.server.next_start(now);
        if !self.queue.admit(now, start, transmission.bytes) {
            return Admission::Overflow;
        }
        let departure = self.server.serve(start, transmission.bytes);
        if lost {
            return Admission::Lost;
        }
        let arrival = self.delays.arrival(departure, &transmission);
        self.insert(UnderWay { arrival, packet });
        Admission::Queued
    }

    /// When the next packet arrives; [`Instant::FAR_FUTURE`] when none is under way.
    #[inline]
    pub fn next_arrival(&self) -> Instant {
        self.under_way
            .front()
            .map_or(Instant::FAR_FUTURE, |head| head.arrival)
    }

    /// The next packet, if it has arrived by `now`.
    #[inline]
    pub fn pop(&mut self, now: Instant) -> Option<P> {
        if self.under_way.front()?.arrival > now {
            return None;
        }
        self.under_way.pop_front().map(|head| head.packet)
    }

    /// How many packets wait for the link at `now`.
    pub fn queued_packets(&mut self, now: Instant) -> usize {
        self.queue.packets(now)
    }

    /// How many bytes wait for the link at `now`.
    pub fn queued_bytes(&mut self, now: Instant) -> u64 {
        self.queue.bytes(now)
    }

    /// How many packets have been admitted, will arrive, and have not been taken by [`Self::pop`]:
    /// waiting, in service, under way or arrived.
    pub fn in_flight(&self) -> usize {
        self.under_way.len()
    }

    #[inline]
    fn insert(&mut self, new: UnderWay<P>) {
        match self.under_way.back() {
            Some(back) if back.arrival > new.arrival => {
                // It overtakes: few do, and not by much, so its place is near the end.
                let behind = self.under_way.iter().rev();
                let overtaken = behind
                    .take_while(|other| other.arrival > new.arrival)
                    .count();
                self.under_way.insert(self.under_way.len() - overtaken, new);
            }
            _ => self.under_way.push_back(new),
        }
    }
}

#[cfg(test)]
mod tests;
