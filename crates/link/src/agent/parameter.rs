//! Errors of parameters that an agent cannot work with.

use airtcp_units::Duration;

/// A parameter of an agent is out of its range. Its text names the key, the value, the expected
/// range and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value}: expected {expected}; {remedy}")]
pub struct ParameterError {
    /// The parameter's field name.
    pub key: &'static str,
    /// The value given.
    pub value: String,
    /// The expectation.
    pub expected: &'static str,
    /// A hint for the user.
    pub remedy: &'static str,
}

/// Refuses `value` unless it lies between `least` and `most`, both included.
pub(super) fn check_duration(
    key: &'static str,
    value: Duration,
    (least, most): (Duration, Duration),
    expected: &'static str,
    remedy: &'static str,
) -> Result<(), ParameterError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(ParameterError {
        key,
        value: value.to_string(),
        expected,
        remedy,
    })
}

/// Refuses `value` when `fits` is false.
pub(super) fn check_number(
    key: &'static str,
    value: f64,
    fits: bool,
    expected: &'static str,
    remedy: &'static str,
) -> Result<(), ParameterError> {
    if fits {
        return Ok(());
    }
    Err(ParameterError {
        key,
        value: value.to_string(),
        expected,
        remedy,
    })
}
