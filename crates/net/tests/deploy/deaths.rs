//! `kill -9` after each step of deploying and of undoing: the machine is in its old or its new
//! state, and never in between.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use airtcp_deploy::change::Change;
use airtcp_deploy::entry::Entry;
use airtcp_host::changes::engine::{self, DeploymentStep};
use airtcp_host::changes::guard;
use airtcp_host::changes::journal::Stage;
use airtcp_host::clock::boot_time_ns;
use airtcp_host::device::discipline::Discipline;
use airtcp_host::device::root::RootDiscipline;
use airtcp_host::error::Result;
use rustix::fs::inotify;
use rustix::process::{Signal, getpid, kill_process};

use crate::machine::{PROGRAM, command, fails, on_a_machine, places, routes, setting, succeeds};
use crate::radio;

const DIRECTORY: &str = "AIRTCP_TEST_DIRECTORY";
const WORK: &str = "AIRTCP_TEST_WORK";
const DIES_AFTER: &str = "AIRTCP_TEST_DIES_AFTER";
const GUARDED: &str = "AIRTCP_TEST_GUARDED";
/// The written journal, six changes, and the journal's record that they are made. Undoing takes
/// as many.
const STEPS: usize = 8;
/// The guard needs milliseconds; a machine under load gets this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// The deployment.
fn entry(directory: &Path) -> Entry {
    let setting = |key: &str, old: &str, new: &str| Change::Setting {
        file: Path::new("/proc/sys").join(key.replace('.', "/")),
        key: Some(key.to_owned()),
        old: old.to_owned(),
        new: new.to_owned(),
    };
    let [limits, flags] = radio::changes(directory);
    Entry {
        remedies: "six changes".to_owned(),
        target: "--all".to_owned(),
        share: None,
        since: 0,
        until_ns: None,
        id: boot_time_ns(),
        changes: vec![
            setting("net.ipv4.tcp_sack", "1", "0"),
            Change::Route {
                is_v6: false,
                old: Some("10.9.0.0/24 dev t0 proto kernel scope link src 10.9.0.1".to_owned()),
                new: "10.9.0.0/24 dev t0 proto kernel scope link src 10.9.0.1 initcwnd 33"
                    .to_owned(),
            },
            setting("net.ipv4.tcp_reordering", "3", "7"),
            Change::Discipline {
                device: "t0".to_owned(),
                new: "bfifo limit 30000".to_owned(),
                old: RootDiscipline::restorable("t0").unwrap(),
            },
            limits,
            flags,
        ],
        notes: Vec::new(),
        control: None,
    }
}

/// Which of the six changes are in place.
fn there(directory: &Path) -> [bool; 6] {
    let [is_limited, is_uncounted] = radio::there(directory);
    [
        setting("net.ipv4.tcp_sack") == "0",
        routes().contains("initcwnd 33"),
        setting("net.ipv4.tcp_reordering") == "7",
        RootDiscipline::of("t0")
            .unwrap()
            .is_some_and(|root| root.kind == "bfifo"),
        is_limited,
        is_uncounted,
    ]
}

/// Not a test by itself: the process that the tests below kill. It kills itself after a step.
#[test]
fn a_process_that_dies() {
    let Some(directory) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let number = |name| std::env::var(name).unwrap().parse::<usize>().unwrap();
    let directory = PathBuf::from(directory);
    let (places, dies_after) = (places(&directory), number(DIES_AFTER));
    let journal = places.journal().unwrap();
    let lock = journal.wait_for_lock().unwrap();
    let guard =
        (number(GUARDED) == 1).then(|| guard::start::<Entry>(Path::new(PROGRAM), &places).unwrap());
    let mut steps = 0;
    let mut told = |_: DeploymentStep| {
        radio::play_kernel(&directory);
        if steps == dies_after {
            kill_process(getpid(), Signal::KILL).unwrap();
        }
        steps += 1;
    };
    if number(WORK) == 0 {
        engine::make(&journal, &lock, &entry(&directory), &mut told).unwrap();
    } else {
        engine::undo(&journal, &lock, false, &mut told).unwrap();
    }
    if let Some(guard) = guard {
        guard.dismiss();
    }
    drop(lock);
}

/// Runs the process above, in this network namespace.
fn dies(directory: &Path, undoes: bool, after: usize, guarded: bool) -> ExitStatus {
    let number = |flag: bool| if flag { "1" } else { "0" };
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "deaths::a_process_that_dies", "--nocapture"])
        .env(DIRECTORY, directory)
        .env(WORK, number(undoes))
        .env(DIES_AFTER, after.to_string())
        .env(GUARDED, number(guarded))
        .output()
        .unwrap()
        .status
}

