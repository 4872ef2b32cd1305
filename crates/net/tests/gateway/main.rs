//! The gateway as operators run it: the program itself, on a router made of namespaces.
//!
//! It needs root, network namespaces, ip and nft; if one of them is missing each test prints that
//! and is skipped.
#![cfg(target_os = "linux")]

mod attack;
mod bridge;
mod inline;
#[path = "../limits/mod.rs"]
mod limits;
mod netlink;
mod packaging;
mod router;
mod service;
mod upload;

use airtcp_host::error::{Result, Tried};
use airtcp_host::nftables::{Batch, Expression, Family, Hook, QueueBy};
use limits::assert_limited;
use router::{Middle, Router, WIRED, WIRED6, sh, uses};
use rustix::process::Signal;
use upload::{Upload, upload};

/// The router, the rules of which nft lists; prints why a test is skipped.
fn router() -> Option<Router> {
    let made = uses(&["nft"]).and_then(|()| Router::new(Middle::Routes));
    made.and_then(can_queue)
        .inspect_err(|error| airtcp_needs::skip(error))
        .ok()
}

/// The router, if its kernel can lead packets into a queue.
fn can_queue(router: Router) -> Result<Router> {
    let hook = Hook {
        kind: "filter",
        point: 2,
        priority: 0,
    };
    let tried = |by| {
        Batch::new(Family::V4)
            .table("tried")
            .chain("tried", "one", hook)
            .rule("tried", "one", &[Expression::queue(by, 7)])
            .without_table("tried")
            .send()
    };
    router.router.enter(|| {
        let [first, second] = QueueBy::ALL.map(tried);
        first
            .or(second)
            .tried(|| "this kernel cannot queue packets by nf_tables".to_owned())
    })?;
    Ok(router)
}

/// An agent that holds every acknowledgment for an easily recognised time.
const EVERY: &str = "static-delay:delay=20ms,every=1";
/// Bounds that allow every hold to be as long as the agent wants.
const WIDE: &str = "[hold]\nlongest = \"1 s\"\nof_round_trip = 1000.0\nof_timeout = 1.0\n\
                    budget = \"1 h\"\nspan = \"1 h\"\n\
                    [watchdog]\nlate = \"10 s\"\n";
/// The usual bounds, on a machine that may stop for seconds.
const PATIENT: &str = "[watchdog]\nlate = \"10 s\"\n";
/// Bytes per second that leave time to look.
const SLOW: f64 = 4e6;

#[test]
fn observing_touches_nothing_and_counts() {
    let Some(router) = router() else { return };
    let mut gateway = router.gateway(&[EVERY]).unwrap();
    assert!(!router.rules().contains("airtcp"));
    let uploaded = upload(&router, WIRED, 2_000_000, SLOW);
    assert!(uploaded.is_whole);
    assert!(router.status().status.success());
    let report = gateway.stop();
    assert_eq!(report["course"], "look");
    assert!(report["did"]["delayed"].as_u64() > Some(20), "{report}");
    assert_eq!(report["control"]["connections"], 1, "{report}");
    assert!(
        report["expected"]["acknowledgments"].as_u64() > Some(20),
        "{report}"
    );
    assert_eq!(router.status().status.code(), Some(1));
}

/// Acknowledgments are held, IPv6's as well, and everything arrives; bounds are kept; at the end
/// the rules are gone.
#[test]
fn applying_holds_acknowledgments_within_bounds() {
    let Some(router) = router() else { return };
    let wide = router.configuration(WIDE);
    let mut gateway = router
        .gateway(&[EVERY, "--apply", "--config", &wide])
        .unwrap();
    assert!(router.rules().contains("airtcp"));
    for address in [std::net::IpAddr::from(WIRED), WIRED6.into()] {
        let uploaded = upload(&router, address, 1_000_000, SLOW);
        assert!(uploaded.is_whole);
    }
    let report = gateway.stop();
    assert!(!router.rules().contains("airtcp"), "{}", router.rules());
    assert_eq!(report["treated"]["connections"], 2, "{report}");
    assert!(report["did"]["delayed"].as_u64() > Some(20), "{report}");
    let longest = report["did"]["longest_ns"].as_u64().unwrap();
    assert!(longest >= 19_000_000, "{report}");
    // Round trips of this router are far below a millisecond, and half of one is the bound.
    let mut gateway =
        router.gateway(&[EVERY, "--apply", "--config", &router.configuration(PATIENT)]);
    let gateway = gateway.as_mut().unwrap();
    assert!(upload(&router, WIRED, 1_000_000, SLOW).is_whole);
    let report = gateway.stop();
    assert!(report["did"]["cut_by_limit"].as_u64() > Some(0), "{report}");
    assert!(
        report["did"]["cut_unmeasured"].as_u64() > Some(0),
        "{report}"
    );
}

/// Of `a_share_has_a_control_group`.
const CONNECTIONS: u64 = 20;

