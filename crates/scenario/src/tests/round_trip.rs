//! Whatever is accepted can be written in full and read again to the same.

use proptest::prelude::*;

use super::{Path, Scenario, folder};

/// One key with a value, or nothing.
fn key(name: &'static str, values: &'static [&'static str]) -> impl Strategy<Value = String> {
    proptest::option::weighted(0.3, proptest::sample::select(values)).prop_map(move |value| {
        value.map_or_else(String::new, |value| format!("{name} = {value}\n"))
    })
}

/// Keys of `[tcp]` whose names are `wanted`, as the schema lists them.
fn tcp(wanted: fn(&str) -> bool) -> impl Strategy<Value = String> {
    let keys: Vec<_> = super::tcp_keys::keys()
        .into_iter()
        .filter(|(name, _)| wanted(name))
        .map(|(name, values)| {
            let lines: Vec<_> = values
                .iter()
                .map(|value| format!("{name} = {value}\n"))
                .collect();
            proptest::option::weighted(0.3, proptest::sample::select(lines))
        })
        .collect();
    keys.prop_map(|lines| format!("[tcp]\n{}", lines.into_iter().flatten().collect::<String>()))
}

fn table(
    name: &'static str,
    keys: &'static [(&'static str, &'static [&'static str])],
) -> impl Strategy<Value = String> {
    let keys: Vec<_> = keys
        .iter()
        .map(|(name, values)| key(name, values))
        .collect();
    keys.prop_map(move |keys| format!("[{name}]\n{}", keys.concat()))
}

const TIMES: &[&str] = &[
    "\"1 ms\"",
    "\"1.5 s\"",
    "\"333 us\"",
    "\"2 min\"",
    "\"1000003 ns\"",
];
const COUNTS: &[&str] = &["1", "2", "10", "977"];
const CHANCES: &[&str] = &["0", "1", "0.01", "1e-6", "\"2.5 %\"", "0.1"];
const BYTES: &[&str] = &["1", "1500", "\"64 KiB\"", "\"1.5 MB\"", "\"unlimited\""];

const LOSS: &[(&str, &[&str])] = &[
    (
        "model",
        &[
            "\"iid\"",
            "\"block\"",
            "\"gilbert-elliott\"",
            "\"bit-error\"",
        ],
    ),
    ("rate", CHANCES),
    ("lost", &["0", "5", "100"]),
    ("of", COUNTS),
    ("good_to_bad", CHANCES),
    ("bad_to_good", CHANCES),
    ("loss_in_good", CHANCES),
    ("loss_in_bad", CHANCES),
    ("direction", &["\"data\"", "\"acks\"", "\"both\""]),
];
const LINK: &[(&str, &[&str])] = &[
    (
        "rate",
        &["\"11 Mbit/s\"", "\"384 kbit/s\"", "\"unlimited\""],
    ),
    ("delay", TIMES),
    ("queue", &["{ packets = 5 }", "{ bytes = \"9 kB\" }", "{}"]),
    ("suspension", &["{ every = \"5 s\", length = \"300 ms\" }"]),
    (
        "trace",
        &[
            "{ down = \"lte.down\" }",
            "{ up = \"lte.up\", data = \"up\" }",
        ],
    ),
    (
        "rtt_log",
        &[
            "{ path = \"rtt.csv\" }",
            "{ path = \"rtt.csv\", order = \"reorder\" }",
        ],
    ),
    (
        "rtt_model",
        &[
            "{ mean = \"1 s\", variation = 0.7, autocorrelation = 0.4 }",
            "{ shape = \"spikes\", spike_height = 9.0, order = \"reorder\" }",
        ],
    ),
    ("reverse.rate", &["\"1 Mbit/s\"", "\"unlimited\""]),
    ("reverse.delay", TIMES),
    ("reverse.queue", &["{ packets = 7 }", "{ bytes = 9000 }"]),
    (
        "reverse.loss",
        &["{ rate = 0.5 }", "{ model = \"block\", lost = 2, of = 9 }"],
    ),
];
const FLOWS: &[(&str, &[&str])] = &[
    ("count", &["1", "2", "1000000"]),
    ("start_spread", &["\"0 s\"", "\"1 s\""]),
    ("bytes", BYTES),
    ("access_delay", &["[\"5 ms\"]", "[\"0 s\", \"7.25 ms\"]"]),
];
const TOP: &[(&str, &[&str])] = &[
    ("name", &["\"a name\"", "\"ünïcode \\\" quote\""]),
    ("description", &["\"text\"", "'''several\nlines'''"]),
    ("duration", &["\"1 min\"", "\"12.5 s\"", "\"720 h\""]),
    ("topology", &["\"pipe\"", "\"dumbbell\""]),
    (
        "remedies",
        &[
            "[]",
            "[\"sack+rto-factor\"]",
            "[\"min-rto:min=50 ms\", \"tahoe\"]",
        ],
    ),
];

