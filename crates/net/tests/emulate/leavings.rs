//! Nothing is left behind, whatever ends the emulator.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;

use super::{PIPE, Scenario, airtcp_net, emulate, is_allowed, text};

/// Processes whose command line holds `mark`.
fn processes(mark: &str) -> BTreeSet<u32> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries
        .filter_map(|entry| {
            let process: u32 = entry.file_name().to_str()?.parse().ok()?;
            let line = fs::read(entry.path().join("cmdline")).ok()?;
            String::from_utf8_lossy(&line)
                .contains(mark)
                .then_some(process)
        })
        .collect()
}

fn devices() -> BTreeSet<String> {
    let entries = fs::read_dir("/sys/class/net")
        .unwrap()
        .filter_map(Result::ok);
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// A command that has daemons of its own leaves none of them.
#[test]
fn an_end_ends_all_processes_and_devices() {
    if !is_allowed() {
        return;
    }
    let scenario = Scenario::new(PIPE);
    let before = devices();
    let mark = format!("86400.{}", std::process::id());
    let sleeper = format!("setsid sleep {mark} & exit 5");
    let output = emulate(&scenario, &[], &format!("sleep {mark}"), &sleeper);
    assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
    assert_eq!(processes(&mark), BTreeSet::new());
    assert_eq!(devices(), before);
}

/// `kill -9` of the emulator ends its namespaces, too. The kernel does it as the emulator's last
/// thread goes, so the test waits for that and not for a time.
#[test]
fn a_killed_emulator_leaves_nothing() {
    if !is_allowed() {
        return;
    }
    let scenario = Scenario::new(PIPE);
    let mark = format!("86401.{}", std::process::id());
    let mut emulator = airtcp_net()
        .args(["emulate", "--quiet"])
        .arg(scenario.path())
        .args(["--server", &format!("sleep {mark}"), "--", "sleep", &mark])
        .spawn()
        .unwrap();
    while processes(&mark).len() < 4 {
        assert!(
            emulator.try_wait().unwrap().is_none(),
            "the emulator has ended"
        );
        std::thread::yield_now();
    }
    emulator.kill().unwrap();
    assert_eq!(emulator.wait().unwrap().signal(), Some(9));
    while !processes(&mark).is_empty() {
        std::thread::yield_now();
    }
}
