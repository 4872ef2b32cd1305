//! From a scenario to a network and its hosts.

mod media;
mod perturbation;
mod round_trip;
mod routes;
pub(crate) mod under_load;

use std::sync::Arc;

use airtcp_link::Stream;
use airtcp_network::{Hop, NetworkConfig};
use airtcp_packet::SequenceNumber;
use airtcp_remedies::OutageReaction;
use airtcp_tcp::Config;
use airtcp_units::{Duration, Instant};

use crate::Scenario;
use crate::flow::{FlowConfig, FreezeConfig, ProxyConfig};
use routes::Plan;

/// A scenario with a seed: the network between the hosts, and the flows at them.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The network between the hosts.
    pub network: NetworkConfig,
    /// The flows between them, each with its route over the network.
    pub flows: Vec<FlowConfig>,
}

/// Builds a scenario's network and hosts. Randomness outside the channels is drawn from `seed`:
/// start times of flows, initial sequence numbers, lengths of wired paths, and the variations of
/// [`Scenario::perturb`].
#[must_use]
pub fn build(scenario: &Scenario, seed: u64) -> Layout {
    let mut network = NetworkConfig::default();
    let mut flows = Vec::with_capacity(scenario.flows.count as usize);
    let plan = Plan::lay(scenario, seed, &mut network);
    let starts = Stream::new(seed, "flows.start");
    let sequences = Stream::new(seed, "flows.initial-sequence");
    let coins = Stream::new(seed, "flows.coin");
    let sessions = Stream::new(seed, "flows.application");
    let pauses = Stream::new(seed, "flows.udp");
    // Flows share one configuration, or one of a few; flows exempt from remedies have another.
    let shared = |own: &[Config]| -> Vec<Arc<Config>> {
        let all = if own.is_empty() {
            std::slice::from_ref(&scenario.tcp)
        } else {
            own
        };
        all.iter().map(|config| Arc::new(*config)).collect()
    };
    let changed = shared(&scenario.flow_tcp);
    let unchanged = shared(&scenario.unchanged_tcp);
    for flow in 0..scenario.flows.count {
        let is_unchanged = scenario.flows.is_unchanged(flow);
        let tcp = if is_unchanged { &unchanged } else { &changed };
        let datagrams = scenario.flows.datagrams_of(flow);
        let is_tcp = datagrams.is_none();
        let (mut forward, mut reverse) = plan.routes(flow, &mut network);
        if !is_tcp {
            // Proxies are TCP's.
            let is_on_way = |hop: &Hop| !matches!(hop, Hop::Host(_));
            forward.retain(is_on_way);
            reverse.retain(is_on_way);
        }
        let initial = sequences.draw(u64::from(flow));
        #[expect(
            clippy::cast_possible_truncation,
            reason = "two independent halves of a draw"
        )]
        let initial_sequence = (
            SequenceNumber((initial >> 32) as u32),
            SequenceNumber(initial as u32),
        );
        flows.push(FlowConfig {
            tcp: Arc::clone(&tcp[flow as usize % tcp.len()]),
            coins: coins.substream(u64::from(flow)),
            start: start(scenario, flow, starts.draw(u64::from(flow))),
            bytes: scenario.flows.bytes,
            request: scenario.flows.request.filter(|_| is_tcp),
            hosts: scenario.hosts_of(flow),
            forward,
            reverse,
            initial_sequence,
            application: scenario.traffic[flow as usize % scenario.traffic.len().max(1)]
                .filter(|_| is_tcp)
                .map(|traffic| (traffic, sessions.substream(u64::from(flow)))),
            datagrams: datagrams.map(|datagrams| (datagrams, pauses.substream(u64::from(flow)))),
            proxy: scenario
                .access_point
                .split_buffer
                .filter(|_| is_tcp)
                .map(|bytes| {
                    let side = *scenario.tcp_of(flow);
                    Box::new(ProxyConfig {
                        client_side: side,
                        server_side: side,
                        buffer_bytes: bytes,
                    })
                }),
            freeze: freeze(scenario).filter(|_| is_tcp && !is_unchanged),
            under_load: None,
        });
    }
    perturbation::delay_starts(scenario, seed, &mut flows);
    under_load::add(scenario, seed, &plan, &mut network, &mut flows);
    perturbation::change_pipes(scenario, seed, &mut network);
    Layout { network, flows }
}

/// Reaction of receivers to outages.
fn freeze(scenario: &Scenario) -> Option<FreezeConfig> {
    let (warning, repeats_only) = match scenario.outage_reaction? {
        OutageReaction::Freeze { warning } => (warning, false),
        OutageReaction::RepeatLastAck => (Duration::ZERO, true),
    };
    let outage = *scenario.link.outages().first()?;
    Some(FreezeConfig {
        every: outage.every,
        length: outage.length,
        warning,
        repeats_only,
    })
}

/// Flow i starts at i/n of the spread, plus up to 1/n of it at random.
fn start(scenario: &Scenario, flow: u32, draw: u64) -> Instant {
    let spread = u128::from(scenario.flows.start_spread.as_nanos());
    let places = u128::from(scenario.flows.count);
    let fraction = (u128::from(flow) << 64) + u128::from(draw);
    // spread < 2^62 and fraction < 2^84 would overflow together: divide the fraction first.
    let nanos = (spread * ((fraction / places) >> 16)) >> 48;
    Instant::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
