//! The parts of a pipe, before it runs.

use std::sync::Arc;

use super::FecConfig;
use crate::delay::{BaseDelay, Delay, RecordingStart};
use crate::error::ErrorModel;
use crate::policer::PolicerConfig;
use crate::queue::{Discipline, QueueLimit};
use crate::random::Stream;
use crate::service::Service;
use crate::stops::Stops;
use crate::trace::conditions::Conditions;
use crate::trace::repeat::Repeat;

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
    /// Repair packets that it sends after each block of packets, if it does.
    pub fec: Option<FecConfig>,
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
            fec: None,
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
