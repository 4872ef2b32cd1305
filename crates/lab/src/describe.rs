//! The remedies of the catalogue, and one link: its sliders, and the remedies that fit it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use airtcp_remedies::{Parameter, Place, catalogue};
use serde::Serialize;
use serde_json::Value;

use crate::chosen::{Chosen, LabError, Source};
use crate::controls::{Controls, controls};

/// A remedy to choose.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Remedy {
    /// The name.
    pub name: &'static str,
    /// Where it acts.
    pub place: Place,
    /// Its effect, in a line.
    pub effect: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
}

/// Every remedy, in the order of the catalogue.
pub fn remedies() -> impl Iterator<Item = Remedy> {
    catalogue().iter().map(|entry| Remedy {
        name: entry.name,
        place: entry.place,
        effect: entry.effect,
        parameters: entry.parameters,
    })
}

/// One link.
#[derive(Clone, Debug, Serialize)]
pub struct Description {
    /// Its name.
    pub name: String,
    /// Its purpose.
    pub description: String,
    /// The kind of its path.
    pub topology: Value,
    /// Number of its flows.
    pub flows: u32,
    /// The sender's profile.
    pub profile: Value,
    /// Remedies that the scenario names itself.
    pub remedies: Value,
    /// Remedies that do not fit, and why.
    pub amiss: BTreeMap<&'static str, String>,
    /// Its sliders.
    #[serde(flatten)]
    pub controls: Controls,
}

/// Describes the link of `source` with `settings`.
///
/// # Errors
/// [`LabError::Scenario`] when it is wrong.
pub fn describe(
    source: &Source,
    settings: &BTreeMap<String, String>,
) -> Result<Description, LabError> {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    let schema = SCHEMA.get_or_init(airtcp_scenario::schema);
    let chosen = Chosen::new(source, settings, "")?;
    let scenario = &chosen.scenario;
    let mut document = scenario.to_json();
    let accepts = |key: &str, text: &str| {
        let mut settings = settings.clone();
        settings.insert(key.to_owned(), text.to_owned());
        Chosen::new(source, &settings, "").is_ok()
    };
    let amiss = remedies().filter_map(|remedy| {
        let refused = scenario.with_remedies(remedy.name).err()?;
        Some((remedy.name, refused.to_string()))
    });
    Ok(Description {
        name: scenario.name.clone(),
        description: scenario.description.clone(),
        flows: scenario.flows.count,
        amiss: amiss.collect(),
        controls: controls(&document, schema, &accepts),
        profile: document["tcp"]["profile"].take(),
        topology: document["topology"].take(),
        remedies: document["remedies"].take(),
    })
}
