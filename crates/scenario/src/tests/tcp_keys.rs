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

/// HyStart is CUBIC's in Linux (`tcp_cubic.c`), and a control that needs marks asks for them: a key
/// is the remedy of that name.
#[test]
fn a_control_by_its_key_is_the_remedy_of_that_name() {
    let text = |control: &str| format!("tcp.congestion_control = {control:?}");
    for profile in ["linux", "linux-reno", "linux-bbr", "linux-6.1"] {
        let profile = format!("tcp.profile = {profile:?}");
        for control in [
            "westwood",
            "veno",
            "vegas",
            "illinois",
            "hybla",
            "htcp",
            "yeah",
            "cdg",
            "dctcp",
            "jersey",
            "ledbat",
            "prague",
            "copa",
            "vivace",
            "proteus-p",
            "proteus-s",
            "verus",
            "bbr",
            "bbr-v3",
            "abc",
            "sprout",
        ] {
            let by_key = parsed(&format!("{profile}\n{}", text(control))).tcp;
            let mut by_remedy = parsed(&profile).with_remedies(control).unwrap().tcp;
            if by_key.congestion.is_model() {
                // A model has no slow start of the window's.
                by_remedy.slow_start = by_key.slow_start;
            }
            assert_eq!(by_key, by_remedy, "{profile} {control}");
        }
    }
}

/// CUBIC's slow start is the profile's HyStart, whichever control the profile has; a profile of the
/// RFCs has none; the key decides where it is given, and a flow's table inherits no other's.
#[test]
fn slow_start_follows_the_control_unless_it_is_given() {
    use airtcp_tcp::config::SlowStart;
    let start = |text: &str| parsed(text).tcp_of(1).slow_start;
    for (profile, control, expected) in [
        ("linux", "cubic", SlowStart::HyStart),
        ("linux", "c2tcp", SlowStart::HyStart),
        ("linux-reno", "cubic", SlowStart::HyStart),
        ("linux-5.10", "cubic", SlowStart::HyStart510),
        ("linux-5.10", "reno", SlowStart::Standard),
        ("newreno", "cubic", SlowStart::Standard),
        ("linux-2.4", "veno", SlowStart::Standard),
    ] {
        let text = format!("tcp.profile = {profile:?}\ntcp.congestion_control = {control:?}");
        assert_eq!(start(&text), expected, "{text}");
    }
    let given = "tcp.congestion_control = \"veno\"\ntcp.slow_start = \"hystart\"";
    assert_eq!(start(given), SlowStart::HyStart);
    let own = "flows.count = 2\nflows.tcp = [{}, { congestion_control = \"veno\" }]";
    assert_eq!(start(own), SlowStart::Standard);
    let other = "flows.count = 2\nflows.tcp = [{ congestion_control = \"veno\" }, {}]";
    assert_eq!(start(other), SlowStart::HyStart);
}
