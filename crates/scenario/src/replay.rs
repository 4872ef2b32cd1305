//! Exports a run as a scenario: the events on its link become lists that replace the random
//! processes.

use std::path::Path;

use airtcp_link::{LostPackets, Stops, Stream};
use airtcp_units::Instant;

use crate::document::{LinkTable, LostPacketsTable, ReverseTable, StopsTable, forms};
use crate::error::Problem;
use crate::inputs::Recording;
use crate::names::StopProcess;
use crate::{Link, Scenario, ScenarioError};

const STOPS: &str = "stops.csv";
const LOST: [&str; 2] = ["lost.csv", "lost-acks.csv"];

/// A scenario and the files that it names, to be written to one folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The scenario, as TOML. Files of the original scenario are named by their absolute paths.
    pub scenario: String,
    /// The other files: name and text.
    pub files: Vec<(&'static str, String)>,
}

impl Scenario {
    /// The scenario of a run with `seed` in which lists replace the link's random stops and losses:
    /// the stops drawn with that seed, and the lost packets, data and acknowledgments. With the
    /// same seed it is the same run; with another, the link behaves the same.
    ///
    /// # Errors
    /// As [`Self::check_replay`].
    pub fn replay(&self, seed: u64, lost: [LostPackets; 2]) -> Result<Replay, ScenarioError> {
        let [data, acks] = lost;
        let lists = [(LOST[0], data), (LOST[1], acks)];
        self.replay_until(seed, Instant::ZERO + self.duration, lists)
    }

    /// The same for a link that ran until `end`, with names for the lists of lost packets.
    ///
    /// # Errors
    /// As [`Self::check_replay`].
    pub fn replay_until(
        &self,
        seed: u64,
        end: Instant,
        lost: [(&'static str, LostPackets); 2],
    ) -> Result<Replay, ScenarioError> {
        self.check_replay()?;
        let mut files = Vec::new();
        let mut document = self.document.clone();
        let Some(link) = &mut document.link else {
            return Ok(self.standing_alone());
        };
        if let (Some(table), Some(random)) = (&mut link.stops, self.random_stops()) {
            let shared = Stream::new(seed, "link.stops");
            files.push((STOPS, random.shared(shared).until(shared, end).to_csv()));
            *table = StopsTable {
                process: Some(StopProcess::Recorded),
                path: Some(STOPS.to_owned()),
                packets: table.packets,
                direction: table.direction,
                ..StopsTable::default()
            };
        }
        let [data, acks] = lost.map(|(name, lost)| {
            files.push((name, lost.to_csv()));
            let path = name.to_owned();
            Some(LostPacketsTable { path })
        });
        link.loss = None;
        link.lost_packets = data;
        link.reverse = Some(ReverseTable {
            loss: None,
            lost_packets: acks,
            ..link.reverse.take().unwrap_or_default()
        });
        self.name_files_absolutely(link);
        Ok(Replay {
            scenario: forms::to_toml(&document),
            files,
        })
    }

    /// The scenario itself, readable from any folder.
    pub fn standing_alone(&self) -> Replay {
        let mut document = self.document.clone();
        if let Some(link) = &mut document.link {
            let lists = [&self.inputs.lost_packets[0], &self.inputs.lost_packets[1]];
            let reverse = link.reverse.as_mut();
            let tables = [
                link.lost_packets.as_mut(),
                reverse.and_then(|reverse| reverse.lost_packets.as_mut()),
            ];
            for (table, list) in tables.into_iter().zip(lists) {
                name_absolutely(table.map(|table| &mut table.path), list.as_ref());
            }
            self.name_files_absolutely(link);
        }
        Replay {
            scenario: forms::to_toml(&document),
            files: Vec::new(),
        }
    }

    /// Replaces the names of the link's files, except lists of losses, by absolute paths.
    fn name_files_absolutely(&self, link: &mut LinkTable) {
        if let Some(trace) = &mut link.trace {
            name_absolutely(trace.down.as_mut(), self.inputs.down.as_ref());
            name_absolutely(trace.up.as_mut(), self.inputs.up.as_ref());
            if let Some(light) = &mut trace.light {
                let [down, up] = &self.inputs.light;
                name_absolutely(light.down.as_mut(), down.as_ref());
                name_absolutely(light.up.as_mut(), up.as_ref());
            }
        }
        let log = link.rtt_log.as_mut().map(|log| &mut log.path);
        name_absolutely(log, self.inputs.rtt_log.as_ref());
        let [recorded, of_acks] = &self.inputs.recorded;
        let table = link.recorded.as_mut().map(|table| &mut table.path);
        name_absolutely(table, recorded.as_ref());
        let table = link
            .reverse
            .as_mut()
            .and_then(|reverse| reverse.recorded.as_mut());
        let table = table.map(|table| &mut table.path);
        name_absolutely(table, of_acks.as_ref().or(recorded.as_ref()));
        // Random stops become a new file next to the scenario.
        let stops = link.stops.as_mut().and_then(|stops| stops.path.as_mut());
        name_absolutely(stops, self.inputs.stops.as_ref());
    }

    /// Checks that a run can be exported: losses of a medium (802.11, ARQ, a cell) are per
    /// transmission, and transmissions have no numbers that a scenario could list.
    ///
    /// # Errors
    /// A link other than a pipe, or one whose recording includes losses.
    pub fn check_replay(&self) -> Result<(), ScenarioError> {
        let refused = |key, message| {
            let problem = Problem::at(key, message);
            Err(ScenarioError::new(&self.source, problem))
        };
        if !matches!(self.link, Link::Pipe { .. }) {
            return refused(
                "",
                "only the losses and stops of a [link] can be given back by their numbers; \
                 a medium repeats frames and draws for each transmission",
            );
        }
        let loses = |file: &Recording<airtcp_link::Conditions>| file.content.loses();
        if self.inputs.recorded.iter().flatten().any(loses) {
            return refused(
                key!(link.recorded),
                "its losses are drawn and cannot be replaced by a list; \
                 remove its column loss and give link.loss",
            );
        }
        Ok(())
    }

    /// The link's stops, if they come at random.
    fn random_stops(&self) -> Option<Stops> {
        let Link::Pipe { data, acks } = &self.link else {
            return None;
        };
        let stops = data.stops().or_else(|| acks.stops())?;
        matches!(stops, Stops::Random(_)).then(|| stops.clone())
    }
}

/// Replaces a file's name, which is relative to the original scenario, by its absolute path. A file
/// still to be written has none.
fn name_absolutely<T>(name: Option<&mut String>, file: Option<&Recording<T>>) {
    if let (Some(name), Some(file)) = (name, file) {
        *name = absolute(&file.path);
    }
}

fn absolute(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    whole.to_string_lossy().into_owned()
}
