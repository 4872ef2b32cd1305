//! The ordinary pipe: a drop-tail queue, a constant delay, and at most a constant rate and losses
//! drawn on entry. The kind is found once, at set-up, and its packets ask for nothing else.
//!
//! It decides nothing differently from the general pipe, and only leaves out questions with known
//! answers: a test hands the same packets to both.

use airtcp_units::{Duration, Instant};

use super::{Pipe, PipeConfig, UnderWay};
use crate::delay::{Delay, DelayProcess};
use crate::error::ErrorModel;
use crate::frame::{Admission, Transmission};
use crate::queue::EcnField;
use crate::service::{Server, Service};

/// Whether a pipe without shaper, repair packets and decisions at the head of its queue has nothing
/// that [`Pipe::push_ordinary`] leaves out.
pub(super) fn is_all_of(config: &PipeConfig) -> bool {
    let is_steady = matches!(config.service, Service::Unlimited | Service::Constant(_))
        && matches!(config.delay, Delay::Constant(_));
    is_steady && config.policer.is_none() && !matches!(config.error, ErrorModel::Recorded(_))
}

impl<P: EcnField> Pipe<P> {
    /// As [`push`](Self::push), for an ordinary pipe.
    // Inlined into the sender's path, where the packet is then written straight into the ring.
    #[inline(always)]
    pub(super) fn push_ordinary(
        &mut self,
        now: Instant,
        transmission: &Transmission,
        packet: P,
    ) -> Admission {
        debug_assert!(matches!(
            self.server,
            Server::Unlimited | Server::Constant(_)
        ));
        debug_assert!(matches!(self.delays, DelayProcess::Constant(_)));
        let lost = self.errors.loses(transmission);
        let mut departure = now;
        if let Server::Constant(server) = &mut self.server {
            let start = server.next_start(now);
            if !self.queue.admit(now, start, transmission.bytes) {
                return Admission::Overflow;
            }
            departure = server.serve(start, transmission.bytes);
        }
        if lost {
            return Admission::Lost;
        }
        let delay = match self.delays {
            DelayProcess::Constant(delay) => delay,
            _ => Duration::ZERO,
        };
        // No packet overtakes another.
        let arrival = departure + delay;
        self.next_arrival = self.next_arrival.min(arrival);
        self.under_way.push_back(UnderWay { arrival, packet });
        Admission::Queued
    }
}
