//! Data files of flent, of its versions 1 to 4: a ping next to a load, a value each step.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::json::{begins_as_object, from_json, milliseconds};
use super::{Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::probes::{ProbeLogBuilder, Stamp};
use crate::source::Source;

pub(super) const FORMAT: Format = Format {
    name: "flent",
    title: "a data file of flent (.flent, .flent.gz) with a ping in it",
    knows: &[Fact::SendingTimes, Fact::RoundTrips, Fact::UnansweredProbes],
    sniff: |bytes| {
        begins_as_object(bytes, &["x_values"]) || begins_as_object(bytes, &["raw_values"])
    },
    read,
};

/// Data series in the order of preference; a prefix, since several hosts have a number each.
const SERIES: [&str; 4] = ["Ping (ms) ICMP", "Ping (ms) UDP", "Ping (ms)", "Ping"];
/// Step in seconds of versions that do not record it (`STEP_SIZE`).
const STEP_S: f64 = 0.2;

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    results: BTreeMap<String, Vec<Option<f64>>>,
    #[serde(default)]
    x_values: Vec<Option<f64>>,
    #[serde(default)]
    raw_values: BTreeMap<String, Vec<Raw>>,
}

/// A value as the tool printed it; tools of a load print other fields, which are ignored.
#[derive(Deserialize)]
struct Raw {
    #[serde(default)]
    t: Option<f64>,
    #[serde(default)]
    val: Option<f64>,
    #[serde(default)]
    seq: Option<f64>,
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let file: File = from_json(bytes, source)?;
    let name = SERIES.iter().find_map(|prefix| {
        file.results
            .keys()
            .find(|name| name.starts_with(prefix) && !name.contains("avg"))
    });
    let Some(name) = name else {
        let found = file.results.keys().cloned().collect::<Vec<_>>().join(", ");
        return Err(source.malformed(
            1,
            found.as_bytes(),
            "a data series \"Ping (ms) ICMP\"",
            "run a test of flent with a ping, such as rrul",
        ));
    };
    let mut log = ProbeLogBuilder::default();
    let raw = file.raw_values.get(name).filter(|raw| has_numbers(raw));
    match raw {
        Some(raw) => of_raw(&mut log, raw, source)?,
        None => of_steps(&mut log, &file.results[name], &file.x_values, source)?,
    }
    let none = || {
        let expected = "a data series of pings of which some were answered";
        source.error(None, TraceProblem::NoRoundTrip { expected })
    };
    Ok(Recording::of_probes(
        FORMAT.name,
        log.finish().ok_or_else(none)?,
    ))
}

fn has_numbers(raw: &[Raw]) -> bool {
    !raw.is_empty() && raw.iter().all(|one| one.seq.is_some() && one.t.is_some())
}

/// Replies by the numbers that ping printed; missing ones were lost.
fn of_raw(log: &mut ProbeLogBuilder, raw: &[Raw], source: Source<'_>) -> Result<(), TraceError> {
    const MAX: f64 = 1e9;
    let number = |one: &Raw| {
        one.seq
            .filter(|seq| (0.0..MAX).contains(seq))
            .map(|seq| seq as u64)
    };
    let numbers = || raw.iter().filter_map(number);
    let (Some(first), Some(last)) = (numbers().min(), numbers().max()) else {
        return Ok(());
    };
    let mut replies = Vec::new();
    for one in raw {
        if let (Some(number), Some(ms)) = (number(one), one.val) {
            let rtt = milliseconds(ms, source)?;
            let stamp = one.t.and_then(at_seconds);
            replies.push((number - first, stamp, rtt));
        }
    }
    log.run(replies, last - first + 1, 0);
    Ok(())
}

/// A value per step, interpolated by flent from ping's output; an empty step is a lost probe.
fn of_steps(
    log: &mut ProbeLogBuilder,
    values: &[Option<f64>],
    steps: &[Option<f64>],
    source: Source<'_>,
) -> Result<(), TraceError> {
    let mut replies = Vec::new();
    for (place, value) in values.iter().enumerate() {
        let Some(ms) = *value else { continue };
        let sent_s = steps
            .get(place)
            .copied()
            .flatten()
            .unwrap_or(STEP_S * place as f64);
        let rtt = milliseconds(ms, source)?;
        let stamp = at_seconds(sent_s).map(|sent| Stamp {
            nanos: sent.nanos.saturating_add(rtt.as_nanos()),
            ..sent
        });
        replies.push((place as u64, stamp, rtt));
    }
    log.run(replies, values.len() as u64, 0);
    Ok(())
}

/// A time in seconds since 1970, or since the test began.
fn at_seconds(seconds: f64) -> Option<Stamp> {
    const FIRST_DATE_S: f64 = 1e9;
    const LAST_S: f64 = 1e10;
    let is_time = (0.0..LAST_S).contains(&seconds);
    is_time.then(|| Stamp {
        nanos: (seconds * 1e9).round() as u64,
        is_dated: seconds >= FIRST_DATE_S,
        is_fine: true,
    })
}
