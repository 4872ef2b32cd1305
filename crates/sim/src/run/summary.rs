//! From a simulation at its end to the numbers of the run.

use airtcp_scenario::Scenario;
use airtcp_tcp::Counters;
use airtcp_tcp::Side;
use airtcp_units::Duration;
use sha2::{Digest, Sha256};

use super::ENGINE_VERSION;
use crate::engine::{Flow, Simulation};
use crate::result::{FlowSummary, RunSummary, jain_fairness};

/// Hexadecimal digits of a run's digest.
const DIGEST_DIGITS: usize = 32;

pub(super) fn summarize(scenario: &Scenario, seed: u64, simulation: Simulation) -> RunSummary {
    let (fingerprint, events) = (simulation.digest().value(), simulation.events());
    // Each flow goes as its summary comes: at very many, both together would be the run's peak.
    let flows: Vec<_> = simulation
        .into_flows()
        .into_iter()
        .zip(0..)
        .map(|(flow, index)| of_flow(&flow, index, scenario.duration))
        .collect();
    let goodputs = || flows.iter().map(|flow| flow.goodput_bps);
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
        fairness: if flows.len() > 1 {
            jain_fairness(goodputs())
        } else {
            None
        },
        events_processed: events,
        flows,
    }
}

fn of_flow(flow: &Flow, index: u32, duration: Duration) -> FlowSummary {
    let (client, server) = (flow.client(), flow.server());
    let sender = client.sender();
    let counters = sender.counters();
    let transfers = flow.transfers();
    let verdicts = flow.verdicts();
    let proxy = flow.proxy().map_or_else(Counters::default, |relay| {
        *relay.connection(Side::Server).sender().counters()
    });
    let started_s = flow.start().as_secs_f64();
    let completed_s = flow.completed().map(|completed| completed.as_secs_f64());
    let seconds = completed_s.unwrap_or(duration.as_secs_f64()) - started_s;
    let delivered = flow.delivered();
    let milliseconds = |time: Duration| time.as_millis_f64();
    FlowSummary {
        flow: index,
        goodput_bps: if seconds > 0.0 {
            delivered as f64 * 8.0 / seconds
        } else {
            0.0
        },
        delivered_bytes: delivered,
        segments_sent: counters.segments_sent,
        segments_retransmitted: counters.segments_retransmitted,
        bytes_retransmitted: counters.bytes_retransmitted,
        timeouts: counters.timeouts,
        timeouts_spurious: flow.spurious_timeouts(),
        fast_retransmits: counters.fast_retransmits,
        recoveries_taken_back: counters.recoveries_taken_back,
        tail_probes: counters.tail_probes,
        loss_events_of_radio: verdicts.of_radio,
        loss_events_of_radio_judged_right: verdicts.of_radio_right,
        loss_events_of_congestion: verdicts.of_congestion,
        loss_events_of_congestion_judged_right: verdicts.of_congestion_right,
        loss_events_judged: verdicts.by_segments.iter().sum(),
        loss_events_judged_radio: verdicts.judged_radio,
        loss_events_below_mean_rtt: verdicts.below_mean,
        loss_events_of_one_segment: verdicts.by_segments[0],
        loss_events_of_two_segments: verdicts.by_segments[1],
        loss_events_of_three_segments: verdicts.by_segments[2],
        segments_dropped_queue: flow.tally().dropped_by_queue,
        segments_lost_link: flow.tally().lost_by_link,
        duplicate_segments_received: server.receiver().duplicates(),
        srtt_ms: sender.rtt().srtt().map(milliseconds),
        rto_ms: milliseconds(sender.rto()),
        cwnd_bytes: sender.cwnd(),
        min_rtt_ms: sender.rtt().minimum().map(milliseconds),
        packets_on_air: flow.tally().packets_on_air,
        attempts_on_air: flow.tally().attempts_on_air,
        transfers_completed: transfers.completed,
        transfer_mean_s: (transfers.completed > 0)
            .then(|| transfers.time.as_secs_f64() / transfers.completed as f64),
        proxy_segments_sent: proxy.segments_sent,
        proxy_segments_retransmitted: proxy.segments_retransmitted,
        proxy_timeouts: proxy.timeouts,
        started_s,
        completed_s,
    }
}

/// A fingerprint of the run: of every delivery with its time, and of every count.
fn digest(fingerprint: u64, events: u64, flows: &[FlowSummary]) -> String {
    let mut hash = Sha256::new();
    hash.update(fingerprint.to_le_bytes());
    hash.update(events.to_le_bytes());
    for flow in flows {
        for count in [
            flow.delivered_bytes,
            flow.segments_sent,
            flow.segments_retransmitted,
            flow.bytes_retransmitted,
            flow.timeouts,
            flow.timeouts_spurious,
            flow.fast_retransmits,
            flow.segments_dropped_queue,
            flow.segments_lost_link,
            flow.duplicate_segments_received,
            flow.cwnd_bytes,
            flow.srtt_ms.unwrap_or(-1.0).to_bits(),
            flow.rto_ms.to_bits(),
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
