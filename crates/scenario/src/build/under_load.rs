//! Probes that run under load and measure the service other users of the link get.
//!
//! ```text
//!   the first flow's mobile ── requests, voice ──▶ wired host
//!                           ◀─ answers, voice ───
//! ```
//!
//! All probes belong to the first flow's mobile and take that flow's path over separate
//! connections, so that a flow queue separates them from the load. Remedies of the sender and the
//! receiver do not apply to them, and a proxy forwards them unchanged. They start after a quarter
//! of the run, when the load has reached steady state; the last connection opens a second before
//! the end.

use std::sync::Arc;

use airtcp_link::Stream;
use airtcp_network::{Hop, NetworkConfig};
use airtcp_packet::SequenceNumber;
use airtcp_units::{BitRate, Duration, Instant};

use super::routes::Plan;
use crate::datagrams::{Datagrams, Ping, Udp};
use crate::flow::FlowConfig;
use crate::names::Companion;
use crate::traffic::{Traffic, Visit, VisitStep};
use crate::{FlowDirection, Scenario};

/// Share of the run before the first probe: 1/4.
pub const WARM_UP: u64 = 4;
/// Margin before the end of the run in which no connection opens.
pub const LAST_BEFORE_END: Duration = Duration::from_secs(1);

/// Interval between echo requests, or between exchanges.
pub const PROBE_INTERVAL: Duration = Duration::from_millis(100);
/// Payload of an echo request in bytes: the default of `ping`.
pub const PING_BYTES: u32 = 56;

/// G.711 in packets of 20 ms (RFC 3551 §4.5.14): 12 bytes of RTP (RFC 3550), then 160 of voice.
const VOICE_BYTES: u32 = 172;
/// Voice packets per second: 50.
const VOICE_RATE: BitRate = BitRate::from_bps(68_800);

/// TLS in one round trip (RFC 8446 §2), then a request for an object of one byte. The sizes bring a
/// probe, headers included, to the 5000 bytes that draft-ietf-ippm-responsiveness ("Measuring
/// Responsiveness") expects.
const TLS: VisitStep = VisitStep {
    request: 320,
    answer: 3_500,
};
/// The steps of an exchange: TLS, and a small request.
pub const EXCHANGE: &[VisitStep] = &[
    TLS,
    VisitStep {
        request: 150,
        answer: 150,
    },
];

const SHORT_FLOW_INTERVAL: Duration = Duration::from_secs(1);
/// About twice the initial window (RFC 6928): it ends in slow start.
const SHORT_FLOW: &[VisitStep] = &[VisitStep {
    request: 350,
    answer: 30_000,
}];

const PAGE_INTERVAL: Duration = Duration::from_secs(5);
/// 3GPP2's model of a page by its means, as documented for ns-3's `ThreeGppHttpVariables`: a main
/// object of 10 710 bytes, then 4 embedded ones (3.95) of 7758 bytes, each for a request of 350.
/// One connection carries them, and the embedded objects are requested at once (HTTP/2, RFC 9113
/// §5).
const PAGE: &[VisitStep] = &[
    TLS,
    VisitStep {
        request: 350,
        answer: 10_710,
    },
    VisitStep {
        request: 4 * 350,
        answer: 4 * 7_758,
    },
];

/// Adds the flows of `flows.under_load`, in order.
pub(super) fn add(
    scenario: &Scenario,
    seed: u64,
    plan: &Plan<'_>,
    network: &mut NetworkConfig,
    flows: &mut Vec<FlowConfig>,
) {
    if scenario.flows.under_load.is_empty() {
        return;
    }
    let mut adder = Adder::new(scenario, seed, plan, network, flows);
    for &companion in &scenario.flows.under_load {
        adder.add(companion);
    }
}

struct Adder<'a> {
    scenario: &'a Scenario,
    flows: &'a mut Vec<FlowConfig>,
    /// Routes from the mobile, and to it.
    ways: [Vec<Hop>; 2],
    tcp: Arc<airtcp_tcp::Config>,
    draws: Stream,
}

