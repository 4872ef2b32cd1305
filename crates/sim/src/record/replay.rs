//! The link's behaviour in a run, as a scenario that plays it back.

use std::fs;
use std::path::{Path, PathBuf};

use airtcp_link::LostPackets;
use airtcp_scenario::Scenario;

use super::RecordError;
use crate::engine::Direction;

/// The scenario's name in the folder.
const SCENARIO: &str = "scenario.toml";

/// Collects the packets that a link loses, and writes them with the scenario and its stops.
#[derive(Debug)]
pub struct ReplayWriter {
    folder: PathBuf,
    /// (flow, number) of lost data packets and of lost acknowledgments.
    lost: [Vec<(u32, u64)>; 2],
}

impl ReplayWriter {
    /// Creates a writer to `folder`, which is created if it does not exist.
    ///
    /// # Errors
    ///
    /// The folder cannot be created.
    pub fn create(folder: &Path) -> Result<Self, RecordError> {
        fs::create_dir_all(folder).map_err(|error| RecordError::new(folder, error))?;
        Ok(Self {
            folder: folder.to_path_buf(),
            lost: Default::default(),
        })
    }

    /// Records that the link lost packet number `packet` of `flow`.
    pub fn lost(&mut self, direction: Direction, flow: u32, packet: u64) {
        self.lost[usize::from(direction == Direction::Acknowledgments)].push((flow, packet));
    }

    /// Writes the scenario of the completed run of `scenario` with `seed`.
    ///
    /// # Errors
    ///
    /// A file cannot be written. A scenario that cannot be replayed is refused by
    /// [`Scenario::check_replay`] before the run, and writes nothing here.
    pub fn finish(self, scenario: &Scenario, seed: u64) -> Result<(), RecordError> {
        let Ok(replay) = scenario.replay(seed, self.lost.map(LostPackets::new)) else {
            return Ok(());
        };
        // The scenario comes last: once it exists, so do all the files it names.
        let last = (SCENARIO, replay.scenario);
        for (name, text) in replay.files.into_iter().chain([last]) {
            let path = self.folder.join(name);
            fs::write(&path, text).map_err(|error| RecordError::new(&path, error))?;
        }
        Ok(())
    }
}
