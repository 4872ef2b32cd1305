//! A combination of remedies with values, from text such as `rto-factor:factor=10+sack`.

use std::fmt;
use std::str::FromStr;

use airtcp_tcp::Config;
use airtcp_tcp::config::TcpTable;
use serde::{Serialize, Serializer};

use crate::aliases::meant_by;
use crate::bpf::{self, Object};
use crate::registered::{self, RegisteredControl};
use crate::suggestion::question;
use crate::{Changes, LinkChange, Parameter, Quantity, Remedy, Values, catalogue, find};

/// The most remedies one combination may hold: far above any sensible one.
const MAX_REMEDIES: usize = 32;

/// Reason for refusing a combination of remedies. Its text names the remedy, the parameter, the
/// value and the expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectionError(String);

impl fmt::Display for SelectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SelectionError {}

/// One remedy with a value for each of its parameters.
#[derive(Clone, Debug)]
pub struct ConfiguredRemedy {
    /// The catalogue entry.
    pub remedy: &'static Remedy,
    /// One value for each of `remedy.parameters`, in their order, within their bounds.
    quantities: Vec<Quantity>,
}

impl ConfiguredRemedy {
    /// The remedy's parameters with their values.
    pub fn values(&self) -> impl Iterator<Item = (&'static Parameter, Quantity)> + '_ {
        self.remedy
            .parameters
            .iter()
            .zip(self.quantities.iter().copied())
    }

    /// The values as the remedy reads them.
    pub fn given(&self) -> Values<'_> {
        Values {
            parameters: self.remedy.parameters,
            quantities: &self.quantities,
        }
    }

    /// Deployment of the remedy with these values, in sentences.
    pub fn deployment(&self) -> String {
        self.remedy.deployment.text(&self.given())
    }

    /// Makes its changes of an endpoint. Returns those between the endpoints.
    pub fn apply(&self, tcp: &mut Config) -> Vec<LinkChange> {
        let mut link = Vec::new();
        if let Some(object) = Object::of(self.remedy) {
            object.apply(&self.given(), tcp);
            return link;
        }
        if let Some(registered) = RegisteredControl::of(self.remedy) {
            registered.apply(tcp);
            return link;
        }
        let mut keys = TcpTable::default();
        for (parameter, quantity) in self.values() {
            if let Some(key) = parameter.key {
                (key.set)(&mut keys, quantity);
            }
        }
        *tcp = keys.settings(tcp);
        let mut changes = Changes {
            tcp,
            link: &mut link,
        };
        (self.remedy.apply)(&self.given(), &mut changes);
        link
    }

    fn parse(text: &str) -> Result<Self, SelectionError> {
        let (remedy, settings) = named(text)?;
        let name = remedy.name;
        let mut quantities: Vec<_> = remedy.parameters.iter().map(|one| one.default).collect();
        let mut given = vec![false; quantities.len()];
        for setting in settings
            .into_iter()
            .flat_map(|settings| settings.split(','))
        {
            let (key, value) = setting.split_once('=').ok_or_else(|| {
                SelectionError(format!(
                    "remedy {name:?}: {:?}: expected name=value{}",
                    shortened(setting),
                    parameters_of(remedy)
                ))
            })?;
            let (key, value) = (key.trim(), value.trim());
            let position = remedy.parameters.iter().position(|one| one.name == key);
            let position = position.ok_or_else(|| unknown_parameter(remedy, key))?;
            if std::mem::replace(&mut given[position], true) {
                return Err(SelectionError(format!(
                    "remedy {name:?}: {key} is given twice; give it once"
                )));
            }
            quantities[position] = checked(remedy, &remedy.parameters[position], value)?;
        }
        Ok(Self { remedy, quantities })
    }
}

impl PartialEq for ConfiguredRemedy {
    fn eq(&self, other: &Self) -> bool {
        self.remedy.name == other.remedy.name && self.quantities == other.quantities
    }
}

impl fmt::Display for ConfiguredRemedy {
    /// The remedy with every value, defaults included; parses again to the same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.remedy.name)?;
        for (position, (parameter, value)) in self.values().enumerate() {
            let separator = if position == 0 { ':' } else { ',' };
            write!(f, "{separator}{}={value}", parameter.name)?;
        }
        Ok(())
    }
}

impl Serialize for ConfiguredRemedy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Remedies that are applied together, in the order given. Empty: TCP and link as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Selection(Vec<ConfiguredRemedy>);

impl Selection {
    /// The remedies, in the order in which they are applied.
    pub fn as_slice(&self) -> &[ConfiguredRemedy] {
        &self.0
    }

    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// These remedies and then `more`.
    ///
    /// # Errors
    /// When one of `more` makes a choice that another already makes, or there are too many.
    pub fn and(mut self, more: Self) -> Result<Self, SelectionError> {
        for one in more.0 {
            self.push(one)?;
        }
        Ok(self)
    }

