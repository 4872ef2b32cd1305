//! The numbers of a run.

use schemars::JsonSchema;
use serde::Serialize;

use super::{FlowSummary, LatencySummary, UnderLoadSummary};

/// A run's numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct RunSummary {
    /// The scenario's name.
    pub scenario: String,
    /// The scenario's purpose.
    pub description: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Simulated time.
    pub duration_s: f64,
    /// Version of the engine. Results of different versions may differ.
    pub engine_version: String,
    /// Digest of all events: equal for equal scenario, seed and engine version, on every machine.
    pub digest: String,
    /// Remedies applied, each with all its values.
    pub remedies: Vec<String>,
    /// Sum of the flows' goodputs: bytes that arrived, each counted once, × 8, per second.
    pub goodput_bps: f64,
    /// Jain's index of the flows' goodputs: 1 when all are equal, 1/n when one has everything; null
    /// for one flow, or when nothing was delivered.
    pub fairness: Option<f64>,
    /// Events that the engine processed.
    pub events_processed: u64,
    /// Latency over all flows, as quantiles, measured outside the senders.
    pub latency: LatencySummary,
    /// The measurements requested by `flows.under_load`: null and 0 if nothing was requested.
    pub under_load: UnderLoadSummary,
    /// One entry per flow, in the order of their numbers.
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
