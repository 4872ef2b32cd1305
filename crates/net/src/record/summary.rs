//! A recording in short: what was emulated, what passed, how late, and what reads it back.

use std::path::Path;

use serde::Serialize;

use super::writer::{PACKETS, SERVER, STATIONS, failed};
use crate::emulate::drive::Passed;
use crate::emulate::lateness::{Lateness, Punctuality};
use crate::error::Result;

const NAME: &str = "summary.json";

/// What `summary.json` says beside the files' names.
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
    /// What went from the stations to the server.
    pub up: Way,
    /// What went from the server to the stations.
    pub down: Way,
    /// Packets that the link lost.
    pub lost: u64,
    /// Packets that queues dropped.
    pub dropped: u64,
    /// Packets that the kernel's own queues refused.
    pub refused: u64,
    /// How late packets left.
    #[serde(flatten)]
    pub punctuality: Punctuality,
    /// The kernel at both ends.
    pub kernel: String,
}

/// What passed one way.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Way {
    /// Packets into the link.
    pub taken: u64,
    /// Packets out of it.
    pub delivered: u64,
    /// Bytes out of it.
    pub delivered_bytes: u64,
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    files: [&'static str; 3],
    /// Settings with which a scenario without losses and stops of its own repeats the link's.
    replay: &'a [String],
}

impl Summary {
    /// The summary of a link.
    pub fn new(
        scenario: &airtcp_scenario::Scenario,
        seed: u64,
        seconds: f64,
        connections: usize,
        passed: &Passed,
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

    /// Writes the summary into `folder`; `replay` are the settings that read the recording back.
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