    /// Makes every change of an endpoint, in order. Returns the changes between the endpoints.
    pub fn apply(&self, tcp: &mut Config) -> Vec<LinkChange> {
        self.0.iter().flat_map(|one| one.apply(tcp)).collect()
    }

    fn push(&mut self, one: ConfiguredRemedy) -> Result<(), SelectionError> {
        if self.0.len() == MAX_REMEDIES {
            return Err(SelectionError(format!(
                "more than {MAX_REMEDIES} remedies in one combination"
            )));
        }
        let rival = self
            .0
            .iter()
            .find(|other| other.remedy.decides == one.remedy.decides);
        if let Some(rival) = rival {
            let (first, second) = (rival.remedy.name, one.remedy.name);
            return Err(SelectionError(if first == second {
                format!("remedy {first:?} is given twice; give it once")
            } else {
                format!(
                    "remedies {first:?} and {second:?} both decide {}; give one of them",
                    one.remedy.decides
                )
            }));
        }
        self.0.push(one);
        Ok(())
    }
}

impl From<ConfiguredRemedy> for Selection {
    fn from(one: ConfiguredRemedy) -> Self {
        Self(vec![one])
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, one) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str("+")?;
            }
            one.fmt(f)?;
        }
        Ok(())
    }
}

impl FromStr for Selection {
    type Err = SelectionError;

    fn from_str(text: &str) -> Result<Self, SelectionError> {
        parse(text)
    }
}

/// Reads a combination: remedies joined by `+`, each with its values after a colon, joined by
/// commas. Empty text is the empty combination.
///
/// # Errors
/// An unknown name (the nearest known ones are named), a value outside its range or of the wrong
/// kind, two remedies that decide the same.
pub fn parse(text: &str) -> Result<Selection, SelectionError> {
    let mut selection = Selection::default();
    if text.trim().is_empty() {
        return Ok(selection);
    }
    for one in text.split('+') {
        selection.push(ConfiguredRemedy::parse(one)?)?;
    }
    Ok(selection)
}

/// A name, and the values after it.
fn split(text: &str) -> (&str, Option<&str>) {
    match text.split_once(':') {
        Some((name, settings)) => (name.trim(), Some(settings)),
        None => (text.trim(), None),
    }
}

/// The remedy that a text begins with, and its values.
fn named(text: &str) -> Result<(&'static Remedy, Option<&str>), SelectionError> {
    if let Some(file) = text.trim_start().strip_prefix(bpf::PREFIX) {
        let (path, settings) = split(file);
        let object = Object::open(path).map_err(SelectionError)?;
        return Ok((object.remedy(), settings));
    }
    if let Some(class) = text.trim_start().strip_prefix(registered::PREFIX) {
        let (name, settings) = split(class);
        let registered = RegisteredControl::named(name).map_err(SelectionError)?;
        return Ok((registered.remedy(), settings));
    }
    let (name, settings) = split(text);
    Ok((find(name).ok_or_else(|| unknown_remedy(name))?, settings))
}

fn checked(remedy: &Remedy, parameter: &Parameter, text: &str) -> Result<Quantity, SelectionError> {
    let Parameter {
        name,
        unit,
        default,
        minimum,
        maximum,
        ..
    } = parameter;
    let value = default
        .parse_alike(text)
        .filter(|value| value.is_within(*minimum, *maximum));
    value.ok_or_else(|| {
        let space = if unit.is_empty() { "" } else { " " };
        SelectionError(format!(
            "remedy {:?}: {name} = {}: expected {} from {minimum} to {maximum}{space}{unit} \
             (default {default})",
            remedy.name,
            shortened(text),
            default.noun(),
        ))
    })
}

fn unknown_remedy(name: &str) -> SelectionError {
    let names = catalogue().iter().map(|remedy| remedy.name);
    let question = match meant_by(name) {
        Some(meant) => format!("; did you mean {meant:?}?"),
        None => question(name, names),
    };
    let question = if question.is_empty() {
        "; list them with: airtcp list remedies".to_owned()
    } else {
        question
    };
    SelectionError(format!("unknown remedy {:?}{question}", shortened(name)))
}

fn unknown_parameter(remedy: &Remedy, key: &str) -> SelectionError {
    let end = match question(key, remedy.parameters.iter().map(|one| one.name)) {
        none if none.is_empty() => parameters_of(remedy),
        question => question,
    };
    let (name, key) = (remedy.name, shortened(key));
    SelectionError(format!("remedy {name:?}: unknown parameter {key:?}{end}"))
}

/// The parameters as the end of an error.
fn parameters_of(remedy: &Remedy) -> String {
    if remedy.parameters.is_empty() {
        return "; it takes no parameters".to_owned();
    }
    let names: Vec<_> = remedy.parameters.iter().map(|one| one.name).collect();
    format!("; it takes {}", names.join(", "))
}

/// Part of a user's text that an error repeats: enough to recognise it.
fn shortened(text: &str) -> String {
    const MAX: usize = 60;
    match text.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
