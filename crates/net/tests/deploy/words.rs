//! Deployments of settings and routes by the program itself.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::machine::{fails, on_a_machine, routes, setting, succeeds};
use airtcp_host::device::discipline::Discipline;
use airtcp_host::device::root::RootDiscipline;

#[test]
fn what_is_deployed_is_put_back() {
    on_a_machine(|directory| {
        let before = routes();
        succeeds(
            directory,
            &[
                "deploy",
                "min-rto:min=400ms+initial-window:segments=24",
                "--all",
            ],
        )?;
        assert_eq!(setting("net.ipv4.tcp_rto_min_us"), "400000");
        assert!(routes().contains("initcwnd 24"), "{}", routes());
        let said = succeeds(directory, &["deployed"])?;
        assert_eq!(said.matches("in place: ").count(), 2, "{said}");
        let error = fails(directory, &["deploy", "go-back-n", "--all"]);
        assert!(error.contains("there is a deployment"), "{error}");
        succeeds(directory, &["undeploy"])?;
        assert_eq!(setting("net.ipv4.tcp_rto_min_us"), "200000");
        assert_eq!(routes(), before);
        assert_eq!(succeeds(directory, &["deployed"])?, "nothing is deployed\n");
        Ok(())
    });
}

#[test]
fn a_route_of_its_own_goes_again() {
    on_a_machine(|directory| {
        let before = routes();
        succeeds(
            directory,
            &[
                "deploy",
                "initial-window:segments=24",
                "--route",
                "10.9.0.7",
            ],
        )?;
        assert!(routes().contains("10.9.0.7 dev t0"), "{}", routes());
        succeeds(directory, &["undeploy"])?;
        assert_eq!(routes(), before);
        Ok(())
    });
}

#[test]
fn what_another_has_changed_is_left() {
    on_a_machine(|directory| {
        succeeds(directory, &["deploy", "min-rto:min=400ms", "--all"])?;
        fs::write("/proc/sys/net/ipv4/tcp_rto_min_us", "300000").unwrap();
        let said = succeeds(directory, &["deployed"])?;
        assert!(said.contains("NOT in place"), "{said}");
        let said = succeeds(directory, &["undeploy"])?;
        assert!(said.contains("left as it is"), "{said}");
        assert_eq!(setting("net.ipv4.tcp_rto_min_us"), "300000");
        Ok(())
    });
}

