//! Requests: valid ones pass through, and others get one clear error.

use super::{PIPE, Scenario, airtcp_net, emulate, is_allowed, text};

fn refused(arguments: &[&str]) -> String {
    let output = airtcp_net().args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    text(&output.stderr)
}

#[test]
fn errors_name_what_is_wrong() {
    let scenario =
        Scenario::new("topology = \"pipe\"\n[link]\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n");
    let path = scenario.path().to_string_lossy().into_owned();
    assert!(refused(&["emulate", "nowhere.toml"]).contains("nowhere.toml"));
    assert!(refused(&["emulate", &path, "--set", "link.rate"]).contains("expected KEY=VALUE"));
    assert!(refused(&["emulate", &path, "--set", "link.rat=1"]).contains("link.rat"));
    assert!(refused(&["emulate", &path, "--remedy", "sak"]).contains("sack"));
    assert!(refused(&["emulate", &path, "--remedy", "split-tcp"]).contains("no proxy"));
    assert!(refused(&["emulate", &path, "--mtu", "100"]).contains("1280"));
    assert!(refused(&["emulate", &path, "--set", "flows.count=1000"]).contains("flows.count"));
}

#[test]
fn a_command_that_is_not_there_is_an_error() {
    if !is_allowed() {
        return;
    }
    let scenario = Scenario::new(PIPE);
    let output = airtcp_net()
        .args(["emulate", "--quiet"])
        .arg(scenario.path())
        .args(["--", "no-such-command"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(127));
    assert!(text(&output.stderr).contains("cannot run no-such-command"));
}

/// Each station has a separate namespace and line, and the highest status counts.
#[test]
fn every_flow_has_a_station() {
    if !is_allowed() {
        return;
    }
    let scenario = Scenario::new(PIPE);
    let output = emulate(
        &scenario,
        &["--set", "flows.count=3"],
        "true",
        "cat /proc/net/fib_trie | grep -o '100\\.64\\.[0-9]*\\.2' | sort -u; exit $AIRTCP_STATION",
    );
    let mut addresses: Vec<_> = text(&output.stdout).lines().map(str::to_owned).collect();
    addresses.sort();
    assert_eq!(addresses, ["100.64.0.2", "100.64.1.2", "100.64.2.2"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
}
