//! Looking only: the agents meet what has passed, in its own time, and what they decide is counted.

use std::num::NonZeroUsize;

use airtcp_link::agent::{FlowKey, Toward};
use airtcp_packet::Segment;
use airtcp_units::{Duration, Instant};

use super::configuration::Settings;
use super::engine::{Decision, Engine, Passing};
use super::filter::Segments;
use super::forecast::Forecast;
use super::hold_limit::RoundTrip;
use super::sighting::{Sighting, is_of_the_connection};
use crate::error::Result;

/// An acknowledgment that has passed, while the agents think about it.
#[derive(Clone, Copy, Debug)]
struct Seen {
    flow: FlowKey,
    came: Instant,
    segment: Segment,
    /// The round trip of the idle path.
    least: Option<Duration>,
}

/// Agents that are shown what has passed.
#[derive(Debug)]
pub struct Look {
    engine: Engine<Seen>,
    forecast: Forecast,
    sees: [Option<Segments>; 2],
    /// The least round trip of each connection's path, of all that were measured.
    least: Option<Duration>,
    now: Instant,
}

impl Look {
    /// Agents that have been shown nothing.
    ///
    /// # Errors
    /// A parameter of an agent is out of its range.
    pub fn new(settings: &Settings) -> Result<Self> {
        let most: NonZeroUsize = settings.flows;
        let chain = &settings.chain;
        Ok(Self {
            engine: Engine::new(chain, settings.hold, most, settings.seed)?,
            forecast: Forecast::new(most, settings.timer_floor),
            sees: [chain.sees(Toward::Mobile), chain.sees(Toward::Wired)],
            least: None,
            now: Instant::ZERO,
        })
    }

    /// A packet has passed at `now`.
    pub fn see(
        &mut self,
        now: Instant,
        flow: FlowKey,
        sighting: &Sighting,
        round_trip: Option<RoundTrip>,
    ) {
        self.now = self.now.max(now);
        if let Some(trip) = round_trip {
            let least = self.least.unwrap_or(Duration::MAX);
            self.least = Some(least.min(trip.smoothed));
        }
        if !self.is_meant(sighting) {
            return;
        }
        // What the agents would have done by now comes first, in its own time.
        let mut due = self.engine.next_wakeup();
        while due < now {
            self.engine.wake(due);
            self.settle(due);
            // Time goes on whatever an agent says.
            due = self.engine.next_wakeup().max(due + Duration::from_nanos(1));
        }
        let seen = Seen {
            flow,
            came: now,
            segment: sighting.segment,
            least: self.least,
        };
        self.engine.pass(
            now,
            &Passing {
                flow,
                toward: sighting.toward,
                segment: sighting.segment,
                bytes: &[],
                packet: seen,
                round_trip,
            },
        );
        self.settle(now);
    }

    /// The agents.
    pub const fn engine(&self) -> &Engine<impl Copy + use<>> {
        &self.engine
    }

    /// What is expected of the mobiles' timers.
    pub const fn forecast(&self) -> &Forecast {
        &self.forecast
    }

    fn is_meant(&self, sighting: &Sighting) -> bool {
        let sees = self.sees[usize::from(sighting.toward == Toward::Wired)];
        match sees {
            None => false,
            Some(_) if is_of_the_connection(&sighting.segment) => false,
            Some(Segments::All) => true,
            Some(Segments::PureAcks) => sighting.segment.payload_bytes == 0,
        }
    }

    fn settle(&mut self, now: Instant) {
        while let Some(decision) = self.engine.poll() {
            let (Decision::Pass(seen)
            | Decision::PassWithPriority(seen, _)
            | Decision::PassChanged(seen, _)) = decision
            else {
                continue;
            };
            if let Some(least) = seen.least {
                self.forecast
                    .see(seen.flow, &seen.segment, seen.came, now, least);
            }
        }
    }
}
