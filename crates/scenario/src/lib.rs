//! A scenario: which link, which flows, which TCP, for how long. It is data, read from TOML, and
//! once read nothing in it can be wrong: every number is within its range, every file is in memory,
//! every key that was left out has its value.
//!
//! ```text
//!   TOML ─▶ document ─▶ defaults ─▶ resolve ─▶ apply ─▶ Scenario
//!                                               ▲
//!                                   remedies, as typed changes
//!   Scenario ─▶ build(seed) ─▶ a network and its hosts
//! ```
//!
//! The pages `docs/reference/keys-*.md` list every key.

mod apply;
mod build;
mod competing;
mod control;
mod datagrams;
mod defaults;
#[macro_use]
mod document;
mod endpoint;
mod error;
mod fast_log;
mod flow;
mod hosts;
mod inputs;
mod link;
mod medium;
mod mix;
mod names;
mod phase;
mod renamed;
mod replay;
mod resolve;
mod schema;
mod segment_timer;
mod settings;
mod traffic;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use airtcp_remedies::{OutageReaction, Selection};
use airtcp_tcp::{Config, Profile};
use airtcp_units::{Duration, Probability};
use sha2::{Digest, Sha256};
use toml::Table;

/// Sizes and intervals of the probes of `flows.under_load`, for senders of real packets.
pub mod probes {
    pub use crate::build::under_load::{
        EXCHANGE, LAST_BEFORE_END, PING_BYTES, PROBE_INTERVAL, WARM_UP,
    };
}
pub use build::{Layout, build};
pub use datagrams::{Bursts, Datagrams, Ping, Scream, Udp};
use document::keys::Keys;
use document::{Document, forms};
use error::Problem;
pub use error::ScenarioError;
pub use flow::{FlowConfig, FreezeConfig, ProxyConfig};
use inputs::{Files, HexDigest, Inputs, read_bounded};
pub use link::{AccessPoint, Link, RoundTrip, Wired};
pub use medium::{AggregatingWlan, Air, Arq, CellLink, SelectiveRepeat, WirelessMedium, Wlan};
pub use mix::Mix;
use names::TraceDirection;
pub use names::{Companion, FlowDirection, LossDirection, Topology};
pub use replay::Replay;
pub use schema::{file_keys, schema};
pub use traffic::{Email, Ftp, Http, Traffic, Visit, VisitStep};

/// The largest scenario file that is read: 1 MiB.
pub const MAX_BYTES: u64 = 1 << 20;

/// The flows over the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flows {
    /// How many, from 1 to 1 000 000.
    pub count: u32,
    /// How many of them, counted from the last, are exempt from remedies of the sender and
    /// receiver.
    pub unchanged: u32,
    /// Time over which they start: flow i at i/count of it, plus up to 1/count of it at random.
    pub start_spread: Duration,
    /// Bytes that each sends; `None` is unlimited until the end.
    pub bytes: Option<u64>,
    /// Bytes of the request with which the receiver of the data opens each connection; `None` has
    /// the sender open it.
    pub request: Option<u64>,
    /// Delay each way of the flows' access lines, used in turn. Empty but for a dumbbell.
    pub access_delay: Vec<Duration>,
    /// Which way the data of each flow goes, used in turn; never empty.
    pub directions: Vec<FlowDirection>,
    /// Datagrams that a flow sends in place of TCP, used in turn; `None` is a TCP connection.
    pub datagrams: Vec<Option<Datagrams>>,
    /// Probes that measure the service of others under load; each once.
    pub under_load: Vec<Companion>,
}

impl Flows {
    /// Whether flow number `flow` is exempt from remedies of the sender and the receiver.
    pub fn is_unchanged(&self, flow: u32) -> bool {
        flow >= self.count - self.unchanged
    }

    /// The delay each way of the access line of flow number `flow`.
    pub fn access_delay_of(&self, flow: u32) -> Duration {
        match self.access_delay.len() {
            0 => Duration::ZERO,
            count => self.access_delay[flow as usize % count],
        }
    }

    /// The datagrams of flow number `flow`, or `None` for a TCP connection.
    pub fn datagrams_of(&self, flow: u32) -> Option<Datagrams> {
        match self.datagrams.len() {
            0 => None,
            count => self.datagrams[flow as usize % count],
        }
    }

    /// Whether any flow is a TCP connection.
    pub fn has_tcp(&self) -> bool {
        (0..self.count).any(|flow| self.datagrams_of(flow).is_none())
    }

    /// Which way the data of flow number `flow` goes.
    pub fn direction_of(&self, flow: u32) -> FlowDirection {
        match self.directions.len() {
            0 => FlowDirection::default(),
            count => self.directions[flow as usize % count],
        }
    }
}

