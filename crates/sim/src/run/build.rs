//! From a scenario to a network.

use airtcp_link::{Delay, ErrorModel, PipeConfig, QueueLimit, Service, Stream};
use airtcp_packet::SequenceNumber;
use airtcp_units::{Duration, Instant};

use crate::engine::{FlowConfig, Hop, NetworkConfig};
use crate::scenario::Scenario;

/// The shared link's two directions come first among the pipes.
const DATA: u32 = 0;
const ACKNOWLEDGMENTS: u32 = 1;

/// The network a scenario describes. What is random in it, apart from the channels, is drawn from
/// `seed`: when flows start, and their initial sequence numbers.
#[must_use]
pub fn build(scenario: &Scenario, seed: u64) -> NetworkConfig {
    let mut network = NetworkConfig {
        pipes: vec![
            ("link.data".to_owned(), scenario.data.clone()),
            ("link.acks".to_owned(), scenario.acks.clone()),
        ],
        flows: Vec::with_capacity(scenario.flows.count as usize),
    };
    let starts = Stream::new(seed, "flows.start");
    let sequences = Stream::new(seed, "flows.initial-sequence");
    for flow in 0..scenario.flows.count {
        let access = scenario.flows.access_delay_of(flow);
        let mut route = |link| {
            let mut hops = vec![Hop::Pipe(link)];
            if access > Duration::ZERO {
                hops.push(Hop::Pipe(add_access_line(&mut network, access)));
            }
            hops
        };
        let (forward, reverse) = (route(DATA), route(ACKNOWLEDGMENTS));
        let initial = sequences.draw(u64::from(flow));
        #[expect(
            clippy::cast_possible_truncation,
            reason = "two independent halves of a draw"
        )]
        let initial_sequence = (
            SequenceNumber((initial >> 32) as u32),
            SequenceNumber(initial as u32),
        );
        network.flows.push(FlowConfig {
            client: scenario.tcp,
            server: scenario.tcp,
            start: start(scenario, flow, starts.draw(u64::from(flow))),
            bytes: scenario.flows.bytes,
            forward,
            reverse,
            initial_sequence,
        });
    }
    network
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

/// A line of its own, with delay alone. Its losses would be drawn from a stream of its own too.
fn add_access_line(network: &mut NetworkConfig, delay: Duration) -> u32 {
    let index = u32::try_from(network.pipes.len()).unwrap_or(u32::MAX);
    let line = PipeConfig {
        service: Service::Unlimited,
        queue: QueueLimit::Unlimited,
        error: ErrorModel::None,
        delay: Delay::Constant(delay),
    };
    network.pipes.push((format!("access.{index}"), line));
    index
}
