//! Keys that name files: where a file is looked for.

use super::super::document::Document;
use super::{Path, Scenario, folder};

/// A file of [`folder`] for the key, and the other keys that it requires.
fn example(key: &str) -> (&'static str, &'static str) {
    match key {
        "link.trace.down" => ("lte.down", ""),
        "link.trace.up" => ("lte.up", "link.trace.data = \"up\""),
        "link.trace.light.down" => ("light", "link.trace.down = \"lte.down\""),
        "link.trace.light.up" => ("light", "link.trace = { up = \"lte.up\", data = \"up\" }"),
        "link.rtt_log.path" => ("rtt.csv", ""),
        "link.stops.path" => ("stops.csv", "link.stops.process = \"recorded\""),
        "link.recorded.path" | "link.reverse.recorded.path" => ("link.csv", ""),
        "link.lost_packets.path" | "link.reverse.lost_packets.path" => ("lost.csv", ""),
        "tcp.congestion_control.bpf" => ("veno.bpf.o", ""),
        other => panic!("{other} names a file: give an example of one"),
    }
}

fn set(key: &str, path: &str, folder: &Path) -> Result<Scenario, String> {
    let setting = (key.to_owned(), path.to_owned());
    let (_, more) = example(key);
    Scenario::with_settings(more, "t", folder, &[setting]).map_err(|error| error.to_string())
}

#[test]
fn each_file_is_found_in_the_scenarios_folder() {
    let folder = folder();
    for key in Document::file_keys() {
        let (name, more) = example(&key);
        let scenario = set(&key, name, folder.path()).unwrap_or_else(|error| panic!("{error}"));
        assert!(
            scenario.to_toml().contains(&format!("= \"{name}\"")),
            "{key}"
        );
        assert!(scenario.files().contains_key(&key), "{key}");
        let absolute = folder.path().join(name);
        // The other files that it needs stay.
        let others = if more.contains("lte") {
            folder.path()
        } else {
            Path::new("/nowhere")
        };
        let elsewhere = set(&key, absolute.to_str().unwrap(), others);
        assert!(elsewhere.is_ok(), "{key}: {elsewhere:?}");
    }
}

/// Like every file on a command line; one next to the scenario comes second.
#[test]
fn each_file_that_is_set_is_found_in_the_current_folder() {
    let folder_of_text = folder();
    // Tests run in the crate's folder.
    let here = tempfile::tempdir_in(".").unwrap();
    for key in Document::file_keys() {
        let (name, _) = example(&key);
        std::fs::copy(folder_of_text.path().join(name), here.path().join(name)).unwrap();
        let path = Path::new(here.path().file_name().unwrap()).join(name);
        let scenario = set(&key, path.to_str().unwrap(), folder_of_text.path());
        assert!(scenario.is_ok(), "{key}: {scenario:?}");
        let refused = set(&key, "Cargo.toml", folder_of_text.path()).unwrap_err();
        let found = refused.contains("/Cargo.toml\": ") && !refused.contains("cannot be read");
        assert!(found, "{key}: {refused}");
    }
}

/// An empty table of losses next to losses recorded for both directions has no effect, also in the
/// written scenario, which survives a round trip.
#[test]
fn no_default_losses_are_written_with_recorded_ones() {
    let folder = folder();
    for (recorded, empty) in [
        (
            "link.recorded.path = \"link.csv\"",
            "link.reverse.loss = {}",
        ),
        ("link.recorded.path = \"link.csv\"", "link.loss = {}"),
        ("link.lost_packets.path = \"lost.csv\"", "link.loss = {}"),
        (
            "link.lost_packets.path = \"lost.csv\"\nlink.reverse.lost_packets.path = \"lost.csv\"",
            "link.reverse.loss = {}",
        ),
    ] {
        let read = |text: &str| Scenario::with_settings(text, "t", folder.path(), &[]).unwrap();
        let scenario = read(&format!("{recorded}\n{empty}"));
        let again = read(&scenario.to_toml());
        assert_eq!(again.to_toml(), scenario.to_toml(), "{recorded}, {empty}");
        assert_eq!(
            again.to_toml(),
            read(recorded).to_toml(),
            "{recorded}, {empty}"
        );
    }
}
