//! The gateway as a service: its notifications to the manager that started it (sd_notify(3)).

use std::io::ErrorKind;
use std::os::unix::net::UnixDatagram;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::router::{PATIENCE, Router, WIRED, sh};
use crate::upload::upload;
use crate::{EVERY, SLOW, WIDE, router};

/// A service manager's end.
struct Manager {
    socket: UnixDatagram,
    path: std::path::PathBuf,
}

impl Manager {
    fn new(router: &Router) -> Self {
        let path = router.state.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        let patience = Some(Duration::from_millis(100));
        socket.set_read_timeout(patience).unwrap();
        Self { socket, path }
    }

    /// Notifications since the last read.
    fn rest(&self) -> String {
        let (mut all, mut bytes) = (String::new(), [0; 4096]);
        // The next process sends keep-alives more often than a read waits.
        for _ in 0..20 {
            let Ok(length) = self.socket.recv(&mut bytes) else {
                break;
            };
            all.push_str(&String::from_utf8_lossy(&bytes[..length]));
            all.push('\n');
        }
        all
    }

    /// Waits for a message with this word, and returns it.
    fn wait_for(&self, word: &str) -> String {
        let (until, mut all) = (Instant::now() + PATIENCE, String::new());
        let mut bytes = [0; 4096];
        while Instant::now() < until {
            match self.socket.recv(&mut bytes) {
                Ok(length) => {
                    let text = String::from_utf8_lossy(&bytes[..length]);
                    if text.lines().any(|line| line.starts_with(word)) {
                        return text.into_owned();
                    }
                    all.push_str(&text);
                }
                Err(cause) if cause.kind() == ErrorKind::WouldBlock => {}
                Err(cause) => panic!("{cause}"),
            }
        }
        panic!("no {word:?} in {all:?}");
    }
}

#[test]
fn a_service_manager_is_told() {
    let Some(router) = router() else { return };
    let manager = Manager::new(&router);
    let wide = router.configuration(WIDE);
    let devices = ["--mobile", "r0", "--wired", "r1"];
    let words = [&devices[..], &[EVERY, "--apply", "--config", &wide]].concat();
    let environment = [
        ("NOTIFY_SOCKET", manager.path.as_os_str()),
        ("WATCHDOG_USEC", "300000".as_ref()),
    ];
    let mut gateway = router.gateway_with(&words, &environment).unwrap();
    let ready = manager.wait_for("READY=1");
    assert!(
        ready.contains(&format!("MAINPID={}", gateway.id())),
        "{ready}"
    );
    // They go on.
    for _ in 0..8 {
        manager.wait_for("WATCHDOG=1");
    }

    // Type=notify-reload wants the time too (systemd.service(5)).
    gateway.signal(Signal::HUP);
    let reloading = manager.wait_for("RELOADING=1");
    assert!(reloading.contains("MONOTONIC_USEC="), "{reloading}");
    manager.wait_for("READY=1");

    // A new program has the service's name before the old one goes.
    gateway.signal(Signal::USR2);
    let ready = manager.wait_for("READY=1");
    let process = ready.lines().find_map(|line| line.strip_prefix("MAINPID="));
    let next: i32 = process.and_then(|process| process.parse().ok()).unwrap();
    assert_ne!(next.cast_unsigned(), gateway.id(), "{ready}");
    let (status, _) = gateway.end();
    assert_eq!(status, Some(0));
    let said = manager.rest();
    assert!(!said.contains("STOPPING=1"), "the service goes on: {said}");
    kill_process(Pid::from_raw(next).unwrap(), Signal::TERM).unwrap();
    manager.wait_for("STOPPING=1");
    router.wait_without_rules();
}

/// Two capabilities are all that it needs of root's, as systemd's unit has it.
#[test]
fn two_capabilities_are_enough() {
    let Some(router) = router() else { return };
    let state = router.state.path().display().to_string();
    let program = env!("CARGO_BIN_EXE_airtcp-net");
    let wide = router.configuration(WIDE);
    let capabilities = "-all,+net_admin,+net_raw";
    // A copy, since the one that was built may lie where nobody else may look.
    let prepared = sh(
        &router.router,
        &format!(
            "chmod 777 {state}\ncp {program} {state}/gateway\n\
             setpriv --reuid 65534 --regid 65534 --clear-groups {state}/gateway --version"
        ),
    );
    if let Err(error) = prepared {
        airtcp_needs::skip(error);
        return;
    }
    let start = format!(
        "timeout 60 setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs \
         --inh-caps {capabilities} --ambient-caps {capabilities} --bounding-set {capabilities} \
         {state}/gateway gateway {EVERY} --mobile r0 --wired r1 --apply --config {wide} \
         --state {state} --report {state}/said > {state}/log 2>&1 &\n\
         gateway=$!\n\
         until grep -q 'the gateway runs' {state}/log; do\n\
           kill -0 $gateway 2>/dev/null || {{ cat {state}/log >&2; exit 1; }}; sleep 0.05\n\
         done; echo $gateway"
    );
    let process = sh(&router.router, &start).unwrap();
    assert!(router.rules().contains("airtcp"));
    let uploaded = upload(&router, WIRED, 1_000_000, SLOW);
    assert!(uploaded.is_whole);
    let end = format!(
        "kill {0}; while kill -0 {0} 2>/dev/null; do sleep 0.05; done",
        process.trim()
    );
    sh(&router.router, &end).unwrap();
    let said = std::fs::read_to_string(format!("{state}/said")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert!(report["did"]["delayed"].as_u64() > Some(20), "{report}");
    assert!(!router.rules().contains("airtcp"), "{}", router.rules());
}
