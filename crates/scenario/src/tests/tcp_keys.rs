//! The keys of `[tcp]` with values to try, as listed in the JSON Schema, so that every declared key
//! is tested.

use serde_json::Value;

use super::super::schema;
use super::{Path, Scenario, parsed};

/// Every key below `tcp.`, with some values that it takes, as TOML.
pub(super) fn keys() -> Vec<(String, Vec<String>)> {
    let mut keys = Vec::new();
    add_keys(&mut keys, "", &schema()["properties"]["tcp"]);
    keys
}

fn add_keys(keys: &mut Vec<(String, Vec<String>)>, path: &str, table: &Value) {
    for (name, property) in table["properties"].as_object().unwrap() {
        if property["properties"].is_object() {
            add_keys(keys, &format!("{path}{name}."), property);
            continue;
        }
        let mut values = values(property);
        values.extend(property.get("default").map(Value::to_string));
        keys.push((format!("{path}{name}"), values));
    }
}

fn values(property: &Value) -> Vec<String> {
    if let Some(range) = property["x-range"].as_str() {
        let (low, high) = range.split_once(" to ").unwrap();
        return vec![format!("{low:?}"), format!("{high:?}")];
    }
    if let Some(constant) = property.get("const") {
        return vec![constant.to_string()];
    }
    for list in ["oneOf", "anyOf", "enum"] {
        if let Some(all) = property[list].as_array() {
            return all.iter().flat_map(values).collect();
        }
    }
    match property["type"].as_str().or(property["type"][0].as_str()) {
        Some("boolean") => vec!["true".to_owned(), "false".to_owned()],
        Some("integer" | "number") => {
            let low = &property["minimum"];
            let more = low.as_u64().zip(property["maximum"].as_u64());
            let more = more.map(|(low, high)| (low + 976).min(high).to_string());
            [low.to_string()].into_iter().chain(more).collect()
        }
        // A table that names a file.
        Some("null" | "object") => Vec::new(),
        _ => panic!("no values of {property}"),
    }
}

/// The value of a dotted key in a scenario written in full.
fn at<'a>(table: &'a toml::Table, key: &str) -> Option<&'a toml::Value> {
    match key.split_once('.') {
        Some((step, rest)) => at(table.get(step)?.as_table()?, rest),
        None => table.get(key),
    }
}

/// Every key survives a round trip and changes the endpoint's behaviour: each separately, except
/// for keys that require another.
#[test]
fn every_key_reaches_the_endpoint() {
    for (key, values) in keys() {
        let tried: Vec<_> = values
            .iter()
            .map(|value| {
                let needed = match key.as_str() {
                    "dsack" => "sack = true\n",
                    "initial_rto" | "min_rto" => "max_rto = \"24 h\"\n",
                    "max_rto" => "min_rto = \"1 us\"\n",
                    "mss" => "timestamps = false\n",
                    _ => "",
                };
                let text = format!("[tcp]\n{needed}{key} = {value}\n");
                let scenario = Scenario::parse(&text, "x.toml", Path::new(""))
                    .unwrap_or_else(|error| panic!("{error}"));
                let written: toml::Table = scenario.to_toml().parse().unwrap();
                let given: toml::Table = text.parse().unwrap();
                let key = format!("tcp.{key}");
                let of = |table| {
                    at(table, &key).unwrap_or_else(|| panic!("no {key} in\n{table}\nof\n{text}"))
                };
                let (written, given) = (of(&written), of(&given));
                match (written.as_float(), given.as_integer()) {
                    (Some(number), Some(whole)) => assert_eq!(number, whole as f64, "{key}"),
                    _ => assert_eq!(written, given, "{key}"),
                }
                format!("{:?}", scenario.tcp)
            })
            .collect();
        let differ = tried.iter().any(|tcp| *tcp != tried[0]);
        assert!(
            differ,
            "tcp.{key}: all of {} give the same",
            values.join(", ")
        );
    }
}

/// Every difference between two profiles can be expressed by keys.
#[test]
fn the_keys_say_all_that_a_profile_chooses() {
    for profile in airtcp_tcp::Profile::ALL {
        let written = parsed(&format!("tcp.profile = {:?}", profile.name())).to_toml();
        let mut table: toml::Table = written.parse().unwrap();
        let tcp = table["tcp"].as_table_mut().unwrap();
        tcp.remove("profile");
        let plain = parsed(&toml::to_string(&table).unwrap());
        assert_eq!(plain.tcp, profile.config(), "{}", profile.name());
    }
}
