//! Service times of the link: one file per kind of link.
//!
//! A server is first in, first out and ignores the content of packets. It is called in two steps,
//! since a packet refused by the queue must not take the link's time: `next_start` returns when a
//! packet arriving now would be taken from the queue, `serve` takes it.

mod constant;
mod load_dependent;
mod opportunities;
mod stopping;
mod suspended;

use crate::random::Stream;
use crate::stops::{StopSequence, Stops};
use crate::trace::light::LightTrace;
use crate::trace::mahimahi::MahimahiTrace;
use airtcp_units::{BitRate, Duration, Instant};
use std::sync::Arc;

/// Rate at which the link takes packets.
#[derive(Clone, Debug)]
pub enum Service {
    /// Immediately: the link is never the bottleneck.
    Unlimited,
    /// At a constant rate.
    Constant(BitRate),
    /// At a constant rate, with stops: a transmission in progress is paused and resumes.
    Suspended {
        /// Rate while the link works.
        rate: BitRate,
        /// Its stops.
        stops: Stops,
    },
    /// At recorded delivery opportunities.
    Mahimahi(Arc<MahimahiTrace>),
    /// At recorded opportunities that differ after a pause.
    LoadDependent {
        /// Opportunities of a link that has had packets to send for longer than a train.
        heavy: Arc<MahimahiTrace>,
        /// The same of the first packets after a pause.
        light: Arc<LightTrace>,
    },
}

impl Service {
    /// The long-term rate, without stops; `None` if unlimited.
    #[must_use]
    pub fn mean_rate(&self) -> Option<BitRate> {
        match self {
            Self::Unlimited => None,
            Self::Constant(rate) | Self::Suspended { rate, .. } => Some(*rate),
            Self::Mahimahi(trace) | Self::LoadDependent { heavy: trace, .. } => {
                let count = trace.opportunities_ms().len() as u64;
                let bits = 8 * u64::from(trace.opportunity_bytes()) * count;
                Some(BitRate::from_bps((1000 * bits / trace.period_ms()).max(1)))
            }
        }
    }
}

/// The running state of a [`Service`].
#[derive(Clone, Debug)]
pub(crate) enum Server {
    Unlimited,
    Constant(constant::Constant),
    Suspended(suspended::Suspended),
    Stopping(Box<stopping::Stopping>),
    Opportunities(opportunities::Opportunities),
    LoadDependent(Box<load_dependent::LoadDependent>),
}

impl Server {
    /// `stream` is the pipe's, the source of random stops.
    pub(crate) fn new(service: Service, stream: Stream) -> Self {
        match service {
            Service::Unlimited => Self::Unlimited,
            Service::Constant(rate) => Self::Constant(constant::Constant::new(rate)),
            Service::Suspended { rate, stops } => Self::suspended(rate, stops, stream),
            Service::Mahimahi(trace) => {
                Self::Opportunities(opportunities::Opportunities::new(trace))
            }
            Service::LoadDependent { heavy, light } => {
                let server = load_dependent::LoadDependent::new(heavy, light);
                Self::LoadDependent(Box::new(server))
            }
        }
    }

    fn suspended(rate: BitRate, stops: Stops, stream: Stream) -> Self {
        let constant = || Self::Constant(constant::Constant::new(rate));
        match stops {
            Stops::Periodic {
                length: Duration::ZERO,
                ..
            } => constant(),
            Stops::Periodic { every, length } => {
                Self::Suspended(suspended::Suspended::new(rate, every, length))
            }
            listed => StopSequence::new(listed, stream).map_or_else(constant, |stops| {
                Self::Stopping(Box::new(stopping::Stopping::new(rate, stops)))
            }),
        }
    }

    /// Time at which a packet arriving at `now` would leave the queue.
    #[inline]
    pub(crate) fn next_start(&mut self, now: Instant) -> Instant {
        match self {
            Self::Unlimited => now,
            Self::Constant(server) => server.next_start(now),
            Self::Suspended(server) => server.next_start(now),
            Self::Stopping(server) => server.next_start(now),
            Self::Opportunities(server) => server.next_start(now),
            Self::LoadDependent(server) => server.next_start(now),
        }
    }

    /// Bytes that the link could have carried in the `window` that ends at `until`, the end
    /// included; `None` if it does not know: it stops, or its capacity depends on the load.
    pub(crate) fn capacity(&self, until: Instant, window: Duration) -> Option<u64> {
        match self {
            Self::Constant(server) => Some(server.capacity(window)),
            Self::Opportunities(server) => Some(server.capacity(until, window)),
            _ => None,
        }
    }

    /// Time at which an already queued packet would leave the queue, after the one served from
    /// `start`.
    pub(crate) fn next_start_behind(&mut self, start: Instant) -> Instant {
        match self {
            Self::Opportunities(server) => server.next_start_behind(),
            Self::LoadDependent(server) => server.next_start_behind(start),
            other => other.next_start(start),
        }
    }

    /// Serves a packet from `start`, which [`Self::next_start`] has just returned; returns when its
    /// last byte is on the link.
    #[inline]
    pub(crate) fn serve(&mut self, start: Instant, bytes: u32) -> Instant {
        match self {
            Self::Unlimited => start,
            Self::Constant(server) => server.serve(start, bytes),
            Self::Suspended(server) => server.serve(start, bytes),
            Self::Stopping(server) => server.serve(start, bytes),
            Self::Opportunities(server) => server.serve(bytes),
            Self::LoadDependent(server) => server.serve(start, bytes),
        }
    }
}

#[cfg(test)]
mod tests;
