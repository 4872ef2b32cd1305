//! A hop of a report.

use serde::Deserialize;

use super::super::speed_test::of_ms;
use crate::recording;

/// A hop, with its round trips in milliseconds and its losses in per cent.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Hop {
    pub host: String,
    #[serde(rename = "Loss%")]
    pub loss: f64,
    #[serde(rename = "Snt")]
    pub sent: f64,
    #[serde(rename = "Avg")]
    pub mean: f64,
    #[serde(rename = "Best")]
    pub best: f64,
    #[serde(rename = "Wrst")]
    pub worst: f64,
    #[serde(rename = "StDev")]
    pub deviation: f64,
}

impl Hop {
    /// A hop from its numbers by mtr's names of columns; `None` without losses or probes.
    pub fn named(host: &str, number: impl Fn(&str) -> Option<f64>) -> Option<Self> {
        Some(Self {
            host: host.to_owned(),
            loss: number("Loss%")?,
            sent: number("Snt")?,
            mean: number("Avg")?,
            best: number("Best")?,
            worst: number("Wrst").unwrap_or(0.0),
            deviation: number("StDev").unwrap_or(0.0),
        })
    }

    /// Whether its numbers are possible, and it was probed.
    pub fn is_probed(&self) -> bool {
        self.sent > 0.0 && (0.0..=100.0).contains(&self.loss)
    }

    /// The hop as every format has it.
    pub fn recorded(&self) -> recording::Hop {
        recording::Hop {
            host: self.host.clone(),
            sent: self.sent as u64,
            loss: self.loss / 100.0,
            least_rtt: of_ms(self.best),
            mean_rtt: of_ms(self.mean),
            worst_rtt: of_ms(self.worst),
        }
    }
}
