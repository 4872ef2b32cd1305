//! The parameters of a remedy, and the values given for them.

use std::num::NonZeroU32;

use airtcp_link::frame::RetryLimit;
use airtcp_units::Duration;
use serde::Serialize;

use crate::Quantity;

/// A number that a remedy takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// The name, as in `rto-factor:factor=10`.
    pub name: &'static str,
    /// The unit, or empty for a bare number. A time includes its unit: `200 ms`.
    pub unit: &'static str,
    /// The default value.
    pub default: Quantity,
    /// The least legal value.
    pub minimum: Quantity,
    /// The greatest legal value.
    pub maximum: Quantity,
    /// Its effect, in a line.
    pub effect: &'static str,
}

/// The values given for one remedy, one for each of its parameters and within its bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
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
