//! The JSON Schema of a scenario, from the types that read it, with the defaults that fill it.

use std::path::Path;

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::Scenario;
use super::document::Document;

/// The JSON Schema (2020-12) of a scenario file. Editors complete and check keys with it.
pub fn schema() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<Document>()
        .to_value();
    for text in EXAMPLES {
        let defaults = Scenario::parse(text, "scenario", Path::new(""))
            .ok()
            .map(|scenario| scenario.to_json());
        if let Some(defaults) = defaults {
            add_defaults(&mut schema, &defaults);
        }
    }
    schema
}

/// The keys that name files, dotted.
pub fn file_keys() -> Vec<String> {
    Document::file_keys()
}

/// Scenarios that together contain every table; they supply the default of each key. The first
/// scenario with a key decides.
const EXAMPLES: [&str; 12] = [
    "",
    "topology = 'wlan'\n[wlan.radio]\n[traffic]\n[wired.round_trip]",
    "topology = 'wlan'\n[wlan.radio]\nfading = 'jakes'\n[wired]\n[traffic]\napplication = 'mix'",
    "topology = 'wlan'\n[wired.round_trip]\nshape = 'normal'",
    "topology = 'arq'",
    "topology = 'selective-repeat'",
    "topology = 'cell'",
    "topology = 'cell'\n[cell]\nrates = 'shannon'\n[cell.radio]\nfading = 'jakes'",
    "topology = 'cell'\n[cell]\nstandard = 'lte'\nduplex = 'tdd'\n[cell.drx]\nshort_cycle = '40 ms'",
    "topology = 'cell'\n[cell]\nstandard = 'lte'\n[cell.aqm]\n[cell.handover]\nevery = '10 s'",
    "topology = 'cell'\n[cell]\nstandard = 'nr'\nsaturated_users = 1\nsessions.on = '5 s'",
    "topology = 'cell'\n[cell]\nstandard = 'lte'\n[cell.radio]\nfading = 'jakes'",
];

/// Writes each key's default next to its type. Only leaf keys get one: a table's default is that of
/// its keys.
fn add_defaults(schema: &mut Value, defaults: &Value) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return;
    };
    for (key, property) in properties {
        match defaults.get(key) {
            // The way back is like the way there, and the name comes from the file: no defaults.
            Some(_) if key == "reverse" || key == "name" => {}
            Some(table @ Value::Object(_)) => add_defaults(table_of(property), table),
            Some(value) => {
                if let Some(property) = property.as_object_mut() {
                    property.entry("default").or_insert_with(|| value.clone());
                }
            }
            None => {}
        }
    }
}

/// The table among the alternatives of an optional table.
fn table_of(property: &mut Value) -> &mut Value {
    let is_table = |one: &Value| one.get("properties").is_some();
    let place = property
        .get("anyOf")
        .and_then(Value::as_array)
        .and_then(|alternatives| alternatives.iter().position(is_table));
    match place {
        Some(place) => &mut property["anyOf"][place],
        None => property,
    }
}
