//! Tables with alternatives: each takes its keys, and refuses the keys of the others.

use std::path::Path;

use toml::Table;

use super::Scenario;

/// A scenario, a table of it, the key that selects an alternative, and the names that it takes.
type Selector = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

const SELECTORS: &[Selector] = &[
    ("", "link.aqm", "discipline", DISCIPLINES),
    ("topology = 'wlan'", "wired.aqm", "discipline", DISCIPLINES),
    (LTE, "cell.aqm", "discipline", DISCIPLINES),
    ("", "link.loss", "model", &["iid", "bit-error"]),
    ("", "link.rtt_model", "shape", &["log-normal", "spikes"]),
    (
        "topology = 'wlan'",
        "wired.round_trip",
        "shape",
        &["uniform", "normal", "exponential"],
    ),
    (
        "",
        "traffic",
        "application",
        &["bulk", "ftp", "http", "email", "mix"],
    ),
    (
        "topology = 'wlan'",
        "wlan",
        "standard",
        &["802.11b", "802.11g", "802.11n", "802.11ac", "802.11ax"],
    ),
    (
        "topology = 'wlan'\nwlan.standard = '802.11ax'",
        "wlan",
        "scheduler",
        &["fifo", "qdisc", "round-robin", "airtime"],
    ),
    (
        "topology = 'wlan'",
        "wlan.radio",
        "fading",
        &["none", "independent", "jakes"],
    ),
    (
        "topology = 'cell'",
        "cell",
        "standard",
        &["1xev-do", "lte", "nr"],
    ),
    ("topology = 'cell'", "cell", "rates", &["evdo", "shannon"]),
    (
        "topology = 'cell'",
        "cell",
        "scheduler",
        &["proportional-fair", "round-robin", "max-rate"],
    ),
    (LTE, "cell", "duplex", &["fdd", "tdd"]),
    (LTE, "cell.rlc", "mode", &["am", "um"]),
];
const DISCIPLINES: &[&str] = &[
    "fq-codel",
    "codel",
    "pie",
    "dualpi2",
    "cake",
    "abc",
    "drop-tail",
];
const LTE: &str = "topology = 'cell'\ncell.standard = 'lte'";

fn read(text: &str, settings: &[(String, String)]) -> Result<Scenario, String> {
    Scenario::with_settings(text, "x.toml", Path::new(""), settings)
        .map_err(|error| error.to_string())
}

/// The table at `path`, with its defaults.
fn completed(scenario: &Scenario, path: &str) -> Table {
    let mut table: Table = scenario.to_toml().parse().unwrap();
    for step in path.split('.') {
        let inner = table.remove(step).unwrap();
        table = inner.try_into().unwrap();
    }
    table
}

#[test]
fn a_key_of_another_alternative_is_refused() {
    let mut refused = 0;
    for &(text, path, selector, names) in SELECTORS {
        let select = |name: &str| (format!("{path}.{selector}"), name.to_owned());
        let tables: Vec<(&str, Table)> = names
            .iter()
            .map(|name| {
                let scenario = read(text, &[select(name)]).unwrap();
                (*name, completed(&scenario, path))
            })
            .collect();
        for (name, own) in &tables {
            for (key, value) in tables.iter().flat_map(|(_, other)| other) {
                if own.contains_key(key) {
                    continue;
                }
                let settings = [select(name), (format!("{path}.{key}"), value.to_string())];
                let error = read(text, &settings).err().unwrap_or_default();
                let expected = format!("x.toml\": {path}.{key}");
                assert!(
                    error.contains(&expected) && error.contains("belongs to"),
                    "{settings:?}: {error}"
                );
                refused += 1;
            }
        }
    }
    assert!(refused > 300, "{refused}");
}
