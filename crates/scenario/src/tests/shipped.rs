//! Data that comes with the reader: ready scenarios, the schema.

use std::path::Path;

use super::super::{Scenario, schema};

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
            "wlan-chain",
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
