//! The lists of keys in the reference: a page by kind of table, each key of the schema once.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::schema;

#[path = "../../../../tests/documentation.rs"]
mod documentation;

/// The pages, with the tables that each lists; "" are the keys outside tables.
const PAGES: [(&str, &[&str]); 4] = [
    ("scenario", &["", "flows", "traffic"]),
    ("link", &["link", "wired"]),
    ("wireless", &["wlan", "arq", "selective_repeat", "cell"]),
    ("tcp", &["tcp"]),
];

const HEAD: &str = "| key | value | default | meaning |\n|---|---|---|---|\n";

/// A table of a scenario.
struct Table {
    /// As in a scenario's file: `link.queue`; empty for keys outside tables.
    path: String,
    meaning: String,
    /// Its keys without the path, and the rest of their rows.
    keys: Vec<(String, String)>,
    /// Number of tables within it, which come after it.
    below: usize,
}

impl Table {
    /// Name of the table without those around it.
    fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default()
    }
}

#[test]
fn the_pages_list_every_key() {
    let schema = schema();
    let mut tables = Vec::new();
    add_tables(&mut tables, "", "", &schema);
    let shared = shared(&tables);
    let listed: Vec<&str> = PAGES
        .iter()
        .flat_map(|(_, tops)| tops.iter().copied())
        .collect();
    for table in &tables {
        let top = table.path.split('.').next().unwrap();
        assert!(listed.contains(&top), "no page has [{top}]");
    }
    for (page, tops) in PAGES {
        let mut text = String::new();
        for top in tops {
            add_page(&mut text, &tables, &shared, top);
        }
        let document = format!("docs/reference/keys-{page}.md");
        documentation::check(&document, &format!("keys-{page}"), &text);
    }
    let mut text = String::new();
    for (name, places) in &shared {
        let of: Vec<String> = places
            .iter()
            .map(|place| format!("`[{}]`", tables[*place].path))
            .collect();
        text += &format!("### {name}\n\nKeys of {}.\n\n{HEAD}", of.join(", "));
        for (key, row) in &tables[places[0]].keys {
            text += &format!("| `{key}` {row}\n");
        }
        text += "\n";
    }
    documentation::check("docs/reference/keys-shared.md", "keys-shared", &text);
}

/// Adds the tables below one, in the order of the schema.
fn add_tables(tables: &mut Vec<Table>, path: &str, meaning: &str, schema: &Value) {
    let place = tables.len();
    tables.push(Table {
        path: path.to_owned(),
        meaning: meaning.to_owned(),
        keys: Vec::new(),
        below: 0,
    });
    for (name, property) in schema["properties"].as_object().unwrap() {
        let inner = property["anyOf"]
            .as_array()
            .and_then(|all| all.iter().find(|one| one.get("properties").is_some()))
            .unwrap_or(property);
        let meaning = property["description"]
            .as_str()
            .unwrap_or_default()
            .replace('\n', " ");
        if inner.get("properties").is_some() {
            let path = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}.{name}")
            };
            add_tables(tables, &path, &meaning, inner);
            continue;
        }
        let default = match property.get("default") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) if text.is_empty() => String::new(),
            Some(value) => format!("`{value}`"),
        };
        let row = format!("| {} | {default} | {meaning} |", values_of(property));
        tables[place].keys.push((name.clone(), row));
    }
    tables[place].below = tables.len() - place - 1;
}

/// Tables of one name with the same keys in several places: they are described once.
fn shared(tables: &[Table]) -> BTreeMap<String, Vec<usize>> {
    let mut found: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, table) in tables.iter().enumerate() {
        if table.below == 0 && table.keys.len() > 1 {
            let places = found.entry(table.name().to_owned()).or_default();
            if places.is_empty() || have_same_keys(&tables[places[0]], table) {
                places.push(place);
            }
        }
    }
    found.retain(|_, places| places.len() > 1);
    found
}

/// Whether two tables have the same keys, though perhaps with other defaults or sentences.
fn have_same_keys(one: &Table, other: &Table) -> bool {
    let names =
        |table: &Table| -> Vec<String> { table.keys.iter().map(|(key, _)| key.clone()).collect() };
    names(one) == names(other)
}

/// Adds a table and those within it.
fn add_page(text: &mut String, tables: &[Table], shared: &BTreeMap<String, Vec<usize>>, top: &str) {
    let first = tables.iter().position(|table| table.path == top).unwrap();
    // The keys outside tables have all tables within.
    let last = if top.is_empty() {
        first
    } else {
        first + tables[first].below
    };
    for (place, table) in tables.iter().enumerate().take(last + 1).skip(first) {
        let name = table.name();
        if top.is_empty() {
            *text += "### Keys outside tables\n\n";
        } else {
            *text += &format!("### `[{}]`\n\n{}\n\n", table.path, table.meaning);
        }
        let places = shared.get(name).filter(|places| places.contains(&place));
        let general: &[(String, String)] = places.map_or(&[], |places| &tables[places[0]].keys);
        let listed: Vec<_> = (table.keys.iter())
            .filter(|row| !general.contains(row))
            .collect();
        if places.is_some() {
            let end = if listed.is_empty() { "." } else { ", except:" };
            *text += &format!("Keys: as in [{name}](keys-shared.md#{name}){end}\n\n");
        }
        if listed.is_empty() {
            continue;
        }
        *text += HEAD;
        for (key, row) in listed {
            let path = if table.path.is_empty() {
                key.clone()
            } else {
                format!("{}.{key}", table.path)
            };
            *text += &format!("| `{path}` {row}\n");
        }
        *text += "\n";
    }
}

/// Values that a key takes, in words.
fn values_of(property: &serde_json::Value) -> String {
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
