//! From a completed simulation to the numbers of the run.

use airtcp_scenario::Scenario;
use sha2::{Digest, Sha256};

use super::ENGINE_VERSION;
use crate::engine::{Flow, Simulation};
use crate::result::{FlowSummary, LatencySummary, RunSummary, UnderLoadSummary, jain_fairness};

/// Hexadecimal digits of a run's digest.
const DIGEST_DIGITS: usize = 32;

pub(super) fn summarize(scenario: &Scenario, seed: u64, simulation: Simulation) -> RunSummary {
    let (fingerprint, events) = (simulation.digest().value(), simulation.events());
    // Flows that only measure come after the load.
    let load = scenario.flows.count as usize;
    let (of_load, under_load) = simulation.flows().split_at(load);
    let latency = LatencySummary::of(of_load);
    let under_load = UnderLoadSummary::of(of_load, under_load, scenario.duration);
    // Pings only measure: no flow shares bandwidth with them.
    let competes: Vec<_> = of_load.iter().map(Flow::carries_data).collect();
    // Each flow is freed as its summary is made: with very many flows, both together would be the
    // run's peak of memory.
    let flows: Vec<_> = simulation
        .into_flows()
        .into_iter()
        .take(load)
        .zip(0..)
        .map(|(flow, index)| FlowSummary::of(&flow, index, scenario.duration))
        .collect();
    let goodputs = || flows.iter().map(|flow| flow.delivery.goodput_bps);
    RunSummary {
        scenario: scenario.name.clone(),
        description: scenario.description.clone(),
        seed,
        duration_s: scenario.duration.as_secs_f64(),
        engine_version: ENGINE_VERSION.to_owned(),
        digest: digest(fingerprint, events, &flows),
        remedies: scenario
            .remedies
            .as_slice()
            .iter()
            .map(ToString::to_string)
            .collect(),
        goodput_bps: goodputs().sum(),
        fairness: jain_fairness(
            goodputs()
                .zip(&competes)
                .filter_map(|(goodput, competes)| competes.then_some(goodput)),
        ),
        events_processed: events,
        latency,
        under_load,
        flows,
    }
}

/// A fingerprint of the run: of every delivery with its time, and of every count.
fn digest(fingerprint: u64, events: u64, flows: &[FlowSummary]) -> String {
    let mut hash = Sha256::new();
    hash.update(fingerprint.to_le_bytes());
    hash.update(events.to_le_bytes());
    for flow in flows {
        for count in [
            flow.delivery.delivered_bytes,
            flow.delivery.arrived_bytes,
            flow.sending.segments_sent,
            flow.sending.segments_retransmitted,
            flow.sending.bytes_retransmitted,
            flow.sending.timeouts,
            flow.sending.timeouts_spurious,
            flow.sending.timeouts_acknowledgments_lost,
            flow.sending.fast_retransmits,
            flow.losses.segments_dropped_queue,
            flow.losses.segments_lost_link,
            flow.losses.duplicate_segments_received,
            flow.at_end.cwnd_bytes,
            flow.at_end.srtt_ms.unwrap_or(-1.0).to_bits(),
            flow.at_end.rto_ms.to_bits(),
        ] {
            hash.update(count.to_le_bytes());
        }
    }
    let mut digits: String = hash
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    digits.truncate(DIGEST_DIGITS);
    digits
}
