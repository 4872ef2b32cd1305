//! irtt's JSON (`irtt client -o FILE`): each probe with its times, also gzipped.

use airtcp_units::Duration;
use serde::Deserialize;

use super::json::{begins_as_object, from_json, milliseconds};
use super::{Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::probes::{ProbeLogBuilder, Stamp};
use crate::recording::{Delays, Direction};
use crate::source::Source;

pub(super) const FORMAT: Format = Format {
    name: "irtt-json",
    title: "the JSON of irtt (\"irtt client -o FILE\")",
    knows: &[
        Fact::Direction,
        Fact::OneWayDelays,
        Fact::RoundTrips,
        Fact::SendingTimes,
        Fact::UnansweredProbes,
        Fact::Losses,
        Fact::Date,
    ],
    by_lines: false,
    sniff: |bytes| begins_as_object(bytes, &["round_trips"]),
    read,
};

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    version: Version,
    #[serde(default)]
    config: Config,
    round_trips: Vec<RoundTrip>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Version {
    irtt: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Config {
    remote_address: Option<String>,
    params: Parameters,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Parameters {
    /// Bytes of UDP payload.
    length: Option<u64>,
}

#[derive(Deserialize)]
struct RoundTrip {
    seqno: u64,
    #[serde(default)]
    lost: Lost,
    #[serde(default)]
    delay: Delay,
    #[serde(default)]
    timestamps: Timestamps,
}

/// A text, `"false" "true" "true_up" "true_down"`; the manual has booleans.
#[derive(Default, Deserialize)]
#[serde(untagged)]
enum Lost {
    Word(String),
    Flag(bool),
    #[default]
    Unknown,
}

impl Lost {
    fn is(&self, word: &str) -> bool {
        match self {
            Self::Word(text) => text == word,
            Self::Flag(flag) => *flag && word == "true",
            Self::Unknown => false,
        }
    }
}

/// Nanoseconds; absent where the probe was lost.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Delay {
    rtt: Option<f64>,
    /// From the client to the server, by two clocks.
    send: Option<f64>,
    /// The way back.
    receive: Option<f64>,
}

#[derive(Default, Deserialize)]
struct Timestamps {
    #[serde(default)]
    client: Client,
}

#[derive(Default, Deserialize)]
struct Client {
    #[serde(default)]
    send: Instants,
    #[serde(default)]
    receive: Instants,
}

#[derive(Default, Deserialize)]
struct Instants {
    /// Nanoseconds since 1970.
    wall: Option<u64>,
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    const MAX: u64 = 1 << 32;
    let file: File = from_json(bytes, source)?;
    let probes = || file.round_trips.iter().filter(|one| one.seqno < MAX);
    let first = probes().map(|one| one.seqno).min().unwrap_or(0);
    let sent = probes().map(|one| one.seqno - first + 1).max().unwrap_or(0);
    let mut replies = Vec::new();
    for one in probes() {
        let Some(nanos) = one.delay.rtt else { continue };
        let stamp = one.timestamps.client.receive.wall.map(|nanos| Stamp {
            nanos,
            is_dated: true,
            is_fine: true,
        });
        replies.push((one.seqno - first, stamp, milliseconds(nanos / 1e6, source)?));
    }
    let mut log = ProbeLogBuilder::default();
    log.run(replies, sent, 0);
    let none = || {
        let expected = "round trips of irtt of which some have a delay";
        source.error(None, TraceProblem::NoRoundTrip { expected })
    };
    let mut found = Recording::of_probes(FORMAT.name, log.finish().ok_or_else(none)?);
    add_directions(&mut found, &file);
    found.summary = format!("a log of irtt ({})", found.summary);
    let version = file.version.irtt.as_deref().unwrap_or_default();
    found.origin.program = Some(format!("irtt {version}").trim().to_owned());
    found.origin.hosts = file.config.remote_address.into_iter().collect();
    if let Some(bytes) = file.config.params.length.filter(|bytes| *bytes < 1000) {
        found.remark(format!(
            "Its packets have {bytes} bytes of payload and are sent faster than full ones."
        ));
    }
    Ok(found)
}

/// Delays and losses of each way. One-way delays are differences of two clocks: their least is
/// subtracted, and half of the least round trip put in its place.
fn add_directions(found: &mut Recording, file: &File) {
    let lost = |word: &str| {
        file.round_trips
            .iter()
            .filter(|one| one.lost.is(word))
            .count()
    };
    let (up, down) = (lost("true_up"), lost("true_down"));
    let sent = file.round_trips.len();
    if up + down > 0 {
        found.remark(format!(
            "{up} probes were lost on the way up and {down} on the way down, of {sent}."
        ));
        let unknown = lost("true");
        if unknown == 0 {
            let share = |lost: usize, of: usize| lost as f64 / of.max(1) as f64;
            found.figures.losses.push((Direction::Up, share(up, sent)));
            found
                .figures
                .losses
                .push((Direction::Down, share(down, sent - up)));
        }
    }
    let answered = || {
        file.round_trips
            .iter()
            .filter(|one| one.delay.rtt.is_some())
    };
    let Some(first) = answered().find_map(|one| one.timestamps.client.send.wall) else {
        return;
    };
    let least_rtt = answered()
        .filter_map(|one| one.delay.rtt)
        .fold(f64::INFINITY, f64::min);
    for (direction, delay) in [
        (
            Direction::Up,
            (|delay: &Delay| delay.send) as fn(&Delay) -> Option<f64>,
        ),
        (Direction::Down, |delay: &Delay| delay.receive),
    ] {
        let values = || {
            answered().filter_map(|one| {
                let at = one.timestamps.client.send.wall?.checked_sub(first)?;
                Some((at, delay(&one.delay).filter(|nanos| nanos.abs() < MAX_NS)?))
            })
        };
        let least = values()
            .map(|(_, nanos)| nanos)
            .fold(f64::INFINITY, f64::min);
        let mut steps: Vec<(Duration, Duration)> = values()
            .map(|(at, nanos)| {
                let delay = nanos - least + least_rtt / 2.0;
                (
                    Duration::from_nanos(at),
                    Duration::from_nanos(delay.round() as u64),
                )
            })
            .collect();
        steps.sort_by_key(|(at, _)| *at);
        steps.dedup_by_key(|(at, _)| *at);
        if steps.len() > 1 {
            found.delays.push(Delays {
                direction,
                steps,
                is_relative: true,
            });
        }
    }
    if !found.delays.is_empty() {
        found.assume(
            "each way takes half of the shortest round trip when it is shortest: the clocks of \
             both ends tell only how it varies",
            None,
        );
    }
}

/// Clocks of two machines may differ by years.
const MAX_NS: f64 = 1e18;
