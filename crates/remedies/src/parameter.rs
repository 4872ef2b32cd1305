//! The parameters of a remedy, and the values given for them.

use std::num::NonZeroU32;

use airtcp_link::frame::RetryLimit;
use airtcp_units::Duration;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::{Key, Quantity};

/// A number that a remedy takes.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name, as in `rto-factor:factor=10`.
    pub name: &'static str,
    /// The key of `[tcp]` that it sets, from which it has its bounds and meaning. `None` if the
    /// remedy itself makes use of it.
    pub key: Option<Key>,
    /// The unit, or empty for a bare number. A time includes its unit: `200 ms`.
    pub unit: &'static str,
    /// The default value.
    pub default: Quantity,
    /// The least legal value.
    pub minimum: Quantity,
    /// The greatest legal value.
    pub maximum: Quantity,
    /// Its effect, or how to choose it if it sets a key; may be empty then.
    pub(crate) effect: &'static str,
}

impl Parameter {
    /// One that sets `key`.
    pub(crate) const fn key(name: &'static str, key: Key, default: Quantity) -> Self {
        Self {
            name,
            key: Some(key),
            unit: key.unit,
            default,
            minimum: key.minimum,
            maximum: key.maximum,
            effect: "",
        }
    }

    /// A real number.
    pub(crate) const fn number(
        name: &'static str,
        unit: &'static str,
        default: f64,
        (minimum, maximum): (f64, f64),
        effect: &'static str,
    ) -> Self {
        Self {
            name,
            key: None,
            unit,
            default: Quantity::Number(default),
            minimum: Quantity::Number(minimum),
            maximum: Quantity::Number(maximum),
            effect,
        }
    }

    /// A whole number.
    pub(crate) const fn count(
        name: &'static str,
        unit: &'static str,
        default: u64,
        (minimum, maximum): (u64, u64),
        effect: &'static str,
    ) -> Self {
        Self {
            name,
            key: None,
            unit,
            default: Quantity::Count(default),
            minimum: Quantity::Count(minimum),
            maximum: Quantity::Count(maximum),
            effect,
        }
    }

    /// A whole number from `minimum` on, or no limit, which is the default.
    pub(crate) const fn limit(
        name: &'static str,
        unit: &'static str,
        minimum: u64,
        effect: &'static str,
    ) -> Self {
        Self {
            name,
            key: None,
            unit,
            default: Quantity::Unlimited,
            minimum: Quantity::Count(minimum),
            maximum: Quantity::Unlimited,
            effect,
        }
    }

    /// A length of time.
    pub(crate) const fn time(
        name: &'static str,
        default: Duration,
        (minimum, maximum): (Duration, Duration),
        effect: &'static str,
    ) -> Self {
        Self {
            name,
            key: None,
            unit: "",
            default: Quantity::Time(default),
            minimum: Quantity::Time(minimum),
            maximum: Quantity::Time(maximum),
            effect,
        }
    }

    /// 1 for on or 0 for off.
    pub(crate) const fn switch(name: &'static str, default: u64, effect: &'static str) -> Self {
        Self::count(name, "", default, (0, 1), effect)
    }

    /// The same in `unit`, for a key that is a bare number.
    pub(crate) const fn in_unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// The same within bounds narrower than the key's: the remedy's.
    pub(crate) const fn within(self, minimum: Quantity, maximum: Quantity) -> Self {
        Self {
            minimum,
            maximum,
            ..self
        }
    }

    /// The same, with how to choose it.
    pub(crate) const fn advised(self, advice: &'static str) -> Self {
        Self {
            effect: advice,
            ..self
        }
    }

    /// Its effect, in a line: the meaning of the key that it sets, and how to choose it.
    pub fn meaning(&self) -> String {
        let Some(Key { sentence, .. }) = self.key else {
            return self.effect.to_owned();
        };
        let sentence = sentence.strip_suffix('.').unwrap_or(sentence);
        let mut letters = sentence.chars();
        let mut meaning: String = match (letters.next(), letters.clone().next()) {
            (Some(first), Some(second)) if second.is_lowercase() || second == ' ' => {
                first.to_lowercase().chain(letters).collect()
            }
            _ => sentence.to_owned(),
        };
        if !self.effect.is_empty() {
            meaning += "; ";
            meaning += self.effect;
        }
        meaning
    }
}

impl Serialize for Parameter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entry = serializer.serialize_struct("Parameter", 7)?;
        entry.serialize_field("name", self.name)?;
        entry.serialize_field("key", &self.key.map(|key| format!("tcp.{}", key.name)))?;
        entry.serialize_field("unit", self.unit)?;
        entry.serialize_field("default", &self.default)?;
        entry.serialize_field("minimum", &self.minimum)?;
        entry.serialize_field("maximum", &self.maximum)?;
        entry.serialize_field("effect", &self.meaning())?;
        entry.end()
    }
}

/// The values given for one remedy, one for each of its parameters and within its bounds.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    pub(crate) parameters: &'a [Parameter],
    pub(crate) quantities: &'a [Quantity],
}

impl Values<'_> {
    /// The value of a parameter. A test over the catalogue ensures that remedies only ask for
    /// declared parameters.
    pub(crate) fn get(&self, name: &str) -> Quantity {
        self.parameters
            .iter()
            .zip(self.quantities)
            .find_map(|(parameter, quantity)| (parameter.name == name).then_some(*quantity))
            .unwrap_or_else(|| panic!("the remedy has no parameter {name:?}"))
    }

    /// The real number of a parameter.
    pub(crate) fn number(&self, name: &str) -> f64 {
        match self.get(name) {
            Quantity::Number(value) => value,
            other => panic!("{name:?} is {other:?}, no number"),
        }
    }

    /// The whole number of a parameter with an upper bound below 2^32.
    pub(crate) fn count(&self, name: &str) -> u32 {
        match self.get(name) {
            Quantity::Count(value) => u32::try_from(value).unwrap_or(u32::MAX),
            other => panic!("{name:?} is {other:?}, no count"),
        }
    }

    /// The limit that a parameter sets; its lower bound is above 0.
    pub(crate) fn limit(&self, name: &str) -> RetryLimit {
        match self.get(name) {
            Quantity::Unlimited => RetryLimit::Unlimited,
            Quantity::Count(value) => u32::try_from(value)
                .ok()
                .and_then(NonZeroU32::new)
                .map_or(RetryLimit::Unlimited, RetryLimit::Attempts),
            other => panic!("{name:?} is {other:?}, no limit"),
        }
    }

    /// The duration of a parameter.
    pub(crate) fn time(&self, name: &str) -> Duration {
        match self.get(name) {
            Quantity::Time(value) => value,
            other => panic!("{name:?} is {other:?}, no time"),
        }
    }

    /// Whether a parameter of 0 or 1 is 1.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.count(name) != 0
    }
}