#[test]
fn a_period_ends_by_itself() {
    on_a_machine(|directory| {
        succeeds(
            directory,
            &["deploy", "min-rto:min=400ms", "--all", "--for", "1s"],
        )?;
        assert_eq!(setting("net.ipv4.tcp_rto_min_us"), "400000");
        let start = Instant::now();
        while succeeds(directory, &["deployed"])? != "nothing is deployed\n" {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "it has not ended"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(setting("net.ipv4.tcp_rto_min_us"), "200000");
        Ok(())
    });
}

/// A lock's file is removed with the lock, and a waiting process creates a new one.
#[test]
fn nothing_stays_in_the_state_directory() {
    on_a_machine(|directory| {
        succeeds(directory, &["deploy", "min-rto:min=400ms", "--all"])?;
        succeeds(directory, &["undeploy"])?;
        let left: Vec<_> = fs::read_dir(directory.join("state")).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
        Ok(())
    });
}

/// A trial's end is announced before it begins, and the script includes it.
#[test]
fn a_period_stands_in_the_words_and_in_the_script() {
    on_a_machine(|directory| {
        let deploy = ["deploy", "min-rto:min=400ms", "--all", "--for", "1s"];
        let said = succeeds(directory, &[&deploy[..], &["--dry-run"]].concat())?;
        assert!(said.contains("--for 1s would do"), "{said}");
        assert!(said.contains("after 1 s put it back"), "{said}");
        let script = succeeds(directory, &[&deploy[..], &["--script"]].concat())?;
        let path = directory.join("script");
        fs::write(&path, script).unwrap();
        if !airtcp_needs::are_met(&["sysctl"]) {
            return Ok(());
        }
        let run = Command::new("sh").arg(&path).output().unwrap();
        assert!(run.status.success(), "{run:?}");
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(said.contains("net.ipv4.tcp_rto_min_us = 400000"), "{said}");
        while setting("net.ipv4.tcp_rto_min_us") != "200000" {
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    });
}

/// The script makes the same changes as deploy, and with "undo" undoes them.
#[test]
fn the_script_says_the_same() {
    on_a_machine(|directory| {
        let before = routes();
        let script = succeeds(
            directory,
            &[
                "deploy",
                "min-rto:min=400ms+initial-window:segments=24",
                "--all",
                "--script",
            ],
        )?;
        assert_eq!(
            setting("net.ipv4.tcp_rto_min_us"),
            "200000",
            "nothing is changed yet"
        );
        let path = directory.join("script");
        fs::write(&path, script).unwrap();
        if !airtcp_needs::are_met(&["sysctl"]) {
            return Ok(());
        }
        let run = |word: &str| {
            let status = Command::new("sh").arg(&path).arg(word).output().unwrap();
            assert!(status.status.success(), "{status:?}");
        };
        run("make");
        assert_eq!(setting("net.ipv4.tcp_rto_min_us"), "400000");
        assert!(routes().contains("initcwnd 24"));
        run("undo");
        assert_eq!(setting("net.ipv4.tcp_rto_min_us"), "200000");
        assert_eq!(routes(), before);
        // A setting changed by another party meanwhile stays.
        run("make");
        fs::write("/proc/sys/net/ipv4/tcp_rto_min_us", "300000").unwrap();
        let undone = Command::new("sh").arg(&path).arg("undo").output().unwrap();
        assert!(undone.status.success(), "{undone:?}");
        let said = String::from_utf8_lossy(&undone.stderr);
        assert!(
            said.contains("left as it is") && said.contains("300000"),
            "{said}"
        );
        assert_eq!(setting("net.ipv4.tcp_rto_min_us"), "300000");
        assert_eq!(routes(), before);
        Ok(())
    });
}

#[test]
fn what_cannot_be_had_is_refused_with_the_way_that_works() {
    on_a_machine(|directory| {
        for (words, expected) in [
            (
                &["deploy", "min-rto:min=400ms", "--all", "--share", "50%"][..],
                "--all without --share",
            ),
            (
                &["deploy", "delayed-ack", "--all", "--share", "50%"],
                "use --route",
            ),
            (
                &["deploy", "delay-injection", "--all"],
                "there is no way to deploy it",
            ),
            (&["deploy", "rto-factor", "--all"], "--deviation"),
            (&["deploy", "queue", "--all"], "--device"),
            (&["deploy", "sack", "--device", "t0"], "--all"),
            (&["deploy", "queue", "--device", "t9"], "t9"),
            (
                &["deploy", "queue", "--device", "t0", "--rate", "20Mbit"],
                "does not shape",
            ),
            (&["deploy", "inf-retry", "--all"], "iw phy"),
            (
                &["deploy", "sack", "--all", "--share", "101%"],
                "below 100%",
            ),
            (&["deploy", "sac", "--all"], "sack"),
            (&["deploy", "sack"], "--cgroup"),
            (
                &["deploy", "cubic", "--cgroup", "/proc"],
                "cgroup version 2",
            ),
            (
                &["deploy", "initial-window:segments=5", "--route", "10.9.0.1"],
                "own address",
            ),
        ] {
            let error = fails(directory, words);
            assert!(error.contains(expected), "{words:?}: {error}");
        }
        assert_eq!(succeeds(directory, &["deployed"])?, "nothing is deployed\n");
        Ok(())
    });
}

/// A queue in front of a device: the existing one is reported and restored.
#[test]
fn a_discipline_is_deployed_before_a_device() {
    on_a_machine(|directory| {
        let words = ["deploy", "queue:packets=33", "--device", "t0"];
        let said = succeeds(directory, &[&words[..], &["--dry-run"]].concat())?;
        assert!(
            said.contains("tc qdisc replace dev t0 root pfifo limit 33"),
            "{said}"
        );
        assert!(said.contains("the kernel's own choice"), "{said}");
        assert_eq!(RootDiscipline::of("t0")?, None);
        succeeds(directory, &words)?;
        let root = RootDiscipline::of("t0")?.expect("a discipline");
        assert_eq!(root.kind, "pfifo");
        let said = succeeds(directory, &["deployed"])?;
        assert!(said.contains("in place: tc qdisc replace dev t0"), "{said}");
        succeeds(directory, &["undeploy"])?;
        assert_eq!(RootDiscipline::of("t0")?, None);
        Ok(())
    });
}

/// Another program's discipline is left, and classes are not taken away.
#[test]
fn another_discipline_is_left() {
    on_a_machine(|directory| {
        succeeds(directory, &["deploy", "queue", "--device", "t0"])?;
        Discipline::parse("bfifo limit 9000")?.put("t0")?;
        let said = succeeds(directory, &["undeploy"])?;
        assert!(
            said.contains("t0 has queueing discipline bfifo now"),
            "{said}"
        );
        if !airtcp_needs::are_met(&["tc"]) {
            return Ok(());
        }
        let tc = |words: &str| {
            let words = words.split(' ');
            std::process::Command::new("tc").args(words).status()
        };
        if !tc("qdisc replace dev t0 root handle 7: htb").is_ok_and(|status| status.success()) {
            airtcp_needs::skip("the kernel has no htb");
            return Ok(());
        }
        let said = fails(directory, &["deploy", "queue", "--device", "t0"]);
        assert!(said.contains("htb"), "{said}");
        Ok(())
    });
}
