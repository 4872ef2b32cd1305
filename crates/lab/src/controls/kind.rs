//! Kinds of values, and their texts as numbers in the base unit.

use airtcp_units::{BitRate, ByteCount, Duration, Probability};
use serde::Serialize;
use serde_json::Value;

/// The kind of a value, which determines its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Bits a second.
    Rate,
    /// Seconds.
    Time,
    /// Bytes.
    Bytes,
    /// A share of 1.
    Share,
    /// A whole number.
    Count,
    /// A real number.
    Number,
}

impl Kind {
    /// The kind of a key, by the alternatives of its schema; `None` if it is not a number.
    pub(super) fn of(alternatives: &[&Value]) -> Option<Self> {
        let mut patterns = alternatives
            .iter()
            .filter_map(|one| one["pattern"].as_str());
        let units = [
            ("bit/s", Self::Rate),
            ("ms|", Self::Time),
            ("KiB", Self::Bytes),
        ];
        let found = patterns.clone().find_map(|pattern| {
            let mut known = units.iter().filter(|(unit, _)| pattern.contains(unit));
            known.next().map(|(_, kind)| *kind)
        });
        if found.is_some() {
            return found;
        }
        if patterns.any(|pattern| pattern.contains('%')) {
            return Some(Self::Share);
        }
        let has = |name: &str| alternatives.iter().any(|one| is_of_type(one, name));
        match () {
            () if has("number") => Some(Self::Number),
            () if has("array") => None,
            () if has("integer") => Some(Self::Count),
            () => None,
        }
    }

    /// The value of a text of this kind in the base unit; `None` if it is not one.
    pub(super) fn parse(self, text: &str) -> Option<f64> {
        match self {
            Self::Rate => text
                .parse::<BitRate>()
                .ok()
                .map(|rate| rate.as_bps() as f64),
            Self::Time => text.parse::<Duration>().ok().map(Duration::as_secs_f64),
            Self::Bytes => text
                .parse::<ByteCount>()
                .ok()
                .map(|size| size.as_bytes() as f64),
            Self::Share => text.parse::<Probability>().ok().map(Probability::as_f64),
            Self::Count | Self::Number => text.parse().ok(),
        }
    }
}

fn is_of_type(node: &Value, name: &str) -> bool {
    match &node["type"] {
        Value::String(one) => one == name,
        Value::Array(several) => several.iter().any(|one| one == name),
        _ => false,
    }
}