/// Half of the connections are treated, the others are not, and both are measured.
#[test]
fn a_share_has_a_control_group() {
    let Some(router) = router() else { return };
    let wide = router.configuration(WIDE);
    let words = [EVERY, "--apply", "--share", "50%", "--config", &wide];
    let mut gateway = router.gateway(&words).unwrap();
    for _ in 0..CONNECTIONS {
        assert!(upload(&router, WIRED, 100_000, 1e9).is_whole);
    }
    let report = gateway.stop();
    let connections = |group: &str| report[group]["connections"].as_u64().unwrap();
    assert_eq!(
        connections("treated") + connections("control"),
        CONNECTIONS,
        "{report}"
    );
    // All in one group: once in half a million.
    assert!(
        connections("treated") > 0 && connections("control") > 0,
        "{report}"
    );
}

/// However a gateway ends, connections survive and no rules remain.
#[test]
fn connections_outlive_every_end_of_the_gateway() {
    let Some(router) = router() else { return };
    for signal in [Signal::KILL, Signal::TERM] {
        let wide = router.configuration(WIDE);
        let mut gateway = router
            .gateway(&[EVERY, "--apply", "--config", &wide])
            .unwrap();
        let upload = Upload::begin(&router, WIRED, SLOW);
        upload.passes(1_000_000);
        gateway.signal(signal);
        let _ = gateway.end();
        upload.passes(1_000_000);
        let uploaded = upload.end();
        assert!(uploaded.is_whole);
        eprintln!("{signal:?}: longest pause {:?}", uploaded.longest_pause);
        router.wait_without_rules();
    }
}

/// A gateway that hangs is ended by its guard, and packets continue.
#[test]
fn a_gateway_that_hangs_is_ended() {
    let Some(router) = router() else { return };
    let wide = router.configuration(WIDE);
    let mut gateway = router
        .gateway(&[EVERY, "--apply", "--config", &wide])
        .unwrap();
    let upload = Upload::begin(&router, WIRED, SLOW);
    upload.passes(500_000);
    gateway.signal(Signal::STOP);
    let _ = gateway.end();
    upload.passes(500_000);
    assert!(upload.end().is_whole);
    router.wait_without_rules();
}

/// SIGHUP accepts a valid configuration, and rejects one with any error.
#[test]
fn a_wrong_configuration_changes_nothing() {
    let Some(router) = router() else { return };
    let path = router.configuration(WIDE);
    let mut gateway = router
        .gateway(&[EVERY, "--apply", "--config", &path])
        .unwrap();
    let upload = Upload::begin(&router, WIRED, SLOW);
    router.configuration("[hold]\nlongest = \"30 ms\"\nbudgett = \"1 s\"\n");
    gateway.signal(Signal::HUP);
    gateway.wait_for("budgett").unwrap();
    router.configuration("[hold]\nlongest = \"10 ms\"\n");
    gateway.signal(Signal::HUP);
    gateway.wait_for("was read again").unwrap();
    upload.passes(500_000);
    assert!(upload.end().is_whole);
    let report = gateway.stop();
    assert_eq!(report["reloads"], 1, "{report}");
    let wrong = router.gateway(&["sack", "--apply"]);
    assert!(wrong.is_err());
}

/// Another process takes over while packets pass: the rules stay, and lead to its queue.
#[test]
fn a_gateway_is_followed_without_a_gap() {
    let Some(router) = router() else { return };
    let wide = router.configuration(WIDE);
    let mut first = router
        .gateway(&[EVERY, "--apply", "--config", &wide])
        .unwrap();
    let upload = Upload::begin(&router, WIRED, SLOW);
    let words = [EVERY, "--apply", "--config", &wide, "--take-over"];
    assert!(
        router.gateway(&[EVERY, "--apply"]).is_err(),
        "there is one already"
    );
    let mut second = router.gateway(&words).unwrap();
    let (status, _) = first.end();
    assert_eq!(status, Some(0));
    let rules = router.rules();
    assert!(rules.contains("airtcp"), "{rules}");
    upload.passes(1_000_000);
    assert!(upload.end().is_whole);
    let report = second.stop();
    assert!(report["did"]["delayed"].as_u64() > Some(0), "{report}");
    assert!(!router.rules().contains("airtcp"));
}

/// Packets that no agent acts on pass unchanged, with an agent that sees data and acknowledgments.
#[test]
fn what_is_not_meant_passes() {
    if !airtcp_needs::are_met(&["ping"]) {
        return;
    }
    let Some(router) = router() else { return };
    let patient = router.configuration(PATIENT);
    let words = ["snoop", "--apply", "--config", &patient];
    let mut gateway = router.gateway(&words).unwrap();
    let echo = format!("ping -c 3 -i 0.01 -W 2 {WIRED}");
    sh(&router.mobile, &echo).unwrap();
    assert!(upload(&router, WIRED, 500_000, 1e9).is_whole);
    assert!(upload(&router, WIRED, 8192, 1e9).is_whole);
    let report = gateway.stop();
    assert_eq!(report["did"]["dropped"], 0, "{report}");
}

/// Looking or treating, and after a change to a new process, it has the capabilities of packets
/// and rules and nothing more.
#[test]
fn it_keeps_no_privilege_that_it_does_not_need() {
    let Some(router) = router() else { return };
    let patient = router.configuration(PATIENT);
    for words in [&[EVERY][..], &[EVERY, "--apply", "--config", &patient]] {
        let mut gateway = router.gateway(words).unwrap();
        assert_limited(gateway.id(), &["NET_ADMIN", "NET_RAW"]);
        gateway.stop();
    }
    assert!(!router.rules().contains("airtcp"));
}
