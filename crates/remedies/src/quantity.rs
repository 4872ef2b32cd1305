//! The value of a remedy's parameter: one of four kinds, which its default decides.

use std::fmt;

use airtcp_units::Duration;
use serde::{Serialize, Serializer};

/// How no limit is written, as in a scenario.
const UNLIMITED: &str = "unlimited";

/// A parameter's value, default or bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// A real number.
    Number(f64),
    /// A whole number.
    Count(u64),
    /// No limit in place of a whole number; as a bound, unbounded.
    Unlimited,
    /// A length of time.
    Time(Duration),
}

impl Quantity {
    /// Reads `text` as a quantity of the same kind as `self`. `None` for other text: not a number,
    /// not finite, or a time without its unit.
    pub fn parse_alike(self, text: &str) -> Option<Self> {
        match self {
            Self::Number(_) => text
                .parse()
                .ok()
                .filter(|number: &f64| number.is_finite())
                .map(Self::Number),
            Self::Count(_) => text.parse().ok().map(Self::Count),
            Self::Unlimited if text == UNLIMITED => Some(Self::Unlimited),
            // Counts fit 32 bits.
            Self::Unlimited => text.parse::<u32>().ok().map(u64::from).map(Self::Count),
            Self::Time(_) => text.parse().ok().map(Self::Time),
        }
    }

    /// Whether the value lies between two bounds of its kind, both included.
    pub fn is_within(self, minimum: Self, maximum: Self) -> bool {
        match (self, minimum, maximum) {
            (Self::Number(value), Self::Number(low), Self::Number(high)) => {
                (low..=high).contains(&value)
            }
            (Self::Count(value), Self::Count(low), Self::Count(high)) => {
                (low..=high).contains(&value)
            }
            (Self::Time(value), Self::Time(low), Self::Time(high)) => (low..=high).contains(&value),
            (Self::Count(value), Self::Count(low), Self::Unlimited) => value >= low,
            (Self::Unlimited, _, Self::Unlimited) => true,
            _ => false,
        }
    }

    /// Name of a value of this kind in an error.
    pub(crate) const fn noun(self) -> &'static str {
        match self {
            Self::Number(_) => "a number",
            Self::Count(_) => "a whole number",
            Self::Unlimited => "a whole number or \"unlimited\"",
            Self::Time(_) => "a duration with its unit",
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(value) => value.fmt(f),
            Self::Count(value) => value.fmt(f),
            Self::Unlimited => f.write_str(UNLIMITED),
            Self::Time(value) => value.fmt(f),
        }
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(value) => serializer.serialize_f64(*value),
            Self::Count(value) => serializer.serialize_u64(*value),
            Self::Unlimited => serializer.serialize_str(UNLIMITED),
            Self::Time(value) => serializer.collect_str(value),
        }
    }
}
