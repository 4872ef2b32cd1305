//! The forms of tables of keys: JSON in memory, TOML in a file.
//!
//! JSON values are the only form that a table of keys is read from and written to; TOML is
//! converted. So each derived reader and writer is compiled for one format: TOML's library
//! has several of each, for values, documents, lists of tables and dates.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value as Json};
use toml::{Table, Value};

use crate::error::Problem;

/// Reads a table of keys from TOML.
///
/// # Errors
/// An unknown key, and a value of another type or out of its range, by its path.
pub(crate) fn read<T: DeserializeOwned>(given: &Table) -> Result<T, Problem> {
    from_json(json_table(given)).map_err(|error| Problem::of_type(&error, given))
}

/// Reads a table of keys from JSON.
///
/// # Errors
/// As [`read`].
pub(crate) fn from_json<T: DeserializeOwned>(
    given: Json,
) -> Result<T, serde_path_to_error::Error<serde_json::Error>> {
    serde_path_to_error::deserialize(given)
}

/// The keys with a value, in the order of their declaration.
pub(crate) fn to_json(table: &impl Serialize) -> Map<String, Json> {
    // A table of keys holds text, numbers, booleans, lists and tables.
    match serde_json::to_value(table) {
        Ok(Json::Object(keys)) => keys,
        _ => Map::new(),
    }
}

/// The same as TOML.
pub(crate) fn to_toml(table: &impl Serialize) -> String {
    // No key is null: each is left out where it has no value.
    toml::to_string(&to_json(table)).expect("a table of keys has a TOML form")
}

fn json_table(table: &Table) -> Json {
    let converted = table.iter().map(|(key, value)| (key.clone(), json(value)));
    Json::Object(converted.collect())
}

fn json(value: &Value) -> Json {
    match value {
        Value::String(text) => Json::String(text.clone()),
        Value::Integer(number) => Json::from(*number),
        Value::Boolean(truth) => Json::Bool(*truth),
        Value::Array(list) => list.iter().map(json).collect(),
        Value::Table(table) => json_table(table),
        // JSON has neither dates nor infinities; a key that takes no text refuses their text.
        Value::Datetime(date) => Json::String(date.to_string()),
        Value::Float(number) => {
            Number::from_f64(*number).map_or_else(|| Json::String(number.to_string()), Json::Number)
        }
    }
}