/// Waits until nothing is half done: then the journal records a deployment, or nothing.
fn settled(directory: &Path) -> Result<Option<Stage>> {
    let journal = places(directory).journal::<Entry>()?;
    let start = Instant::now();
    loop {
        let stage = journal.read()?.map(|(stage, _)| stage);
        if matches!(stage, None | Some(Stage::Deployed)) {
            return Ok(stage);
        }
        assert!(start.elapsed() < PATIENCE, "the guard has put nothing back");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_death_while_deploying_leaves_all_or_nothing() {
    on_a_machine(|directory| {
        for step in 0..STEPS {
            let status = dies(directory, false, step, true);
            assert_eq!(status.signal(), Some(9), "step {step}: {status}");
            let stage = settled(directory)?;
            let is_deployed = stage == Some(Stage::Deployed);
            assert_eq!(is_deployed, step == STEPS - 1, "step {step}");
            assert_eq!(there(directory), [is_deployed; 6], "step {step}");
        }
        succeeds(directory, &["undeploy"])?;
        assert_eq!(there(directory), [false; 6]);
        Ok(())
    });
}

#[test]
fn a_death_while_putting_back_leaves_nothing() {
    on_a_machine(|directory| {
        // The journal's record, and six changes; the journal is removed last.
        for step in 0..STEPS - 1 {
            assert!(dies(directory, false, usize::MAX, true).success());
            assert_eq!(there(directory), [true; 6], "step {step}");
            let status = dies(directory, true, step, true);
            assert_eq!(status.signal(), Some(9), "step {step}: {status}");
            assert_eq!(settled(directory)?, None, "step {step}");
            assert_eq!(there(directory), [false; 6], "step {step}");
        }
        Ok(())
    });
}

/// The guard is killed too: the journal knows, and the next airtcp undoes it.
#[test]
fn what_no_guard_has_put_back_undeploy_does() {
    on_a_machine(|directory| {
        for step in 0..STEPS - 1 {
            let status = dies(directory, false, step, false);
            assert_eq!(status.signal(), Some(9), "step {step}: {status}");
            let said = succeeds(directory, &["deployed"])?;
            assert!(said.contains("interrupted"), "step {step}: {said}");
            let said = succeeds(directory, &["undeploy"])?;
            assert!(said.contains("interrupted"), "step {step}: {said}");
            assert_eq!(there(directory), [false; 6], "step {step}");
            assert_eq!(settled(directory)?, None);
        }
        Ok(())
    });
}

/// Only one airtcp changes a machine at a time.
#[test]
fn while_another_changes_the_machine_nothing_is_undone() {
    on_a_machine(|directory| {
        assert!(dies(directory, false, usize::MAX, true).success());
        let lock = places(directory).journal::<Entry>()?.lock()?;
        assert!(lock.is_some());
        let refused = fails(directory, &["undeploy"]);
        assert!(refused.contains("another airtcp is changing"), "{refused}");
        assert_eq!(there(directory), [true; 6]);
        // One that finds it locked, and waits, goes on.
        let opened = inotify::init(inotify::CreateFlags::CLOEXEC).unwrap();
        let mut files = fs::read_dir(places(directory).state).unwrap().flatten();
        let file = files.find(|one| one.path().extension().is_some_and(|kind| kind == "lock"));
        inotify::add_watch(&opened, file.unwrap().path(), inotify::WatchFlags::OPEN).unwrap();
        let mut waiting = command(directory, &["undeploy"]).spawn().unwrap();
        assert!(rustix::io::read(&opened, &mut [0; 4096]).is_ok());
        drop(lock);
        assert!(waiting.wait().unwrap().success());
        assert_eq!(there(directory), [false; 6]);
        Ok(())
    });
}

/// A discipline that somebody had put is there again after a death, option for option.
#[test]
fn a_death_puts_back_the_discipline_that_was_there() {
    on_a_machine(|directory| {
        Discipline::parse("pfifo limit 77")?.put("t0")?;
        let old = RootDiscipline::of("t0")?;
        assert!(old.is_some());
        for step in 0..STEPS - 1 {
            dies(directory, false, step, true);
            assert_eq!(settled(directory)?, None, "step {step}");
            assert_eq!(RootDiscipline::of("t0")?, old, "step {step}");
        }
        Ok(())
    });
}