impl<'a> Adder<'a> {
    fn new(
        scenario: &'a Scenario,
        seed: u64,
        plan: &Plan<'_>,
        network: &mut NetworkConfig,
        flows: &'a mut Vec<FlowConfig>,
    ) -> Self {
        let (mut data, mut answers) = plan.routes(0, network);
        let is_on_way = |hop: &Hop| !matches!(hop, Hop::Host(_));
        data.retain(is_on_way);
        answers.retain(is_on_way);
        let receives = scenario
            .mobile_receives(0)
            .unwrap_or_else(|| scenario.flows.direction_of(0) == FlowDirection::Down);
        let tcp = scenario.unchanged_tcp.first().unwrap_or(&scenario.tcp);
        Self {
            scenario,
            flows,
            ways: if receives {
                [answers, data]
            } else {
                [data, answers]
            },
            tcp: Arc::new(*tcp),
            // The key's former name: another would change every run with a call.
            draws: Stream::new(seed, "flows.beside"),
        }
    }

    fn add(&mut self, companion: Companion) {
        let begin = Instant::ZERO + self.scenario.duration / WARM_UP;
        let ping = Datagrams::Ping(Ping {
            interval: PROBE_INTERVAL,
            size: PING_BYTES,
        });
        let voice = Datagrams::Udp(Udp {
            rate: Some(VOICE_RATE),
            size: VOICE_BYTES,
            bursts: None,
        });
        match companion {
            Companion::Ping => self.push(companion, begin, false, None, Some(ping)),
            Companion::Call => {
                self.push(companion, begin, false, None, Some(voice));
                self.push(companion, begin, true, None, Some(voice));
            }
            Companion::Exchange => self.visits(companion, PROBE_INTERVAL, EXCHANGE),
            Companion::ShortFlow => self.visits(companion, SHORT_FLOW_INTERVAL, SHORT_FLOW),
            Companion::Page => self.visits(companion, PAGE_INTERVAL, PAGE),
        }
    }

    /// Adds one connection per interval, opened at a random time within it, so that it samples
    /// every phase of a periodic load.
    fn visits(&mut self, companion: Companion, interval: Duration, steps: &'static [VisitStep]) {
        let begin = Instant::ZERO + self.scenario.duration / WARM_UP;
        let end = Instant::ZERO + self.scenario.duration;
        let times = self.draws.substream(companion as u64);
        for number in 0.. {
            let from = begin + interval * number;
            let part = times.uniform(number) * interval.as_secs_f64();
            let start = from + Duration::from_secs_f64(part).unwrap_or(Duration::ZERO);
            if from + interval + LAST_BEFORE_END > end {
                return;
            }
            self.push(companion, start, false, Some(steps), None);
        }
    }

    /// Adds one flow: from the mobile unless it goes `to_mobile`.
    fn push(
        &mut self,
        companion: Companion,
        start: Instant,
        to_mobile: bool,
        steps: Option<&'static [VisitStep]>,
        datagrams: Option<Datagrams>,
    ) {
        let [from_mobile, towards_mobile] = self.ways.clone();
        let (forward, reverse) = if to_mobile {
            (towards_mobile, from_mobile)
        } else {
            (from_mobile, towards_mobile)
        };
        let [mobile, wired] = self.scenario.ends_of(0);
        let draws = self.draws.substream(u64::MAX - self.flows.len() as u64);
        let initial = draws.draw(0);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "two independent halves of a draw"
        )]
        let initial_sequence = (
            SequenceNumber((initial >> 32) as u32),
            SequenceNumber(initial as u32),
        );
        self.flows.push(FlowConfig {
            tcp: Arc::clone(&self.tcp),
            coins: draws.substream(1),
            start,
            bytes: None,
            request: None,
            hosts: if to_mobile {
                [wired, mobile]
            } else {
                [mobile, wired]
            },
            forward,
            reverse,
            initial_sequence,
            application: steps.map(|steps| (Traffic::Visit(Visit { steps }), draws.substream(2))),
            datagrams: datagrams.map(|datagrams| (datagrams, draws.substream(3))),
            proxy: None,
            freeze: None,
            under_load: Some(companion),
        });
    }
}
