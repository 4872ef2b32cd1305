//! The data series of a file, in one form for all versions.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Deserializer};

use super::super::json::milliseconds;
use super::super::{Recording, in_words, stamp::stamp};
use crate::fault::TraceError;
use crate::probes::{ProbeLog, ProbeLogBuilder, Stamp};
use crate::source::Source;

/// Data series in the order of preference; a prefix, since several hosts have a number each.
const PINGS: [&str; 4] = ["Ping (ms) ICMP", "Ping (ms) UDP", "Ping (ms)", "Ping"];
/// Step in seconds of versions that do not record it (`STEP_SIZE`).
const STEP_S: f64 = 0.2;
/// From this version on raw values of UDP are times; before they are transactions a second.
const TIMES_SINCE: u64 = 4;

#[derive(Deserialize)]
pub(super) struct File {
    #[serde(default)]
    pub version: u64,
    #[serde(default, deserialize_with = "series")]
    pub results: BTreeMap<String, Vec<Option<f64>>>,
    #[serde(default)]
    pub x_values: Vec<Option<f64>>,
    #[serde(default, deserialize_with = "series")]
    pub raw_values: BTreeMap<String, Vec<Raw>>,
    #[serde(default)]
    metadata: Metadata,
}

/// Data series by name; a null series, of a tool that failed, is left out.
fn series<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<BTreeMap<String, Vec<T>>, D::Error> {
    let found = Option::<BTreeMap<String, Option<Vec<T>>>>::deserialize(from)?;
    let each = found.unwrap_or_default().into_iter();
    Ok(each
        .filter_map(|(name, values)| Some((name, values?)))
        .collect())
}

