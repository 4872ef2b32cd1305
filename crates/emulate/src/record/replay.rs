//! The files that a scenario can read: the packets lost by a link, by number, and the times at
//! which it stopped.

use std::path::Path;

use airtcp_host::error::Result;
use airtcp_link::{Delay, LostPackets, PipeConfig, Service, StopList, Stops, Stream};
use airtcp_network::NetworkConfig;
use airtcp_scenario::{Link, Scenario};
use airtcp_units::Instant;

use super::writer::failed;

/// Names of the lists of lost packets: of the data's direction, and of the other.
const LOST: [&str; 2] = ["lost-acks.csv", "lost-data.csv"];
const STOPS: &str = "stops.csv";

/// The parts of a link's behaviour that can be replayed.
#[derive(Debug, Default)]
pub struct Replay {
    /// Whether losses can be identified by number: on a pipe whose packets no agent repeats.
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
    /// Determines which of a link's behaviour until `end` can be replayed.
    pub fn of(scenario: &Scenario, network: &NetworkConfig, seed: u64, end: Instant) -> Self {
        let is_pipe = matches!(scenario.link, Link::Pipe { .. });
        let repeats = network.agents.iter().any(|(_, agent)| agent.repeats());
        Self {
            by_number: is_pipe && !repeats,
            stops: if is_pipe {
                stops(network, seed, end)
            } else {
                None
            },
        }
    }

    /// Writes the lists into `folder`: `lost` has for each packet whether it took the data's path,
    /// its flow, and its index. Returns the settings by which a scenario reads them.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn write(&self, folder: &Path, lost: &[(bool, u32, u64)]) -> Result<Vec<String>> {
        let mut settings = Vec::new();
        let mut put = |name: &str, key: &str, text: String| {
            std::fs::write(folder.join(name), text).map_err(|error| failed(folder, name, error))?;
            settings.push(format!("{key}=\"{name}\""));
            Ok(())
        };
        if self.by_number {
            for (is_data, key) in [
                (true, "link.lost_packets.path"),
                (false, "link.reverse.lost_packets.path"),
            ] {
                let numbers = lost
                    .iter()
                    .filter(|(way, ..)| *way == is_data)
                    .map(|&(_, flow, index)| (flow, index));
                let list = LostPackets::new(numbers.collect());
                if is_data || !list.is_empty() {
                    put(LOST[usize::from(is_data)], key, list.to_csv())?;
                }
            }
        }
        if let Some(stopped) = &self.stops {
            put(STOPS, "link.stops.path", stopped.list.to_csv())?;
            settings.push("link.stops.process=\"recorded\"".to_owned());
            settings.push(format!("link.stops.packets=\"{}\"", stopped.packets));
            settings.push(format!("link.stops.direction=\"{}\"", stopped.direction));
        }
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