fn scenario_text() -> impl Strategy<Value = String> {
    let top: Vec<_> = TOP.iter().map(|(name, values)| key(name, values)).collect();
    (
        top,
        table("link", LINK),
        table("link.loss", LOSS),
        table("flows", FLOWS),
        tcp(|_| true),
    )
        .prop_map(|(top, link, loss, flows, tcp)| {
            format!("{}{link}{loss}{flows}{tcp}", top.concat())
        })
}

/// The same, but with fewer keys that contradict each other, so that most are accepted.
fn likely_text() -> impl Strategy<Value = String> {
    let top: Vec<_> = TOP.iter().map(|(name, values)| key(name, values)).collect();
    let link = proptest::sample::select(&[
        "[link]\nrate = \"11 Mbit/s\"\nloss.rate = 0.1\n",
        "[link]\nreverse.loss = { rate = 0.5 }\nqueue.bytes = 9000\n",
        "[link]\nsuspension = { every = \"5 s\", length = \"300 ms\" }\nloss.direction = \"both\"\n",
        "[link]\ntrace = { down = \"lte.down\", up = \"lte.up\" }\n",
        "[link]\nrtt_log = { path = \"rtt.csv\" }\nreverse.loss = { model = \"block\", lost = 2 }\n",
        "[link.loss]\nmodel = \"gilbert-elliott\"\ngood_to_bad = 0.01\nbad_to_good = 0.3\n",
        "[link]\nstops = { working = \"1 s\", length = \"1 ms\" }\n",
        "[link]\nqueue = { packets = 5, bytes = 9000 }\n",
        "[link]\nstops = { process = \"recorded\", path = \"stops.csv\", packets = \"held\" }\n",
        "[link]\nstops = { process = \"periodic\", every = \"2 s\", length = \"1 s\" }\n",
        "[link.stops]\nworking = \"2 s\"\nlength = \"1 s\"\ndirection = \"acks\"\n",
        "[link]\nlost_packets.path = \"lost.csv\"\nreverse.lost_packets.path = \"lost.csv\"\n",
        "[link]\nlost_packets.path = \"lost.csv\"\nreverse.loss.rate = 0.1\n",
        "[link]\nrecorded.path = \"link.csv\"\ntrace.down = \"lte.down\"\n",
        "[link]\nrecorded.path = \"link.csv\"\n\
         reverse = { recorded.path = \"calm.csv\", loss.rate = 0.1 }\n",
        "[link]\nrecorded = { path = \"link.csv\", order = \"in-order\" }\n\
         repeat = { every = \"9 s\", start = \"random\" }\n",
        "[link]\nrecorded.path = \"calm.csv\"\nlost_packets.path = \"lost.csv\"\n",
        "[link]\nreverse.recorded.path = \"link.csv\"\nloss.rate = 0.1\n",
        "[link]\njitter = { mean = \"1 ms\" }\nlate = { share = 0.1, by = \"5 ms\" }\n",
        "[link]\njitter = { mean = \"1 ms\", shape = \"exponential\", order = \"reorder\" }\n",
        "[link]\naqm = {}\nreverse.aqm.discipline = \"drop-tail\"\n",
        "[link]\naqm = { discipline = \"codel\", target = \"7 ms\", ecn = true }\n",
        "[link]\naqm = { queues = 8, quantum = 300 }\n",
    ]);
    // Times that contradict each other are the commonest reason to refuse.
    let own = proptest::sample::select(&[
        "",
        "[[flows.tcp]]\n",
        "[[flows.tcp]]\nprofile = \"linux-bbr\"\n[[flows.tcp]]\nsack = false\n",
        "[[flows.tcp]]\nsack = true\ndsack = true\n",
    ]);
    (top, link, own, tcp(|name| !name.contains("rto")))
        .prop_map(|(top, link, own, tcp)| format!("{}{link}{own}{tcp}", top.concat()))
}

