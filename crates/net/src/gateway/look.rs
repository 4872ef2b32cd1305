//! Looking only: the agents meet what has passed, in its own time, and what they decide is counted.

use std::num::NonZeroUsize;

use airtcp_link::agent::{FlowKey, LinkEvent, Toward};
use airtcp_packet::Segment;
use airtcp_units::{Duration, Instant};

use super::configuration::Settings;
use super::engine::{Decision, Engine, Passing};
use super::filter::Segments;
use super::forecast::Forecast;
use super::hold_limit::RoundTrip;
use super::sighting::{Sighting, is_of_the_connection};
use super::stations::{Failures, Mac, Stations};
use super::under_way::UnderWay;
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
    /// For agents that hear of failed attempts.
    radio: Option<Radio>,
}

/// What is known of the radio.
#[derive(Debug)]
struct Radio {
    stations: Stations,
    under_way: UnderWay,
    /// Attempts that have failed so far, to all stations.
    failed: u64,
}

impl Look {
    /// Agents that have been shown nothing.
    ///
    /// # Errors
    /// A parameter of an agent is out of its range, or it has to hear of a radio that there is not.
    pub fn new(settings: &Settings) -> Result<Self> {
        let most: NonZeroUsize = settings.flows;
        let chain = &settings.chain;
        Ok(Self {
            engine: Engine::new(chain, settings.hold, most, settings.seed)?,
            forecast: Forecast::new(most, settings.timer_floor),
            sees: [chain.sees(Toward::Mobile), chain.sees(Toward::Wired)],
            least: None,
            now: Instant::ZERO,
            radio: if chain.listens_to_link() {
                Some(Radio {
                    stations: Stations::listen()?,
                    under_way: UnderWay::new(most),
                    failed: 0,
                })
            } else {
                None
            },
        })
    }

    /// Tells the agents of attempts that have failed: of one for each connection with data on its
    /// way to the station, since the driver does not say when and what. Time stands at the last
    /// packet.
    pub fn hear(&mut self) {
        let Some(Radio {
            stations,
            under_way,
            failed,
        }) = &mut self.radio
        else {
            return;
        };
        for Failures { station, attempts } in stations.news() {
            *failed += u64::from(attempts);
            for (flow, data) in under_way.to(station) {
                self.engine
                    .hear(self.now, flow, &data, LinkEvent::AttemptFailed);
            }
        }
        self.settle(self.now);
    }

    /// A packet has passed at `now`.
    pub fn see(
        &mut self,
        now: Instant,
        flow: FlowKey,
        sighting: &Sighting,
        sender: Option<Mac>,
        round_trip: Option<RoundTrip>,
    ) {
        self.now = self.now.max(now);
        if let Some(radio) = &mut self.radio {
            radio.under_way.see(flow, sighting, sender);
        }
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

    /// Whether an agent sees segments with data, or hears what became of them on the radio.
    pub fn sees_data(&self) -> bool {
        self.radio.is_some() || self.sees.contains(&Some(Segments::All))
    }

    /// Attempts on the radio that have failed, where agents hear of them.
    pub fn failed_attempts(&self) -> Option<u64> {
        self.radio.as_ref().map(|radio| radio.failed)
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
