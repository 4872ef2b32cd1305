//! Observation only: the agents see packets after they have passed, with their times, and their
//! decisions are counted.

pub mod forecast;
mod in_flight;

use std::num::NonZeroUsize;

use airtcp_host::error::Result;
use airtcp_link::agent::{FlowKey, LinkEvent, Toward};
use airtcp_packet::Segment;
use airtcp_units::{Duration, Instant};

use crate::agents::engine::{Decision, Engine, PassingPacket};
use crate::agents::hold_limit::RoundTrip;
use crate::configuration::Settings;
use crate::packets::filter::Segments;
use crate::packets::packet_view::{PacketView, is_of_the_connection};
use crate::stations::{Failures, Mac, Stations};
use forecast::Forecast;
use in_flight::InFlight;

/// An acknowledgment that has passed, awaiting the agents' decision.
#[derive(Clone, Copy, Debug)]
struct PassedAck {
    flow: FlowKey,
    came: Instant,
    segment: Segment,
    /// The round trip of the idle path.
    least: Option<Duration>,
}

/// Agents that observe packets that have passed.
#[derive(Debug)]
pub struct Observer {
    engine: Engine<PassedAck>,
    forecast: Forecast,
    sees: [Option<Segments>; 2],
    /// The minimum round trip of each connection's path, over all samples.
    least: Option<Duration>,
    now: Instant,
    /// For agents that need failed attempts.
    radio: Option<Radio>,
}

/// The state of the radio.
#[derive(Debug)]
struct Radio {
    stations: Stations,
    in_flight: InFlight,
    /// Number of failed attempts so far, to all stations.
    failed: u64,
}

impl Observer {
    /// Creates agents that have seen nothing.
    ///
    /// # Errors
    ///
    /// A parameter of an agent is out of its range, or it needs reports of a radio, which are
    /// missing.
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
                    in_flight: InFlight::new(most),
                    failed: 0,
                })
            } else {
                None
            },
        })
    }

    /// Reports failed attempts to the agents: one for each connection with data in flight to the
    /// station, since the driver does not report the time and the packet. Their time is that of the
    /// last packet.
    pub fn hear(&mut self) {
        let Some(Radio {
            stations,
            in_flight,
            failed,
        }) = &mut self.radio
        else {
            return;
        };
        for Failures { station, attempts } in stations.news() {
            *failed += u64::from(attempts);
            for (flow, data) in in_flight.to(station) {
                self.engine
                    .hear(self.now, flow, &data, LinkEvent::AttemptFailed);
            }
        }
        self.settle(self.now);
    }

    /// Passes a packet that has passed at `now` to the agents.
    pub fn see(
        &mut self,
        now: Instant,
        flow: FlowKey,
        packet: &PacketView,
        sender: Option<Mac>,
        round_trip: Option<RoundTrip>,
    ) {
        self.now = self.now.max(now);
        if let Some(radio) = &mut self.radio {
            radio.in_flight.see(flow, packet, sender);
        }
        if let Some(trip) = round_trip {
            let least = self.least.unwrap_or(Duration::MAX);
            self.least = Some(least.min(trip.smoothed));
        }
        if !self.is_meant(packet) {
            return;
        }
        // The agents' earlier wake-ups come first, at their times.
        let mut due = self.engine.next_wakeup();
        while due < now {
            self.engine.wake(due);
            self.settle(due);
            // Time advances even if an agent returns the same time.
            due = self.engine.next_wakeup().max(due + Duration::from_nanos(1));
        }
        let seen = PassedAck {
            flow,
            came: now,
            segment: packet.segment,
            least: self.least,
        };
        self.engine.pass(
            now,
            &PassingPacket {
                flow,
                toward: packet.toward,
                segment: packet.segment,
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

    /// Whether an agent sees data segments, or their fate on the radio.
    pub fn sees_data(&self) -> bool {
        self.radio.is_some() || self.sees.contains(&Some(Segments::All))
    }

    /// Number of failed attempts on the radio, if agents need them.
    pub fn failed_attempts(&self) -> Option<u64> {
        self.radio.as_ref().map(|radio| radio.failed)
    }

    /// The forecast of the mobiles' timeouts.
    pub const fn forecast(&self) -> &Forecast {
        &self.forecast
    }

    fn is_meant(&self, packet: &PacketView) -> bool {
        let sees = self.sees[usize::from(packet.toward == Toward::Wired)];
        match sees {
            None => false,
            Some(_) if is_of_the_connection(&packet.segment) => false,
            Some(Segments::All) => true,
            Some(Segments::PureAcks) => packet.segment.payload_bytes == 0,
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
