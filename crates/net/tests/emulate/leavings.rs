//! Nothing remains, however the emulator ends.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use super::{PIPE, Scenario, airtcp_net, emulate, is_allowed, text};

/// Processes whose command line contains `mark`.
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

/// Yields the processor until the next check.
fn look_again() {
    std::thread::sleep(std::time::Duration::from_millis(5));
}

fn devices() -> BTreeSet<String> {
    let entries = fs::read_dir("/sys/class/net")
        .unwrap()
        .filter_map(Result::ok);
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// The daemons of a command end with it.
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

/// `kill -9` of the emulator ends its namespaces, too. The kernel does so when the emulator's last
/// thread ends, so the test waits for that and not for a time.
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
        look_again();
    }
    emulator.kill().unwrap();
    assert_eq!(emulator.wait().unwrap().signal(), Some(9));
    while !processes(&mark).is_empty() {
        look_again();
    }
}

/// Namespaces that any process of this machine is in, by their numbers.
fn namespaces() -> BTreeSet<String> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries
        .filter_map(|entry| fs::read_link(entry.path().join("ns/net")).ok())
        .map(|name| name.to_string_lossy().into_owned())
        .collect()
}

/// Namespaces with a name in the file system.
fn names() -> BTreeSet<String> {
    let entries = fs::read_dir("/run/netns").into_iter().flatten();
    entries
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// Routes and settings that an uplink could have left in the machine's namespace.
fn rules() -> Vec<String> {
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    vec![
        read("/proc/net/route"),
        read("/proc/sys/net/ipv4/ip_forward"),
        read("/proc/sys/net/ipv6/conf/all/forwarding"),
        // Tables of the legacy kind; nf_tables are listed by a tool that need not be here.
        read("/proc/net/ip_tables_names"),
        Command::new("nft")
            .args(["list", "ruleset"])
            .output()
            .map_or_else(|_| String::new(), |output| text(&output.stdout)),
    ]
}

/// A hundred links one after the other, each with the machine's uplink, if any, and every tenth
/// killed: devices, names and rules are unchanged, and the commands' namespaces are gone, with all
/// processes.
#[test]
fn a_hundred_starts_leave_nothing() {
    if !is_allowed() {
        return;
    }
    let scenario = Scenario::new(PIPE);
    let (before, named, ruled) = (devices(), names(), rules());
    let mark = format!("86402.{}", std::process::id());
    let seen = scenario.folder().join("namespaces");
    let note = format!("readlink /proc/self/ns/net >> '{}'", seen.display());
    for round in 0..100 {
        let mut emulator = airtcp_net()
            .args(["emulate", "--quiet"])
            .arg(scenario.path())
            .args(["--", "sh", "-c"])
            .arg(if round % 10 == 9 {
                format!("{note}; exec sleep {mark}")
            } else {
                note.clone()
            })
            .spawn()
            .unwrap();
        if round % 10 == 9 {
            while fs::read_to_string(&seen)
                .unwrap_or_default()
                .lines()
                .count()
                <= round
            {
                assert!(emulator.try_wait().unwrap().is_none(), "round {round}");
                look_again();
            }
            emulator.kill().unwrap();
        }
        let status = emulator.wait().unwrap();
        assert_eq!(status.success(), round % 10 != 9, "round {round}");
    }
    let seen = fs::read_to_string(&seen).unwrap();
    let seen: BTreeSet<String> = seen.lines().map(str::to_owned).collect();
    assert!(!seen.is_empty() && seen.iter().all(|name| name.starts_with("net:")));
    // A killed process vanishes with its last thread; numbers may belong to other tests by now.
    while !processes(&mark).is_empty()
        || !processes("/tmp/far-end").is_empty()
        || !namespaces().is_disjoint(&seen)
    {
        look_again();
    }
    assert_eq!(devices(), before);
    assert_eq!(names(), named);
    assert_eq!(rules(), ruled);
}
