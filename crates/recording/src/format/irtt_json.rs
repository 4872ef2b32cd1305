//! irtt's JSON (`irtt client -o FILE`): each probe with its times, also gzipped.

use serde::Deserialize;

use super::irtt_probes::{RoundTrip, recording};
use super::json::{begins_as_object, from_json};
use super::{Fact, Format, Recording};
use crate::fault::TraceError;
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

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let file: File = from_json(bytes, source)?;
    let expected = "round trips of irtt of which some have a delay";
    let mut found = recording((FORMAT.name, expected), &file.round_trips, source)?;
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
