//! ABC's router (P. Goyal et al., "ABC: A Simple Explicit Congestion Controller for Wireless
//! Networks", USENIX NSDI 2020, §3): each departing packet asks its sender for a packet more
//! (accelerate) or a packet less (brake), so that a round trip later the sender's rate is a target
//! that follows the capacity of the link and the delay of the queue.
//!
//! The paper reuses two code points of ECN: a packet leaves its sender as an accelerate, ECT(1),
//! and a router may make it a brake, ECT(0), never the reverse. Congestion experienced
//! keeps its meaning. All other packets pass unmarked, and count as departures.

mod capacity;

use airtcp_packet::Ecn;
use airtcp_units::{Duration, Instant};

use self::capacity::{Backlogged, Departures};
use super::fifo::Fifo;
use super::{EcnField, QueueLimit};
use crate::frame::QueuedPacket;

/// Most tokens, each an accelerate that may leave at once (the authors' router,
/// `cellular_packet_queue.cc`, `token_limit`).
const TOKEN_LIMIT: f64 = 5.0;

/// The parameters of ABC's router.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AbcConfig {
    /// Share of the capacity that is aimed at, η (the authors' router: 0.98).
    pub eta: f64,
    /// Time in which the queue beyond the target is to drain, δ (the authors' router: 133 ms);
    /// stable above two thirds of a round trip. Above zero.
    pub delta: Duration,
    /// Delay in the queue that is tolerated, d_t (the authors' experiments: 50 ms).
    pub target: Duration,
    /// Time over which rates are measured (the authors' router: 20 ms). Above zero.
    pub window: Duration,
}

impl Default for AbcConfig {
    fn default() -> Self {
        Self {
            eta: 0.98,
            delta: Duration::from_millis(133),
            target: Duration::from_millis(50),
            window: Duration::from_millis(20),
        }
    }
}

/// The queue.
#[derive(Clone, Debug)]
pub(super) struct Abc<P> {
    config: AbcConfig,
    limit: QueueLimit,
    fifo: Fifo<P>,
    departures: Departures,
    /// The capacity as it shows in departures, where the link does not know it.
    backlogged: Backlogged,
    /// Bytes that the link could have carried in the last window, where it knows.
    known: Option<u64>,
    tokens: f64,
}

impl<P: EcnField> Abc<P> {
    pub(super) fn new(config: AbcConfig, limit: QueueLimit) -> Self {
        Self {
            config,
            limit,
            fifo: Fifo::default(),
            departures: Departures::default(),
            backlogged: Backlogged::default(),
            known: None,
            tokens: TOKEN_LIMIT,
        }
    }

    pub(super) const fn fifo(&self) -> &Fifo<P> {
        &self.fifo
    }

    pub(super) const fn fifo_mut(&mut self) -> &mut Fifo<P> {
        &mut self.fifo
    }

    /// Time over which the capacity is measured.
    pub(super) const fn window(&self) -> Duration {
        self.config.window
    }

    /// Notes the bytes that the link could have carried in the last window.
    pub(super) const fn note_capacity(&mut self, bytes: u64) {
        self.known = Some(bytes);
    }

    /// Adds a packet; returns `false` if there is no room.
    pub(super) fn push(&mut self, waiting: QueuedPacket<P>) -> bool {
        let bytes = waiting.transmission.bytes;
        let has_room = self
            .limit
            .has_room(self.fifo.packets(), self.fifo.bytes(), bytes);
        if has_room {
            self.fifo.push(waiting);
        }
        has_room
    }

    /// The packet that is served at `now`.
    pub(super) fn dequeue(&mut self, now: Instant) -> Option<QueuedPacket<P>> {
        let mut served = self.fifo.pop()?;
        let bytes = u64::from(served.transmission.bytes);
        let window = self.config.window;
        self.departures.count(now, bytes, window);
        let leaves_some = self.fifo.packets() > 0;
        self.backlogged.count(now, bytes, leaves_some, window);
        if served.packet.ecn() != Ecn::Capable1 {
            return Some(served);
        }
        self.tokens = (self.tokens + self.accelerated_share(bytes)).min(TOKEN_LIMIT);
        // Algorithm 1.
        if self.tokens > 1.0 {
            self.tokens -= 1.0;
        } else {
            served.packet.brake();
        }
        Some(served)
    }

    /// The share of packets that accelerate, f = min(tr / (2 cr), 1), with the target rate
    /// tr = η μ − μ/δ (x − d_t)⁺ (§3). `served`: bytes of the departing packet,
    /// which the queueing delay x includes.
    ///
    /// Where the capacity μ is unknown no packet has waited for another in the window: the link
    /// carries more than arrives, and all accelerate.
    #[expect(
        clippy::cast_precision_loss,
        reason = "bytes of a window are far below 2^53"
    )]
    fn accelerated_share(&self, served: u64) -> f64 {
        let window = self.config.window.as_secs_f64();
        let capacity = match self.known {
            Some(bytes) => Some(bytes as f64 / window),
            None => self.backlogged.rate(),
        };
        let Some(capacity) = capacity.filter(|rate| *rate > 0.0) else {
            return 1.0;
        };
        let departures = self.departures.bytes() as f64 / window;
        let delay = (self.fifo.bytes() + served) as f64 / capacity;
        let late = (delay - self.config.target.as_secs_f64()).max(0.0);
        let target = capacity * (self.config.eta - late / self.config.delta.as_secs_f64());
        (target / (2.0 * departures)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests;
