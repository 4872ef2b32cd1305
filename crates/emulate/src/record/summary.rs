//! A recording's summary: the emulated link, its traffic, its lateness, and how to replay it.

use std::path::Path;

use airtcp_host::error::Result;
use airtcp_host::lateness::{Lateness, Punctuality};
use serde::Serialize;

use super::writer::{PACKETS, SERVER, STATIONS, failed};
use crate::carried_traffic::CarriedTraffic;

const NAME: &str = "summary.json";

/// The content of `summary.json`, apart from the files' names.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The scenario's name.
    pub scenario: String,
    /// The remedies at the link and its access point.
    pub remedies: Vec<String>,
    /// The seed of the channel.
    pub seed: u64,
    /// How long the link was up, in seconds.
    pub seconds: f64,
    /// TCP connections.
    pub connections: usize,
    /// Traffic from the stations to the server.
    pub up: Way,
    /// Traffic from the server to the stations.
    pub down: Way,
    /// Packets lost by the link.
    pub lost: u64,
    /// Packets dropped by queues.
    pub dropped: u64,
    /// Packets refused by the kernel's queues.
    pub refused: u64,
    /// Lateness of departing packets.
    #[serde(flatten)]
    pub punctuality: Punctuality,
    /// The kernel at both ends.
    pub kernel: String,
}

/// Traffic in one direction.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Way {
    /// Packets into the link.
    pub taken: u64,
    /// Packets that left it.
    pub delivered: u64,
    /// Bytes that left it.
    pub delivered_bytes: u64,
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    files: [&'static str; 3],
    /// Settings that make a scenario without losses and stops replay the link's.
    replay: &'a [String],
}

impl Summary {
    /// Creates the summary of a link.
    pub fn new(
        scenario: &airtcp_scenario::Scenario,
        seed: u64,
        seconds: f64,
        connections: usize,
        passed: &CarriedTraffic,
        lateness: &Lateness,
    ) -> Self {
        let way = |index: usize| Way {
            taken: passed.taken[index],
            delivered: passed.delivered[index],
            delivered_bytes: passed.delivered_bytes[index],
        };
        Self {
            scenario: scenario.name.clone(),
            remedies: scenario
                .remedies
                .as_slice()
                .iter()
                .map(ToString::to_string)
                .collect(),
            seed,
            seconds,
            connections,
            up: way(0),
            down: way(1),
            lost: passed.lost,
            dropped: passed.dropped,
            refused: passed.refused,
            punctuality: lateness.punctuality(),
            kernel: rustix::system::uname()
                .release()
                .to_string_lossy()
                .into_owned(),
        }
    }

    /// Writes the summary into `folder`; `replay` are the settings that replay the recording.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&self, folder: &Path, replay: &[String]) -> Result<()> {
        let document = Document {
            summary: self,
            files: [STATIONS, SERVER, PACKETS],
            replay,
        };
        let text = serde_json::to_string_pretty(&document)
            .map_err(|error| failed(folder, NAME, error.into()))?;
        std::fs::write(folder.join(NAME), text + "\n").map_err(|error| failed(folder, NAME, error))
    }
}
