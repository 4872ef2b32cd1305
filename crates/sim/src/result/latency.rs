//! A run's latency as quantiles, for distributions and boxes in figures.

use airtcp_units::Duration;
use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::{Flow, Histogram, Unit};

/// Shares of the counts, in thousandths: close at both ends, where latencies differ most.
const PERMILLES: [u64; 27] = [
    0, 10, 25, 50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 550, 600, 650, 700, 750, 800, 850,
    900, 950, 975, 990, 995, 999, 1000,
];

/// Latency over all flows of a run: the values that each share of the packets, or of the bytes,
/// does not exceed. The lists are as long as `percent`, or empty without measurements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(inline, title = "LatencySummary")]
pub struct LatencySummary {
    /// The shares, in per cent.
    pub percent: Vec<f64>,
    /// Round trips of data packets.
    pub rtt_ms: Vec<f64>,
    /// One-way delays of data packets from sender to receiver.
    pub delay_ms: Vec<f64>,
    /// Times of bytes from `write` until the receiving application reads them.
    pub delivery_ms: Vec<f64>,
}

impl LatencySummary {
    /// Creates the numbers of a run's flows.
    #[must_use]
    pub fn of(flows: &[Flow]) -> Self {
        let latencies = || flows.iter().map(Flow::latency);
        Self {
            percent: PERMILLES.iter().map(|&one| one as f64 / 10.0).collect(),
            rtt_ms: quantiles(latencies().map(|flow| flow.round_trips())),
            delay_ms: quantiles(latencies().map(|flow| flow.delays())),
            delivery_ms: quantiles(latencies().map(|flow| flow.deliveries())),
        }
    }
}

/// Quantiles over all histograms, in milliseconds; empty if they counted nothing.
fn quantiles<'a, U: Unit + 'a>(histograms: impl Iterator<Item = &'a Histogram<U>>) -> Vec<f64> {
    let mut all = <Histogram>::default();
    for histogram in histograms {
        all.merge(histogram);
    }
    let found = all.quantiles(PERMILLES).flatten();
    found.map(Duration::as_millis_f64).collect()
}