/// A checked scenario, remedies applied.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Name, in tables and file names.
    pub name: String,
    /// Its purpose; may be empty.
    pub description: String,
    /// Simulated time, above zero and at most 30 days.
    pub duration: Duration,
    /// Share by which each seed changes rates, delays, limits in bytes and starts at most.
    pub perturb: Probability,
    /// The path between the endpoints.
    pub topology: Topology,
    /// The wireless link.
    pub link: Link,
    /// The path between it and the wired hosts, if that is modelled.
    pub wired: Option<Wired>,
    /// Agents at the access point.
    pub access_point: AccessPoint,
    /// Reaction of receivers to outages of the link, if they have one.
    pub outage_reaction: Option<OutageReaction>,
    /// Traffic of each flow in place of [`Flows::bytes`]; one entry per flow.
    pub traffic: Vec<Option<Traffic>>,
    /// The flows over it.
    pub flows: Flows,
    /// TCP endpoints of flows without an entry in `flow_tcp`; each endpoint reads its half.
    pub tcp: Config,
    /// Endpoints that replace [`tcp`](Self::tcp), used in turn; empty if no flow overrides it.
    pub flow_tcp: Vec<Config>,
    /// Endpoints of the flows exempt from remedies, used in turn by a flow's number; may be empty.
    pub unchanged_tcp: Vec<Config>,
    /// The remedies that `link` and `tcp` hold already.
    pub remedies: Selection,
    /// Remedies without effect: the endpoints already behave that way.
    pub already_so: Vec<String>,
    /// The same parts without remedies.
    untreated: Box<Untreated>,
    source: String,
    document: Document,
    inputs: Inputs,
    /// Warnings of keys of earlier versions.
    renamed: Vec<&'static str>,
}

/// The parts of a scenario that remedies change, without any.
#[derive(Clone, Debug)]
struct Untreated {
    /// See [`Scenario::link`].
    link: Link,
    /// See [`Scenario::tcp`].
    tcp: Config,
    /// See [`Scenario::flow_tcp`].
    flow_tcp: Vec<Config>,
}

impl Scenario {
    /// Reads a scenario from TOML. `source` names it in errors, usually by its file's name, and
    /// `folder` is the folder of the files that it names.
    ///
    /// # Errors
    /// Text that is no TOML (with line and column), an unknown key, a value of the wrong kind or
    /// out of its range, keys that contradict each other, a file that cannot be read.
    pub fn parse(text: &str, source: &str, folder: &Path) -> Result<Self, ScenarioError> {
        Self::with_settings(text, source, folder, &[])
    }

