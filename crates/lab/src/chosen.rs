//! A link with settings and remedies, validated.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use airtcp_scenario::{Scenario, ScenarioError, file_keys};
use airtcp_sim::RunError;

/// Maximum virtual time that the page simulates, in seconds.
pub const MAX_S: f64 = 1800.0;
/// Maximum number of flows that the page simulates.
pub const MAX_FLOWS: u32 = 500;

/// Where the files are that a scenario names.
#[derive(Clone, Debug)]
pub enum Files {
    /// In this folder.
    In(PathBuf),
    /// In memory, by the names that the scenario gives them.
    Named(BTreeMap<String, Arc<[u8]>>),
}

/// A link to choose: a scenario as text.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its TOML.
    pub text: String,
    /// Its name in errors.
    pub name: String,
    /// The files that it names.
    pub files: Files,
}

/// The reason for which the lab has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabError {
    /// A link, a setting, a remedy or a flow is wrong.
    Scenario(String),
    /// A run could not be finished.
    Run(String),
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(text) | Self::Run(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for LabError {}

impl From<ScenarioError> for LabError {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(error.to_string())
    }
}

impl From<RunError> for LabError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Scenario(error) => error.into(),
            error => Self::Run(error.to_string()),
        }
    }
}

impl Source {
    /// The scenario with `settings`, in the order of their keys.
    ///
    /// # Errors
    /// [`LabError::Scenario`] as from [`Scenario::with_settings`].
    fn scenario(&self, settings: &BTreeMap<String, String>) -> Result<Scenario, LabError> {
        let settings: Vec<_> = settings.clone().into_iter().collect();
        Ok(match &self.files {
            Files::In(folder) => {
                Scenario::with_settings(&self.text, &self.name, folder, &settings)?
            }
            Files::Named(files) => {
                Scenario::with_named_files(&self.text, &self.name, files, &settings)?
            }
        })
    }
}

/// A validated link with settings and remedies, small enough to be simulated while its user waits.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The scenario.
    pub scenario: Arc<Scenario>,
}

impl Chosen {
    /// The link of `source` with `settings` and `remedies`; empty text is the scenario as written.
    ///
    /// # Errors
    /// [`LabError::Scenario`] when it is wrong, when a setting names a file, or when it would take
    /// too long.
    pub fn new(
        source: &Source,
        settings: &BTreeMap<String, String>,
        remedies: &str,
    ) -> Result<Self, LabError> {
        for (key, value) in settings {
            refuse_files(key, value)?;
        }
        let mut scenario = source.scenario(settings)?;
        if !remedies.trim().is_empty() {
            scenario = scenario.with_remedies(remedies.trim())?;
        }
        check_size(&scenario)?;
        Ok(Self {
            scenario: Arc::new(scenario),
        })
    }
}

/// Refuses settings that name files: a page takes the files themselves.
fn refuse_files(key: &str, text: &str) -> Result<(), LabError> {
    let name = if is_file_key(key) {
        Some(text.to_owned())
    } else {
        let one_line = !text.contains(['\n', '\r']);
        let value = one_line.then(|| format!("value = {text}").parse::<toml::Table>());
        value
            .and_then(Result::ok)
            .and_then(|table| named_file(&toml::Value::Table(table)))
    };
    name.map_or(Ok(()), |name| {
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
        Err(LabError::Scenario(format!(
            "setting {key}: names the file '{name}'; drop the file on the page in place of \
             naming it"
        )))
    })
}

fn is_file_key(key: &str) -> bool {
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().trim().to_owned();
    file_keys().iter().any(|known| last(known) == last(key))
}

/// The first file that a value names, also in lists of tables.
fn named_file(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::Table(table) => table.iter().find_map(|(key, value)| match value {
            toml::Value::String(name) if is_file_key(key) => Some(name.clone()),
            value => named_file(value),
        }),
        toml::Value::Array(values) => values.iter().find_map(named_file),
        _ => None,
    }
}

/// Bounds the cost of one movement of a slider.
fn check_size(scenario: &Scenario) -> Result<(), LabError> {
    if scenario.duration.as_secs_f64() > MAX_S {
        return Err(LabError::Scenario(format!(
            "duration = {}: the page shows at most {} min; `airtcp run` has no such limit",
            scenario.duration,
            MAX_S / 60.0
        )));
    }
    if scenario.flows.count > MAX_FLOWS {
        return Err(LabError::Scenario(format!(
            "flows.count = {}: the page shows at most {MAX_FLOWS} flows; `airtcp run` has no such \
             limit",
            scenario.flows.count
        )));
    }
    Ok(())
}