fn check(text: &str, folder: &Path) -> Result<bool, TestCaseError> {
    let Ok(first) = Scenario::parse(text, "x.toml", folder) else {
        return Ok(false);
    };
    let written = first.to_toml();
    let again = Scenario::parse(&written, "another.toml", folder)
        .map_err(|error| TestCaseError::fail(format!("{error}\n{text}\nwritten:\n{written}")))?;
    prop_assert_eq!(&again.to_toml(), &written);
    prop_assert_eq!(again.hash(), first.hash());
    prop_assert_eq!(again.document, first.document);
    prop_assert_eq!(again.tcp, first.tcp);
    prop_assert_eq!(again.flow_tcp, first.flow_tcp);
    prop_assert_eq!(again.flows, first.flows);
    prop_assert_eq!(again.remedies, first.remedies);
    prop_assert_eq!(format!("{:?}", again.link), format!("{:?}", first.link));
    prop_assert_eq!(format!("{:?}", again.wired), format!("{:?}", first.wired));
    Ok(true)
}

#[test]
fn what_is_written_reads_again_to_the_same() {
    let folder = folder();
    let accepted = std::cell::Cell::new(0);
    proptest!(|(text in prop_oneof![scenario_text(), likely_text()])| {
        accepted.set(accepted.get() + u32::from(check(&text, folder.path())?));
    });
    assert!(
        accepted.get() >= 50,
        "only {} of 256 were accepted",
        accepted.get()
    );
}

#[test]
fn the_defaults_in_full() {
    let text = super::parsed("").to_toml();
    insta::assert_snapshot!(text);
}

proptest! {
    #[test]
    fn no_text_panics(text in "[ -~\n]{0,200}") {
        let _ = Scenario::parse(&text, "x.toml", Path::new(""));
    }

    #[test]
    fn no_setting_panics(key in "[a-z._]{0,30}", value in ".{0,30}") {
        let _ = Scenario::with_settings("", "x.toml", Path::new(""), &[(key, value)]);
    }
}

/// The same for every kind of medium, with the scenarios whose runs are pinned: defaults must be
/// consistent with each other.
#[test]
fn what_is_filled_in_reads_again_to_the_same() {
    let pinned: serde_json::Value =
        serde_json::from_str(include_str!("../../../../tests/digests.json")).unwrap();
    let texts = pinned.as_array().unwrap().iter();
    let mut topologies = std::collections::BTreeSet::new();
    for text in texts.map(|run| run["scenario"].as_str().unwrap()) {
        let first = Scenario::parse(text, "x.toml", Path::new("")).unwrap();
        let written = first.to_toml();
        let again = Scenario::parse(&written, "x.toml", Path::new(""))
            .unwrap_or_else(|error| panic!("{error}\n{written}"));
        assert_eq!(again.hash(), first.hash(), "{text}");
        assert_eq!(again.to_toml(), written, "{text}");
        topologies.insert(first.topology.name());
    }
    assert_eq!(topologies.len(), 8, "{topologies:?}");
}
