//! Errors in a scenario: the key, the value, the expectation and the remedy.

use std::fmt;

use airtcp_remedies::suggestion::question;
use toml::{Table, Value};

/// Reason for refusing a scenario.
///
/// Its text is one line: `scenario "x.toml": link.loss.rate = 1.2: expected a probability between
/// 0 and 1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    source: String,
    problem: Problem,
}

impl ScenarioError {
    pub(crate) fn new(source: &str, problem: Problem) -> Self {
        Self {
            source: source.to_owned(),
            problem,
        }
    }

    /// The key at fault, such as `link.loss.rate`; `None` if no single key is.
    pub fn key(&self) -> Option<&str> {
        Some(self.problem.key.as_str()).filter(|key| !key.is_empty())
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "scenario {:?}: ", self.source)?;
        if let Some(key) = self.key() {
            write!(f, "{key}")?;
            if let Some(value) = &self.problem.value {
                write!(f, " = {value}")?;
            }
            write!(f, ": ")?;
        }
        f.write_str(&self.problem.message)
    }
}

impl std::error::Error for ScenarioError {}

/// An error, before it is known in which scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Dotted; empty when no key is at fault.
    key: String,
    /// As the user wrote it.
    value: Option<String>,
    message: String,
}

impl Problem {
    /// A problem with the whole scenario.
    pub fn of_all(message: impl Into<String>) -> Self {
        Self::at("", message)
    }

    /// A problem with the key `key`.
    pub fn at(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            value: None,
            message: message.into(),
        }
    }

    /// The same problem, attributed to `to` if it was attributed to `from`.
    pub fn moved(mut self, from: &str, to: &str) -> Self {
        if self.key == from {
            to.clone_into(&mut self.key);
        }
        self
    }

    /// The same problem with the value found in `given` at the key.
    pub fn with_value_from(mut self, given: &Table) -> Self {
        // A table is not repeated: the faulty keys in it are named.
        self.value = value_at(given, &self.key)
            .filter(|value| !value.is_table())
            .map(|value| match value {
                Value::String(text) => format!("{:?}", shortened(text)),
                value => shortened(&value.to_string()),
            });
        self
    }

    /// Converts a syntax error of TOML's parser in `text`.
    pub fn of_syntax(text: &str, error: &toml::de::Error) -> Self {
        let message = error
            .message()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let Some(span) = error.span() else {
            return Self::of_all(message);
        };
        let before = text.get(..span.start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before[line_start..].chars().count() + 1;
        let full_line = text[line_start..].lines().next().unwrap_or_default();
        let remedy = quotation_remedy(full_line).unwrap_or_default();
        Self::of_all(format!("line {line}, column {column}: {message}{remedy}"))
    }

    /// Converts a type error of [`super::document`].
    pub fn of_type(error: &serde_path_to_error::Error<serde_json::Error>, given: &Table) -> Self {
        let path = match error.path().to_string() {
            root if root == "." => String::new(),
            path => path,
        };
        let message = error.inner().to_string();
        if let Some(rest) = message.strip_prefix("unknown field ") {
            return unknown_key(&path, rest);
        }
        if let Some(missing) = message.strip_prefix("missing field ") {
            let key = joined(&path, missing.trim_matches('`'));
            return Self::at(key, "is missing; the table that holds it needs it");
        }
        if let Some(rest) = message.strip_prefix("unknown variant ") {
            return unknown_choice(&path, rest).with_value_from(given);
        }
        Self::at(path, expectation(&message)).with_value_from(given)
    }
}

/// `key` below `path`.
fn joined(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

/// TOML's name for a serde type.
fn in_toml(expected: &str) -> &str {
    match expected {
        "a string" | "string or map" | "map with a single key" | "unit" => {
            "text in quotation marks"
        }
        "a boolean" => "true or false",
        "a sequence" => "a list in square brackets",
        "a map" => "a table",
        other if other.starts_with("struct ") => "a table",
        other => other,
    }
}

/// The expectation in a type's error message; the value is named elsewhere.
fn expectation(message: &str) -> String {
    let found = [", expected ", ": expected "]
        .map(|start| message.rfind(start).map(|position| position + start.len()));
    match found.into_iter().flatten().max() {
        Some(start) => format!("expected {}", in_toml(&message[start..])),
        None => message.to_owned(),
    }
}

/// The names in backticks after `expected`, and the one before it.
fn names_in(rest: &str) -> (&str, Vec<&str>) {
    let (unknown, known) = rest.rsplit_once(", expected ").unwrap_or((rest, ""));
    (
        unknown.trim_matches('`'),
        known.split('`').skip(1).step_by(2).collect(),
    )
}

fn unknown_key(path: &str, rest: &str) -> Problem {
    let (unknown, known) = names_in(rest);
    // The path may already end in the key.
    let table = path
        .strip_suffix(unknown)
        .map_or(path, |table| table.trim_end_matches('.'));
    let place = if table.is_empty() {
        "a scenario".to_owned()
    } else {
        format!("[{table}]")
    };
    let remedy = match question(unknown, known.iter().copied()) {
        none if none.is_empty() => format!("; {place} takes {}", known.join(", ")),
        question => question,
    };
    let message = format!("unknown key{remedy}");
    Problem::at(joined(table, &shortened(unknown)), message)
}

fn unknown_choice(path: &str, rest: &str) -> Problem {
    let (unknown, known) = names_in(rest);
    let question = question(unknown, known.iter().copied());
    let known: Vec<_> = known.iter().map(|name| format!("{name:?}")).collect();
    Problem::at(
        path,
        format!("expected one of {}{question}", known.join(", ")),
    )
}

/// The remedy when a line's value looks like text without quotation marks.
fn quotation_remedy(line: &str) -> Option<String> {
    let (key, value) = line.split_once('=')?;
    let (key, value) = (key.trim(), value.split('#').next()?.trim());
    let is_bare = value.chars().next()?.is_alphanumeric()
        && !value.contains(['"', '\'', '=', '[', ']'])
        && value.chars().any(char::is_alphabetic);
    is_bare.then(|| {
        let (key, value) = (shortened(key), shortened(value));
        format!("; text needs quotation marks: {key} = {value:?}")
    })
}

/// The value at a dotted path, with positions in lists as `[1]`.
fn value_at<'a>(table: &'a Table, path: &str) -> Option<&'a Value> {
    let mut steps = path
        .split(['.', '['])
        .map(|step| step.trim_end_matches(']'));
    let mut value = table.get(steps.next()?)?;
    for step in steps {
        value = match value {
            Value::Table(table) => table.get(step)?,
            Value::Array(list) => list.get(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(value)
}

/// A user's text as an error repeats it: enough to recognise it, on one line.
pub(crate) fn shortened(text: &str) -> String {
    const MAX: usize = 60;
    let mut short: String = text
        .chars()
        .take(MAX)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(MAX).is_some() {
        short.push('…');
    }
    short
}