/// A value as the tool printed it; tools of a load print other fields, which are ignored.
#[derive(Clone, Deserialize)]
pub(super) struct Raw {
    #[serde(default)]
    pub t: Option<f64>,
    #[serde(default)]
    pub val: Option<f64>,
    #[serde(default)]
    seq: Option<f64>,
    #[serde(default)]
    dur: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    #[serde(rename = "NAME")]
    name: Option<String>,
    #[serde(rename = "TITLE")]
    title: Option<String>,
    #[serde(rename = "HOST")]
    host: Option<String>,
    #[serde(rename = "LOCAL_HOST")]
    local_host: Option<String>,
    #[serde(rename = "T0")]
    t0: Option<String>,
    #[serde(rename = "TIME")]
    time: Option<String>,
    #[serde(rename = "FLENT_VERSION")]
    program: Option<String>,
    #[serde(rename = "SERIES_META")]
    series: BTreeMap<String, Series>,
    #[serde(rename = "REMOTE_METADATA")]
    remote: BTreeMap<String, Machine>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Series {
    #[serde(rename = "UNITS")]
    units: Option<String>,
    #[serde(rename = "RAW_VALUES")]
    raw: Vec<Raw>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Machine {
    #[serde(rename = "EGRESS_INFO")]
    egress: Option<Egress>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Egress {
    qdiscs: Option<Vec<Discipline>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Discipline {
    name: String,
    params: BTreeMap<String, serde_json::Value>,
}

impl File {
    /// Converts old versions' places and units to version 4's.
    pub fn unify(&mut self) {
        for (name, series) in &mut self.metadata.series {
            if !self.raw_values.contains_key(name) && !series.raw.is_empty() {
                self.raw_values
                    .insert(name.clone(), std::mem::take(&mut series.raw));
            }
        }
        if self.version >= TIMES_SINCE {
            return;
        }
        for (name, values) in &mut self.raw_values {
            if !name.contains("UDP") {
                continue;
            }
            for raw in values.iter_mut().filter(|raw| raw.dur.is_some()) {
                raw.val = raw.val.filter(|rate| *rate > 0.0).map(|rate| 1000.0 / rate);
            }
        }
    }

    /// The names of all series.
    pub fn names(&self) -> Vec<&str> {
        let grid = self.results.keys();
        let raw = self
            .raw_values
            .keys()
            .filter(|name| !self.results.contains_key(*name));
        grid.chain(raw).map(String::as_str).collect()
    }

    /// The unit of a series, if recorded.
    pub fn unit(&self, name: &str) -> Option<&str> {
        self.metadata.series.get(name)?.units.as_deref()
    }

    /// The ping's name and probes, if any was answered.
    pub fn pinged(
        &self,
        source: Source<'_>,
    ) -> Result<Option<(&str, Option<ProbeLog>)>, TraceError> {
        let names = self.names();
        let name = PINGS.iter().find_map(|prefix| {
            let is_it = |name: &&&str| name.starts_with(prefix) && !name.contains("avg");
            names.iter().find(is_it)
        });
        let Some(&name) = name else { return Ok(None) };
        let mut log = ProbeLogBuilder::default();
        let numbered = self.raw_values.get(name).filter(|raw| has_numbers(raw));
        let timed = self.raw_values.get(name).filter(|raw| has_times(raw));
        match (numbered, timed, self.results.get(name)) {
            (Some(raw), ..) => of_numbers(&mut log, raw, source)?,
            (None, Some(raw), _) => of_times(&mut log, raw, source)?,
            (None, None, Some(grid)) => of_steps(&mut log, grid, &self.x_values, source)?,
            _ => {}
        }
        Ok(Some((name, log.finish())))
    }

    /// Steps without a ping before the first answer and after the last, of a series without raw
    /// values: the ping may not have run, or may have had no answer.
    pub fn steps_around(&self, name: &str) -> usize {
        let is_raw = |raw: &Vec<Raw>| has_numbers(raw) || has_times(raw);
        match self.results.get(name) {
            Some(grid) if !self.raw_values.get(name).is_some_and(is_raw) => {
                grid.len() - answered(grid).len()
            }
            _ => 0,
        }
    }

    /// Describes the file: its type, its origin, and the queues of its machines.
    pub fn describe(&self, found: &mut Recording) {
        let metadata = &self.metadata;
        let rates = match in_words(&found.rates) {
            words if words.is_empty() => String::new(),
            words => format!(" ({words})"),
        };
        let title = metadata.title.as_deref().filter(|title| !title.is_empty());
        let title = title.map_or_else(String::new, |title| format!(", \"{title}\""));
        let probes = match found.summary.is_empty() {
            true => String::new(),
            false => format!(", {}", found.summary),
        };
        found.summary = format!(
            "a data file of flent, version {}, test {}{title}{rates}{probes}",
            self.version,
            metadata.name.as_deref().unwrap_or("without a name")
        );
        let began = metadata.t0.as_deref().or(metadata.time.as_deref());
        let began = began.and_then(stamp).filter(|stamp| stamp.is_dated);
        found.origin.began_unix_ns = began.map(|stamp| stamp.nanos);
        let program = metadata.program.as_deref().unwrap_or_default();
        found.origin.program = Some(format!("flent {program}").trim().to_owned());
        let hosts = [metadata.host.as_ref(), metadata.local_host.as_ref()];
        found.origin.hosts = hosts.into_iter().flatten().cloned().collect();
        for egress in metadata
            .remote
            .values()
            .filter_map(|machine| machine.egress.as_ref())
        {
            let disciplines = egress.qdiscs.iter().flatten().map(Discipline::in_words);
            let words: Vec<String> = disciplines.filter(|words| !words.is_empty()).collect();
            if !words.is_empty() {
                found.remark(format!(
                    "A machine on the path had these queues: {}. They are better than inference.",
                    words.join("; ")
                ));
            }
        }
    }
}

impl Discipline {
    fn in_words(&self) -> String {
        let each = self.params.iter().map(|(key, value)| match value {
            serde_json::Value::String(text) => format!("{key} {text}"),
            other => format!("{key} {other}"),
        });
        let words = each.collect::<Vec<_>>().join(" ");
        format!("{} {words}", self.name).trim().to_owned()
    }
}

fn has_numbers(raw: &[Raw]) -> bool {
    !raw.is_empty() && raw.iter().all(|one| one.seq.is_some() && one.t.is_some())
}

fn has_times(raw: &[Raw]) -> bool {
    !raw.is_empty() && raw.iter().all(|one| one.t.is_some() && one.val.is_some())
}

/// Replies by the numbers that ping printed; missing ones were lost.
fn of_numbers(
    log: &mut ProbeLogBuilder,
    raw: &[Raw],
    source: Source<'_>,
) -> Result<(), TraceError> {
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

/// Replies of a version without numbers: lost probes cannot be identified.
fn of_times(log: &mut ProbeLogBuilder, raw: &[Raw], source: Source<'_>) -> Result<(), TraceError> {
    let mut replies = Vec::new();
    for (place, one) in (0_u64..).zip(raw) {
        let rtt = milliseconds(one.val.unwrap_or(f64::NAN), source)?;
        replies.push((place, one.t.and_then(at_seconds), rtt));
    }
    log.run(replies, raw.len() as u64, 0);
    Ok(())
}

/// The steps from the first answered to the last.
fn answered(values: &[Option<f64>]) -> Range<usize> {
    let first = values.iter().position(Option::is_some);
    let last = values.iter().rposition(Option::is_some);
    first
        .zip(last)
        .map_or(0..0, |(first, last)| first..last + 1)
}

/// A value per step, interpolated by flent from ping's output; an empty step between others is a
/// lost probe.
fn of_steps(
    log: &mut ProbeLogBuilder,
    values: &[Option<f64>],
    steps: &[Option<f64>],
    source: Source<'_>,
) -> Result<(), TraceError> {
    let mut replies = Vec::new();
    let range = answered(values);
    let first = range.start;
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
        replies.push(((place - first) as u64, stamp, rtt));
    }
    log.run(replies, range.len() as u64, 0);
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
