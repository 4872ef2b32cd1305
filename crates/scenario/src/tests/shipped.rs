//! Data that comes with the reader: ready scenarios, the schema, the list of keys.

use std::path::Path;

use super::super::{Scenario, schema};

#[path = "../../../../tests/documentation.rs"]
mod documentation;

#[test]
fn the_scenarios_that_are_shipped_are_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            let scenario = Scenario::load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
            assert!(!scenario.description.is_empty(), "{path:?}");
            assert_eq!(
                Some(scenario.name.as_str()),
                path.file_stem().unwrap().to_str()
            );
            names.push(scenario.name);
        }
    }
    names.sort();
    assert_eq!(
        names,
        [
            "arq-download",
            "cell",
            "cellular",
            "crowded-cell",
            "dumbbell",
            "far-laptop",
            "geo-satellite",
            "household",
            "laptop-download",
            "laptop-upload",
            "lossy-pipe",
            "lte",
            "lte-iot",
            "lte-train",
            "lte-upload",
            "nr",
            "nr-router",
            "ping",
            "satellite-upload",
            "selective-repeat",
            "slow-station",
            "starlink",
            "two-wlans",
            "wifi-suspension",
            "wlan-bursts",
            "wlan-clients",
            "wlan-upload"
        ]
    );
}

/// The shipped traces come from the formula in `scenarios/traces/README.md`.
#[test]
fn the_traces_that_are_shipped_are_the_formula() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/traces");
    let down = |t: u64| {
        if (7000..7400).contains(&t) {
            0
        } else {
            (t % 4000).abs_diff(2000) * 2 + 500
        }
    };
    for (name, rate) in [
        ("synthetic.down", down as fn(u64) -> u64),
        ("synthetic.up", |_| 1000),
    ] {
        let (mut bits, mut expected) = (0, String::new());
        for t in 1..=10_000 {
            // kbit/s are bits a millisecond.
            bits += rate(t);
            while bits >= 12_000 {
                bits -= 12_000;
                expected += &format!("{t}\n");
            }
        }
        let path = folder.join(name);
        if std::env::var_os("AIRTCP_WRITE_DOCS").is_some() {
            std::fs::write(&path, &expected).unwrap();
        }
        assert!(
            std::fs::read_to_string(&path).unwrap() == expected,
            "{name}"
        );
    }
}

#[test]
fn the_schema_knows_types_ranges_and_defaults() {
    let schema = schema();
    let tcp = &schema["properties"]["tcp"]["properties"];
    assert_eq!(tcp["mss"]["minimum"], 1);
    assert_eq!(tcp["mss"]["maximum"], 65_495);
    assert_eq!(tcp["mss"]["default"], 1448);
    assert_eq!(tcp["min_rto"]["default"], "200 ms");
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["properties"]["duration"]["default"], "1 min");
    assert!(schema["properties"]["name"].get("default").is_none());
}

#[test]
fn documentation_lists_every_key() {
    let mut table = "| key | value | default | meaning |\n|---|---|---|---|\n".to_owned();
    add_keys(&mut table, "", &schema());
    documentation::check("docs/reference/scenarios.md", "keys", &table);
}

/// Adds a line for each key, nested ones after their table.
fn add_keys(table: &mut String, path: &str, schema: &serde_json::Value) {
    use serde_json::Value;
    for (name, property) in schema["properties"].as_object().unwrap() {
        let key = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}.{name}")
        };
        let alternatives = property["anyOf"].as_array();
        let inner = alternatives
            .and_then(|all| all.iter().find(|one| one.get("properties").is_some()))
            .unwrap_or(property);
        let meaning = property["description"]
            .as_str()
            .unwrap_or_default()
            .replace('\n', " ");
        if inner.get("properties").is_some() {
            *table += &format!("| **`[{key}]`** | | | {meaning} |\n");
            add_keys(table, &key, inner);
            continue;
        }
        let default = match property.get("default") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) if text.is_empty() => String::new(),
            Some(value) => format!("`{value}`"),
        };
        *table += &format!(
            "| `{key}` | {} | {default} | {meaning} |\n",
            values_of(property)
        );
    }
}

/// Values that a key takes, in words.
fn values_of(property: &serde_json::Value) -> String {
    use serde_json::Value;
    if let Some(range) = property["x-range"].as_str() {
        return range.to_owned();
    }
    if let Some(constant) = property.get("const") {
        return format!("`{constant}`");
    }
    if let Some(names) = property["enum"].as_array() {
        let names = names
            .iter()
            .filter(|one| !one.is_null())
            .map(|one| format!("`{one}`"));
        return names.collect::<Vec<_>>().join(", ");
    }
    if let Some(all) = property["oneOf"]
        .as_array()
        .or(property["anyOf"].as_array())
    {
        let all = all
            .iter()
            .filter(|one| one["type"] != "null")
            .map(values_of);
        return all.collect::<Vec<_>>().join(", ");
    }
    let kind = match &property["type"] {
        Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").unwrap(),
        kind => kind,
    };
    let bound = |name: &str| property[name].as_f64().map(|bound| bound.to_string());
    match (kind.as_str(), bound("minimum"), bound("maximum")) {
        (Some("integer" | "number"), Some(low), Some(high)) => format!("{low} to {high}"),
        (Some("boolean"), ..) => "`true`, `false`".to_owned(),
        (Some("object"), ..) => "`{ bpf = … }`".to_owned(),
        (Some("array"), ..) if property["items"].get("properties").is_some() => {
            "list of tables".to_owned()
        }
        (Some("array"), ..) => format!("list of {}", values_of(&property["items"])),
        _ if property["pattern"]
            .as_str()
            .is_some_and(|text| text.contains('%')) =>
        {
            "percentage".to_owned()
        }
        _ => "text".to_owned(),
    }
}
