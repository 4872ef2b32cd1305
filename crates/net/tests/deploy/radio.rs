//! A radio of mac80211: its debugging files under a directory, and the kernel's part, which
//! reformats written values for reading (Linux, `net/mac80211/debugfs.c`). That part is played
//! after each write.

use std::fs;
use std::path::{Path, PathBuf};

use airtcp_deploy::change::Change;
use airtcp_host::error::Result;

use crate::machine::{fails, on_a_machine, succeeds};

/// Where the machine's devices and radios have their files.
pub fn sys(directory: &Path) -> PathBuf {
    directory.join("sys")
}

/// Has the machine have a radio `phy0` with the device wlan0, as the kernel sets it up.
pub fn plug_in(directory: &Path) {
    let net = sys(directory).join("class/net");
    fs::create_dir_all(net.join("t0")).unwrap();
    fs::create_dir_all(net.join("wlan0/phy80211")).unwrap();
    fs::write(net.join("wlan0/phy80211/name"), "phy0\n").unwrap();
    fs::create_dir_all(radio(directory)).unwrap();
    for (name, value) in [
        ("aql_enable", "1\n"),
        ("aql_txq_limit", "2 5000 12000"),
        ("airtime_flags", "3"),
    ] {
        fs::write(file(directory, name), value).unwrap();
    }
    play_kernel(directory);
}

fn radio(directory: &Path) -> PathBuf {
    sys(directory).join("kernel/debug/ieee80211/phy0")
}

fn file(directory: &Path, name: &str) -> PathBuf {
    radio(directory).join(name)
}

/// Reformats written values for reading: `aql_txq_limit_read` and `airtime_flags_read`.
pub fn play_kernel(directory: &Path) {
    let limits = file(directory, "aql_txq_limit");
    let written = fs::read_to_string(&limits).unwrap();
    if let ["2", low, high] = written.split(' ').collect::<Vec<_>>()[..] {
        let others = "5000\t\t12000";
        let table = format!(
            "AC\tAQL limit low\tAQL limit high\nVO\t{others}\nVI\t{others}\nBE\t{low}\t\t{high}\n\
             BK\t{others}\n"
        );
        fs::write(&limits, table).unwrap();
    }
    let flags = file(directory, "airtime_flags");
    if let Ok(bits) = fs::read_to_string(&flags).unwrap().parse::<u16>() {
        let names = [(1, "AIRTIME_TX\t(1)\n"), (2, "AIRTIME_RX\t(2)\n")];
        let set = names.iter().filter(|(bit, _)| bits & bit != 0);
        let text: String = set.map(|(_, name)| *name).collect();
        fs::write(&flags, text).unwrap();
    }
}

/// A deployment's changes of the radio.
pub fn changes(directory: &Path) -> [Change; 2] {
    [
        ("aql_txq_limit", "2 5000 12000", "2 1500 1500"),
        ("airtime_flags", "3", "0"),
    ]
    .map(|(name, old, new)| Change::Radio {
        file: file(directory, name),
        old: old.to_owned(),
        new: new.to_owned(),
    })
}

/// Which of them are in place.
pub fn there(directory: &Path) -> [bool; 2] {
    play_kernel(directory);
    let text = |name| fs::read_to_string(file(directory, name)).unwrap();
    let (limits, flags) = (text("aql_txq_limit"), text("airtime_flags"));
    let is_limited = limits.contains("\nBE\t1500\t\t1500\n");
    assert!(
        is_limited || limits.contains("\nBE\t5000\t\t12000\n"),
        "{limits}"
    );
    assert!(
        flags.is_empty() || flags == "AIRTIME_TX\t(1)\nAIRTIME_RX\t(2)\n",
        "{flags}"
    );
    [is_limited, flags.is_empty()]
}

/// Existing settings are reported and restored; a setting that already matches is not changed.
#[test]
fn limits_of_a_radio_are_deployed_and_put_back() {
    on_a_machine(|directory| {
        let words = ["deploy", "aql:limit=1500 us", "--device", "wlan0"];
        let said = succeeds(directory, &[&words[..], &["--dry-run"]].concat())?;
        let limits = file(directory, "aql_txq_limit");
        let line = format!(
            "echo 2 1500 1500 > {}   (was 2 5000 12000)",
            limits.display()
        );
        assert!(said.contains(&line), "{said}");
        assert!(!said.contains("aql_enable"), "it is on: {said}");
        assert_eq!(there(directory), [false, false]);
        succeeds(directory, &words)?;
        assert_eq!(there(directory), [true, false]);
        let said = succeeds(directory, &["deployed"])?;
        assert!(said.contains("in place: echo 2 1500 1500"), "{said}");
        succeeds(directory, &["undeploy"])?;
        assert_eq!(there(directory), [false, false]);
        fs::write(file(directory, "aql_enable"), "0\n").unwrap();
        succeeds(directory, &words)?;
        assert_eq!(there(directory), [true, false]);
        let enabled = || fs::read_to_string(file(directory, "aql_enable")).unwrap();
        assert_eq!(enabled(), "1");
        succeeds(directory, &["undeploy"])?;
        assert_eq!(enabled(), "0");
        Ok(())
    });
}

/// The kernel's default already is airtime fairness; round robin differs.
#[test]
fn airtime_is_counted_or_not() {
    on_a_machine(|directory| {
        let said = succeeds(
            directory,
            &["deploy", "airtime-fairness", "--device", "wlan0"],
        )?;
        assert!(said.contains("everything is so already"), "{said}");
        succeeds(
            directory,
            &["deploy", "station-queues", "--device", "wlan0"],
        )?;
        assert_eq!(there(directory), [false, true]);
        succeeds(directory, &["undeploy"])?;
        assert_eq!(there(directory), [false, false]);
        Ok(())
    });
}

/// Somebody else's limits are left.
#[test]
fn other_limits_are_left() {
    on_a_machine(|directory| {
        succeeds(
            directory,
            &["deploy", "aql:limit=1500 us", "--device", "wlan0"],
        )?;
        fs::write(file(directory, "aql_txq_limit"), "2 7000 7000").unwrap();
        play_kernel(directory);
        let said = succeeds(directory, &["deployed"])?;
        assert!(
            said.contains("NOT in place, it is \"2 7000 7000\""),
            "{said}"
        );
        let said = succeeds(directory, &["undeploy"])?;
        assert!(said.contains("is \"2 7000 7000\" now"), "{said}");
        let limits = fs::read_to_string(file(directory, "aql_txq_limit")).unwrap();
        assert!(limits.contains("BE\t7000\t\t7000"), "{limits}");
        Ok(())
    });
}

#[test]
fn a_machine_without_the_radio_refuses_by_name() {
    on_a_machine(|directory| -> Result<()> {
        let refused = |device: &[&str]| {
            let words = [&["deploy", "aql"][..], device].concat();
            fails(directory, &words)
        };
        let said = refused(&["--device", "wlan7"]);
        assert!(
            said.contains("--device wlan7: there is no such network device"),
            "{said}"
        );
        let said = refused(&["--device", "t0"]);
        assert!(said.contains("--device t0: it is no radio"), "{said}");
        let said = refused(&["--all"]);
        assert!(said.contains("--device wlan0"), "{said}");
        fs::remove_dir_all(sys(directory).join("kernel")).unwrap();
        let said = refused(&["--device", "wlan0"]);
        assert!(said.contains("phy0, the radio of wlan0, has no"), "{said}");
        assert!(said.contains("mount -t debugfs"), "{said}");
        Ok(())
    });
}
