//! When the link serves a packet: one file a kind of link.
//!
//! A server is first in, first out and does not look at what it serves. It is asked in two steps,
//! since a packet that the queue refuses must not take the link's time: `next_start` says
//! when a packet that comes now would be taken from the queue, `serve` takes it.

mod constant;
mod opportunities;
mod suspended;

use crate::trace::mahimahi::MahimahiTrace;
use airtcp_units::{BitRate, Duration, Instant};
use std::sync::Arc;

/// How fast the link takes packets.
#[derive(Clone, Debug)]
pub enum Service {
    /// At once: the link is never the bottleneck.
    Unlimited,
    /// At a constant rate.
    Constant(BitRate),
    /// At a constant rate, but the link stops for `length` every `every`, first at `every`: what is
    /// being sent then is paused and resumes.
    Suspended {
        /// Rate while the link works.
        rate: BitRate,
        /// From the start of one stop to the start of the next.
        every: Duration,
        /// How long a stop lasts. From `every` on the link never works again.
        length: Duration,
    },
    /// At recorded delivery opportunities.
    Mahimahi(Arc<MahimahiTrace>),
}

/// The running state of a [`Service`].
#[derive(Clone, Debug)]
pub(crate) enum Server {
    Unlimited,
    Constant(constant::Constant),
    Suspended(suspended::Suspended),
    Opportunities(opportunities::Opportunities),
}

impl Server {
    pub(crate) fn new(service: Service) -> Self {
        match service {
            Service::Unlimited => Self::Unlimited,
            Service::Constant(rate)
            | Service::Suspended {
                rate,
                length: Duration::ZERO,
                ..
            } => Self::Constant(constant::Constant::new(rate)),
            Service::Suspended {
                rate,
                every,
                length,
            } => Self::Suspended(suspended::Suspended::new(rate, every, length)),
            Service::Mahimahi(trace) => {
                Self::Opportunities(opportunities::Opportunities::new(trace))
            }
        }
    }

    /// When a packet that comes at `now` would leave the queue.
    #[inline]
    pub(crate) fn next_start(&mut self, now: Instant) -> Instant {
        match self {
            Self::Unlimited => now,
            Self::Constant(server) => server.next_start(now),
            Self::Suspended(server) => server.next_start(now),
            Self::Opportunities(server) => server.next_start(now),
        }
    }

    /// Serves a packet from `start`, which [`Self::next_start`] has just named; answers when its
    /// last byte is on the link.
    #[inline]
    pub(crate) fn serve(&mut self, start: Instant, bytes: u32) -> Instant {
        match self {
            Self::Unlimited => start,
            Self::Constant(server) => server.serve(start, bytes),
            Self::Suspended(server) => server.serve(start, bytes),
            Self::Opportunities(server) => server.serve(bytes),
        }
    }
}

#[cfg(test)]
mod tests;
