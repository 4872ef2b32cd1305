//! The numbers of a run, for the run and for each flow.

use schemars::JsonSchema;
use serde::Serialize;

/// One flow's numbers. Counts are of the sender unless they say otherwise, and truthful: the
/// simulator knows what arrived.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct FlowSummary {
    /// Number of the flow, from 0.
    pub flow: u32,
    /// Bytes delivered to the application × 8, per second of simulated time since the flow started
    /// until it was complete, or until the end.
    pub goodput_bps: f64,
    /// Bytes delivered to the receiving application in order.
    pub delivered_bytes: u64,
    /// Segments with data that were sent, retransmissions included.
    pub segments_sent: u64,
    /// Segments sent that repeat data sent before.
    pub segments_retransmitted: u64,
    /// Bytes of data in them.
    pub bytes_retransmitted: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Timeouts whose segment had arrived, or was still under way and arrived: it was not lost.
    pub timeouts_spurious: u64,
    /// Entries into fast retransmit.
    pub fast_retransmits: u64,
    /// Recoveries that the sender found needless and took back.
    pub recoveries_taken_back: u64,
    /// Tail loss probes sent (RFC 8985 §7).
    pub tail_probes: u64,
    /// Loss events whose first segment the radio lost, and about which the sender asked what they
    /// were of; 0 where it does not ask.
    pub loss_events_of_radio: u64,
    /// Of these, those it judged so.
    pub loss_events_of_radio_judged_right: u64,
    /// Loss events whose first segment found a queue full.
    pub loss_events_of_congestion: u64,
    /// Of these, those it judged so.
    pub loss_events_of_congestion_judged_right: u64,
    /// Loss events, of whatever cause, that the sender judged.
    pub loss_events_judged: u64,
    /// Of these, those it took for the radio's, rightly or not.
    pub loss_events_judged_radio: u64,
    /// Of these, those that came with a round trip below the mean.
    pub loss_events_below_mean_rtt: u64,
    /// Of these, those with one segment found lost.
    pub loss_events_of_one_segment: u64,
    /// Of these, those with two segments found lost at once.
    pub loss_events_of_two_segments: u64,
    /// Of these, those with three segments found lost at once.
    pub loss_events_of_three_segments: u64,
    /// Segments with data that found the link's queue full.
    pub segments_dropped_queue: u64,
    /// Segments with data that the link lost.
    pub segments_lost_link: u64,
    /// Segments that reached the receiver with nothing new in them.
    pub duplicate_segments_received: u64,
    /// Smoothed round-trip time at the end; null before the first sample.
    pub srtt_ms: Option<f64>,
    /// Retransmission timeout at the end.
    pub rto_ms: f64,
    /// Congestion window at the end.
    pub cwnd_bytes: u64,
    /// Shortest round-trip time measured; null before the first sample.
    pub min_rtt_ms: Option<f64>,
    /// Packets of either direction that crossed a medium or were given up there; 0 without one.
    pub packets_on_air: u64,
    /// How often they were sent there, all together: more than `packets_on_air` where frames had to
    /// be sent again.
    pub attempts_on_air: u64,
    /// Files, pages or messages that arrived whole; 0 where no application runs.
    pub transfers_completed: u64,
    /// How long one took on average, from the request or the write to its last byte; null when none
    /// was completed.
    pub transfer_mean_s: Option<f64>,
    /// Segments that a proxy on the way sent to the receiver; 0 without one.
    pub proxy_segments_sent: u64,
    /// Of these, those that repeat data.
    pub proxy_segments_retransmitted: u64,
    /// Timeouts of the proxy.
    pub proxy_timeouts: u64,
    /// When the flow started, in simulated time.
    pub started_s: f64,
    /// When its last byte was delivered; null if it was not, or has none.
    pub completed_s: Option<f64>,
}

/// A run's numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct RunSummary {
    /// The scenario's name.
    pub scenario: String,
    /// What the scenario is for.
    pub description: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Simulated time.
    pub duration_s: f64,
    /// Version of the engine. Results of different versions may differ.
    pub engine_version: String,
    /// Digest of all that happened: equal for equal scenario, seed and engine version, on every
    /// machine.
    pub digest: String,
    /// Remedies applied, each with all its values.
    pub remedies: Vec<String>,
    /// Bytes delivered to all applications × 8, per second of simulated time.
    pub goodput_bps: f64,
    /// Jain's index of the flows' goodputs: 1 when all are equal, 1/n when one has everything; null
    /// for one flow, or when nothing was delivered.
    pub fairness: Option<f64>,
    /// Events that the engine processed.
    pub events_processed: u64,
    /// One entry a flow, in the order of their numbers.
    pub flows: Vec<FlowSummary>,
}

/// Jain's fairness index, (Σx)² / (n Σx²) (Jain, Chiu & Hawe, DEC-TR-301, 1984). `None` for fewer
/// than two flows and when all are zero.
pub fn jain_fairness(goodputs: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut count, mut sum, mut squares) = (0u64, 0.0, 0.0);
    for goodput in goodputs {
        count += 1;
        sum += goodput;
        squares += goodput * goodput;
    }
    (count > 1 && squares > 0.0).then(|| sum * sum / (count as f64 * squares))
}
