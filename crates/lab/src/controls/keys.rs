//! Keys of documents and of the schema, tables unfolded.

use serde_json::{Map, Value};

/// Every key of a document, except tables, with its value.
pub(super) fn values(document: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    add_values(document, "", &mut found);
    found
}

fn add_values(table: &Value, path: &str, found: &mut Vec<(String, Value)>) {
    for (name, value) in table.as_object().into_iter().flatten() {
        match value {
            Value::Object(_) => add_values(value, &format!("{path}{name}."), found),
            Value::Null => {}
            value => found.push((format!("{path}{name}"), value.clone())),
        }
    }
}

/// Every key of the schema, except tables, with its schema.
pub(super) fn leaves(schema: &Value) -> Map<String, Value> {
    let mut found = Map::new();
    add_leaves(schema, "", &mut found);
    found
}

fn add_leaves(node: &Value, path: &str, found: &mut Map<String, Value>) {
    for (name, child) in node["properties"].as_object().into_iter().flatten() {
        let alternatives = alternatives(child);
        let table = alternatives
            .iter()
            .find(|one| one["properties"].is_object());
        if let Some(table) = table {
            add_leaves(table, &format!("{path}{name}."), found);
        } else {
            found.insert(format!("{path}{name}"), child.clone());
        }
    }
}

/// A node of the schema and its alternatives, depth first.
pub(super) fn alternatives(node: &Value) -> Vec<&Value> {
    let mut found = vec![node];
    for word in ["anyOf", "oneOf"] {
        for child in node[word].as_array().into_iter().flatten() {
            found.extend(alternatives(child));
        }
    }
    found
}
