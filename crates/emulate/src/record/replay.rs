//! The files that a scenario can read: the packets lost by a link, by number, and the times at
//! which it stopped.

use std::path::Path;

use airtcp_host::error::Result;
use airtcp_link::{Delay, LostPackets, PipeConfig, Service, StopList, Stops, Stream};
use airtcp_network::NetworkConfig;
use airtcp_scenario::{Link, Scenario};
use airtcp_units::Instant;

use super::writer::failed;

/// The scenario that repeats the recording, as `airtcp run --replay` names it.
const SCENARIO: &str = "scenario.toml";
const STOPS: &str = "stops.csv";
const LOST: &str = "lost-data.csv";
const LOST_ACKS: &str = "lost-acks.csv";

/// The parts of a link's behaviour that can be replayed.
#[derive(Debug)]
pub struct Replay {
    scenario: Scenario,
    seed: u64,
    end: Instant,
    /// Whether losses can be identified by number: on a pipe without packets repeated by agents.
    by_number: bool,
    stops: Option<ReplayedStops>,
}

#[derive(Debug)]
struct ReplayedStops {
    list: StopList,
    packets: &'static str,
    direction: &'static str,
}

impl Replay {
    /// Determines the parts of a link's behaviour until `end` that can be replayed.
    pub fn of(scenario: &Scenario, network: &NetworkConfig, seed: u64, end: Instant) -> Self {
        let is_pipe = matches!(scenario.link, Link::Pipe { .. });
        let repeats = network.agents.iter().any(|(_, agent)| agent.repeats());
        Self {
            scenario: scenario.clone(),
            seed,
            end,
            by_number: is_pipe && !repeats,
            stops: if is_pipe {
                stops(network, seed, end)
            } else {
                None
            },
        }
    }

    /// Writes the scenario of the recording and its lists into `folder`: `lost` has for each packet
    /// whether it took the data path, its flow, and its index. If losses have no numbers, the
    /// scenario draws them by the recording's seed. Returns the settings that make another scenario
    /// read the lists.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn write(&self, folder: &Path, lost: &[(bool, u32, u64)]) -> Result<Vec<String>> {
        let put = |name: &str, text: &str| {
            std::fs::write(folder.join(name), text).map_err(|error| failed(folder, name, error))
        };
        let mut settings = Vec::new();
        let lists = [true, false].map(|of_data| {
            let numbers = lost
                .iter()
                .filter(|(way, ..)| *way == of_data)
                .map(|&(_, flow, index)| (flow, index));
            LostPackets::new(numbers.collect())
        });
        if self.by_number {
            // Another scenario's losses would contradict the list.
            settings.push("link.loss={}".to_owned());
            settings.push(format!("link.lost_packets.path=\"{LOST}\""));
            if !lists[1].is_empty() {
                settings.push("link.reverse.loss={}".to_owned());
                settings.push(format!("link.reverse.lost_packets.path=\"{LOST_ACKS}\""));
            }
            for (name, list) in [LOST, LOST_ACKS].into_iter().zip(&lists) {
                put(name, &list.to_csv())?;
            }
        }
        if let Some(stopped) = &self.stops {
            put(STOPS, &stopped.list.to_csv())?;
            settings.push(format!("link.stops.path=\"{STOPS}\""));
            settings.push("link.stops.process=\"recorded\"".to_owned());
            settings.push(format!("link.stops.packets=\"{}\"", stopped.packets));
            settings.push(format!("link.stops.direction=\"{}\"", stopped.direction));
        }
        // A recording with a loss process draws them, regardless of the losses here.
        let [data, acks] = lists;
        let lists = [(LOST, data), (LOST_ACKS, acks)];
        let replayed = if self.by_number {
            self.scenario.replay_until(self.seed, self.end, lists).ok()
        } else {
            None
        };
        let replayed = replayed.unwrap_or_else(|| self.scenario.standing_alone());
        for (name, text) in &replayed.files {
            put(name, text)?;
        }
        put(SCENARIO, &replayed.scenario)?;
        Ok(settings)
    }
}

/// The stops of the link's two pipes, which are the first two.
fn stops(network: &NetworkConfig, seed: u64, end: Instant) -> Option<ReplayedStops> {
    let of = |index: usize| {
        let (name, pipe) = network.pipes.get(index)?;
        let (stops, packets) = stops_of(pipe)?;
        Some((stops.until(Stream::new(seed, name), end), packets))
    };
    let (data, acks) = (of(0), of(1));
    let direction = match (&data, &acks) {
        (Some(_), Some(_)) => "both",
        (Some(_), None) => "data",
        _ => "acks",
    };
    let (list, packets) = data.or(acks)?;
    Some(ReplayedStops {
        list,
        packets,
        direction,
    })
}

fn stops_of(pipe: &PipeConfig) -> Option<(&Stops, &'static str)> {
    match (&pipe.service, &pipe.delay) {
        (Service::Suspended { stops, .. }, _) => Some((stops, "wait")),
        (_, Delay::Variable(delay)) => delay.held.as_ref().map(|stops| (stops, "held")),
        _ => None,
    }
}