    /// Reads a scenario from TOML in which some keys are set to other values first, in order:
    /// dotted keys, and values that are TOML (`0.01`, `true`, `"text"`) or else text (`10 Mbit/s`).
    /// A file among them is looked for in the current folder, and if it is not there in `folder`.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn with_settings(
        text: &str,
        source: &str,
        folder: &Path,
        settings: &[(String, String)],
    ) -> Result<Self, ScenarioError> {
        Self::read(text, source, &Files::In(folder), settings)
    }

    /// Reads a scenario like [`Self::with_settings`], but takes the files that it names from
    /// `files`, by these names, and opens nothing.
    ///
    /// # Errors
    /// As [`Self::parse`], and a name without a file.
    pub fn with_named_files(
        text: &str,
        source: &str,
        files: &BTreeMap<String, Arc<[u8]>>,
        settings: &[(String, String)],
    ) -> Result<Self, ScenarioError> {
        Self::read(text, source, &Files::Named(files), settings)
    }

    fn read(
        text: &str,
        source: &str,
        files: &Files<'_>,
        settings: &[(String, String)],
    ) -> Result<Self, ScenarioError> {
        let refused = |problem| ScenarioError::new(source, problem);
        if text.len() as u64 > MAX_BYTES {
            return Err(refused(too_large()));
        }
        let mut given: Table = text
            .parse()
            .map_err(|error| refused(Problem::of_syntax(text, &error)))?;
        let mut renamed = renamed::in_text(&mut given).map_err(refused)?;
        for (key, value) in settings {
            settings::set(&mut given, key, value, files.folder()).map_err(refused)?;
            for warning in renamed::in_settings(&mut given) {
                if !renamed.contains(&warning) {
                    renamed.push(warning);
                }
            }
        }
        let refused =
            |problem: Problem| ScenarioError::new(source, problem.with_value_from(&given));
        let document: Document = forms::read(&given).map_err(refused)?;
        let inputs = Inputs::read(&document, files).map_err(refused)?;
        let scenario = Self::resolve(document, inputs, source).map_err(refused)?;
        Ok(Self {
            renamed,
            ..scenario
        })
    }

    /// Reads the scenario file at `path`, with `settings` as in [`Self::with_settings`].
    ///
    /// # Errors
    /// As [`Self::parse`], and a file that cannot be read, is larger than 1 MiB or no UTF-8.
    pub fn load(path: &Path, settings: &[(String, String)]) -> Result<Self, ScenarioError> {
        let source = path.to_string_lossy();
        let refused = |message: String| ScenarioError::new(&source, Problem::of_all(message));
        let bytes = read_bounded(path, MAX_BYTES).map_err(&refused)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| refused("is no text (UTF-8); expected a TOML file".to_owned()))?;
        let folder = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        Self::with_settings(&text, &source, &folder, settings)
    }

    /// The same scenario with further remedies, as in `rto-factor:factor=10+sack`. Empty text is
    /// the scenario itself.
    ///
    /// # Errors
    /// An unknown remedy, a value out of its range, or a conflict with one of the scenario's
    /// remedies.
    pub fn with_remedies(&self, remedies: &str) -> Result<Self, ScenarioError> {
        let refused = |problem| ScenarioError::new(&self.source, problem);
        let more = airtcp_remedies::parse(remedies)
            .and_then(|more| self.remedies.clone().and(more))
            .map_err(|error| refused(Problem::at("remedies", error.to_string())))?;
        let mut treated = self.clone();
        treated.apply(more).map_err(refused)?;
        Ok(treated)
    }

    /// Whether the mobile is the receiver of flow number `flow`'s data; `None` on a link without a
    /// mobile: a pipe, but for one that a cellular trace describes.
    pub fn mobile_receives(&self, flow: u32) -> Option<bool> {
        if !matches!(self.link, Link::Pipe { .. }) {
            return Some(self.flows.direction_of(flow) == FlowDirection::Down);
        }
        let trace = self.document.link.as_ref()?.trace.as_ref()?;
        Some(trace.data.unwrap_or_default() == TraceDirection::Down)
    }

    /// Profiles of the senders, each once: those in `flows.tcp`, or else the one in `[tcp]`.
    pub fn senders(&self) -> Vec<&'static str> {
        let tables = self.document.flows.tcp.as_deref().unwrap_or_default();
        let common = std::slice::from_ref(&self.document.tcp);
        let tables = if tables.is_empty() { common } else { tables };
        let mut names = Vec::new();
        for name in tables
            .iter()
            .filter_map(|table| table.profile)
            .map(Profile::name)
        {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The endpoints of flow number `flow`.
    pub fn tcp_of(&self, flow: u32) -> &Config {
        let own = if self.flows.is_unchanged(flow) {
            &self.unchanged_tcp
        } else {
            &self.flow_tcp
        };
        match own.len() {
            0 => &self.tcp,
            count => &own[flow as usize % count],
        }
    }

    /// The scenario as TOML with every key that applies, defaults included. Reads again to the same
    /// scenario, from the same folder.
    pub fn to_toml(&self) -> String {
        forms::to_toml(&self.document)
    }

    /// The keys and values of [`to_toml`](Self::to_toml), in the same order; null is no value.
    pub fn to_json(&self) -> serde_json::Value {
        forms::to_json(&self.document).into()
    }

    /// SHA-256, in hexadecimal, of the scenario's keys and the contents of its files, wherever they
    /// are.
    pub fn hash(&self) -> String {
        let mut document = self.document.clone();
        document.each_file(&mut |name| {
            if let Some(digest) = self.inputs.digests.get(name) {
                name.clone_from(digest);
            }
        });
        for remedy in document.remedies.iter_mut().flatten() {
            // What an object holds counts, not where it lies.
            if let Some(bytes) = airtcp_remedies::bpf::bytes_of(remedy) {
                let values = remedy.splitn(3, ':').nth(2).unwrap_or_default();
                let digest = Sha256::digest(bytes);
                *remedy = format!("bpf:{:x}:{values}", HexDigest(digest.as_slice()));
            }
        }
        format!(
            "{:x}",
            HexDigest(Sha256::digest(forms::to_toml(&document)).as_slice())
        )
    }

    /// The scenario's name in errors, usually that of its file.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The files that the scenario names, by key. With [`Self::to_toml`] they are the scenario
    /// wherever it goes: see [`Self::with_files`].
    pub fn files(&self) -> &BTreeMap<String, Arc<[u8]>> {
        &self.inputs.files
    }

    /// Parses a scenario like [`Self::parse`], but takes the files that its keys name from `files`
    /// and opens nothing.
    ///
    /// # Errors
    /// As [`Self::parse`], and a key with a missing file.
    pub fn with_files(
        text: &str,
        source: &str,
        files: &BTreeMap<String, Arc<[u8]>>,
    ) -> Result<Self, ScenarioError> {
        Self::read(text, source, &Files::Given(files), &[])
    }

    /// The scenario that `document` describes: the keys checked against each other, then the
    /// defaults given, then all of it resolved.
    fn resolve(document: Document, inputs: Inputs, source: &str) -> Result<Self, Problem> {
        document.check("")?;
        let completed = defaults::complete(&document, &inputs, source)?;
        let mut scenario = resolve::resolve(completed, inputs, source)?;
        let remedies = scenario.document.remedies.as_deref().unwrap_or_default();
        let remedies = apply::named(remedies)?;
        scenario.apply(remedies)?;
        Ok(scenario)
    }
}

fn too_large() -> Problem {
    Problem::of_all(format!(
        "larger than {} MiB; check that this is the right file",
        MAX_BYTES >> 20
    ))
}

#[cfg(test)]
mod tests;
