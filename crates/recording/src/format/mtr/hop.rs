//! A hop of a report.

use serde::Deserialize;

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
    #[serde(rename = "StDev")]
    pub deviation: f64,
}
