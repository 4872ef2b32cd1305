//! irtt's JSON (`irtt client -o FILE`): each probe with its times, also gzipped.

use serde::Deserialize;

use super::json::{begins_as_object, from_json, milliseconds};
use super::{Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::probes::{ProbeLogBuilder, Stamp};
use crate::source::Source;

pub(super) const FORMAT: Format = Format {
    name: "irtt-json",
    title: "the JSON of irtt (\"irtt client -o FILE\")",
    knows: &[Fact::SendingTimes, Fact::RoundTrips, Fact::UnansweredProbes],
    sniff: |bytes| begins_as_object(bytes, &["round_trips"]),
    read,
};

#[derive(Deserialize)]
struct File {
    round_trips: Vec<RoundTrip>,
}

#[derive(Deserialize)]
struct RoundTrip {
    seqno: u64,
    #[serde(default)]
    delay: Delay,
    #[serde(default)]
    timestamps: Timestamps,
}

#[derive(Default, Deserialize)]
struct Delay {
    /// Nanoseconds; absent where the probe was lost.
    rtt: Option<f64>,
}

#[derive(Default, Deserialize)]
struct Timestamps {
    #[serde(default)]
    client: Client,
}

#[derive(Default, Deserialize)]
struct Client {
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
    Ok(Recording::of_probes(
        FORMAT.name,
        log.finish().ok_or_else(none)?,
    ))
}
