//! Keys of earlier versions.

use super::*;

/// Up to version 0.2: the same scenario, with a warning, also where a setting has the earlier key.
#[test]
fn a_suspension_is_read_as_regular_stops() {
    const TEXT: &str = "link.suspension = { every = \"5 s\", length = \"300 ms\" }";
    let stops = |every: &str, length: &str| {
        format!("link.stops = {{ every = {every:?}, length = {length:?} }}")
    };
    let today = parsed(&stops("5 s", "300 ms"));
    let earlier = parsed(TEXT);
    assert_eq!(earlier.to_toml(), today.to_toml());
    let [warning] = &earlier.warnings()[..] else {
        panic!("{:?}", earlier.warnings());
    };
    assert!(
        warning.starts_with("link.suspension: is link.stops"),
        "{warning}"
    );
    assert!(today.warnings().is_empty());
    let set = |text: &str, key: &str, value: &str| {
        let settings = [(key.to_owned(), value.to_owned())];
        Scenario::with_settings(text, "test.toml", Path::new(""), &settings).unwrap()
    };
    let wanted = parsed(&stops("5 s", "1 s")).to_toml();
    for text in [TEXT, &stops("5 s", "300 ms")] {
        let set = set(text, "link.suspension.length", "1 s");
        assert_eq!(set.to_toml(), wanted);
        assert_eq!(set.warnings().len(), 1);
    }
    let set = set(
        "",
        "link.suspension",
        "{ every = \"5 s\", length = \"1 s\" }",
    );
    assert_eq!(set.to_toml(), wanted);
    let with_remedy = earlier.with_remedies("sack").unwrap();
    assert_eq!(with_remedy.warnings(), earlier.warnings());
}

#[test]
fn probes_are_read_under_their_earlier_key() {
    let today = parsed("flows.under_load = [\"ping\"]");
    let earlier = parsed("flows.beside = [\"ping\"]");
    assert_eq!(earlier.to_toml(), today.to_toml());
    let both = "flows.beside = [\"ping\"]\nflows.under_load = [\"ping\"]\n\
                link.suspension = { every = \"5 s\", length = \"300 ms\" }";
    let both = Scenario::parse(both, "t", Path::new(""))
        .unwrap_err()
        .to_string();
    assert!(both.contains("flows.beside"), "{both}");
    let set = |key: &str, value: &str| {
        let settings = [(key.to_owned(), value.to_owned())];
        Scenario::with_settings("", "test.toml", Path::new(""), &settings)
    };
    let [warning] = &set("flows.beside", "[\"ping\"]").unwrap().warnings()[..] else {
        panic!();
    };
    assert!(warning.starts_with("flows.beside: is flows.under_load now"));
    let wrong = set("flows.beside", "pong").unwrap_err().to_string();
    assert!(wrong.contains("flows.under_load"), "{wrong}");
}

/// Choices in which stacks differ were keys of `[tcp]` itself.
#[test]
fn quirks_of_stacks_are_read_in_their_earlier_place() {
    let today = "flows.tcp = [{ quirks = { push = \"trains\" } }]\n\
                 [tcp.quirks]\nshort_trains = \"deferred\"\nreneging = \"at-timeout\"\n";
    let earlier = "flows.tcp = [{ push = \"trains\" }]\n\
                   [tcp]\nshort_trains = \"deferred\"\nquirks.reneging = \"at-timeout\"\n";
    let (today, earlier) = (parsed(today), parsed(earlier));
    assert_eq!(earlier.to_toml(), today.to_toml());
    assert_eq!(earlier.hash(), today.hash());
    assert_eq!(
        earlier.warnings(),
        [
            "tcp.push: is tcp.quirks.push now; write that",
            "tcp.short_trains: is tcp.quirks.short_trains now; write that",
        ]
    );
    for (text, named) in [
        ("push = \"trains\"\nquirks.push = \"written\"", "tcp.push"),
        ("push = \"often\"", "tcp.quirks.push"),
        ("push = \"trains\"\nquirks = 3", "tcp.quirks"),
    ] {
        let refused = Scenario::parse(&format!("[tcp]\n{text}\n"), "t", Path::new(""))
            .unwrap_err()
            .to_string();
        assert!(refused.contains(named), "{refused}");
    }
}
