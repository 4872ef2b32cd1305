//! A ping log as a link that is played by time: the delay between probes, gaps, stops, losses.
//!
//! ```text
//!   ProbeLog ──▶ TimedLog ──▶ Events ──▶ PlayedLink
//!   numbers,     when each    stops,     the scenario and its
//!   stamps       was sent     gaps, …    files of delays and stops
//! ```
//!
//! A packet's delay is that at its time of sending, half a round trip each way, and packets are not
//! reordered.

mod events;
mod link;
mod sleep;
mod timed;

pub use events::{Events, Span};
pub use link::{LinkOptions, PlayedLink, Unanswered};
pub use timed::{MAX_UNANSWERED, TimedLog};

/// The quantile at `share` of values in order, between two of them in proportion.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len().saturating_sub(1)) as f64;
    let below = place.floor();
    let (low, high) = (sorted[below as usize], sorted[place.ceil() as usize]);
    low + (place - below) * (high - low)
}

/// Values in order, without NaN.
fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut known: Vec<f64> = values.into_iter().filter(|value| !value.is_nan()).collect();
    known.sort_unstable_by(f64::total_cmp);
    known
}

#[cfg(test)]
mod tests;
