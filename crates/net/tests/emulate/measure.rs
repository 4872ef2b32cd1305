//! The kernel as sender: a short run, and requests that no kernel can satisfy.

use super::{PIPE, Scenario, airtcp_net, is_allowed, text};

fn measure(scenario: &Scenario, options: &[&str]) -> (bool, serde_json::Value, String) {
    let output = airtcp_net()
        .arg("measure")
        .arg(scenario.path())
        .args(["--set", "duration=2 s"])
        .args(options)
        .output()
        .unwrap();
    let found = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output.status.success(), found, text(&output.stderr))
}

/// A bulk transfer never gets more out of a link than goes in, and its round trip is the link's.
#[test]
fn the_kernel_sends_what_the_link_carries() {
    if !is_allowed() {
        return;
    }
    let scenario = Scenario::new(&format!("{PIPE}queue.packets = 1000\n"));
    let (done, found, error) = measure(&scenario, &["--remedy", "initial-window:segments=20"]);
    assert!(done, "{error}");
    let goodput = found["goodput_bps"].as_f64().unwrap();
    // 1448 of 1500 bytes are payload.
    assert!(
        goodput > 0.0 && goodput <= 50e6 * 1448.0 / 1500.0,
        "{found}"
    );
    // Round trips through the emulation, and the kernel's estimate: no shorter than the link.
    assert!(found["min_rtt_ms"].as_f64().unwrap() >= 20.0, "{found}");
    assert!(
        found["sender_min_rtt_ms"].as_f64().unwrap() >= 20.0,
        "{found}"
    );
    let sorted = ["min_rtt_ms", "rtt_p50_ms", "rtt_p95_ms", "rtt_p99_ms"]
        .map(|name| found[name].as_f64().unwrap());
    assert!(sorted.is_sorted(), "{found}");
    // One way of each packet; round trips are samples, which a machine that stops makes rare.
    let one_way = found["delay_p50_ms"].as_f64().unwrap();
    assert!(one_way >= 10.0, "{found}");
    assert!(one_way < sorted[1] || found["in_time"] == false, "{found}");
    assert_eq!(
        found["steps"][0], "ip route change ROUTE initcwnd 20",
        "{found}"
    );
}

/// The kernel's counters show losses, and each of a scenario's flows is measured.
#[test]
fn losses_are_counted_and_flows_are_told_apart() {
    if !is_allowed() {
        return;
    }
    let scenario = Scenario::new(&format!("{PIPE}[link.loss]\nrate = 0.03\n"));
    let (done, found, error) = measure(&scenario, &["--set", "flows.count=2"]);
    assert!(done, "{error}");
    assert!(found["retransmissions"].as_u64().unwrap() > 0, "{found}");
    let flows = found["flow_goodput_bps"].as_array().unwrap();
    assert_eq!(flows.len(), 2);
    let sum: f64 = flows.iter().map(|flow| flow.as_f64().unwrap()).sum();
    assert!((sum - found["goodput_bps"].as_f64().unwrap()).abs() < 1.0);
}

/// Over a short link the last packets of one end arrive while the other still reads its counters.
#[test]
fn a_short_link_lets_both_ends_finish() {
    if !is_allowed() {
        return;
    }
    let scenario = Scenario::new(PIPE);
    for _ in 0..10 {
        let (done, found, error) = measure(
            &scenario,
            &["--set", "link.delay=1 us", "--set", "duration=0.2 s"],
        );
        assert!(done, "{error}");
        let delivered = found["goodput_bps"].as_f64().unwrap() > 0.0;
        assert!(delivered || found["in_time"] == false, "{found}");
    }
}

/// A link may let no handshake through in time, such as a station's in a fade: nothing is
/// delivered, and the run ends when its time is over rather than when the kernel gives up (two
/// minutes).
#[test]
fn a_connection_that_never_comes_about_delivers_nothing() {
    if !is_allowed() {
        return;
    }
    let scenario = Scenario::new(PIPE);
    let begun = std::time::Instant::now();
    let (done, found, error) = measure(&scenario, &["--set", "link.delay=60 s"]);
    assert!(done, "{error}");
    assert_eq!(found["goodput_bps"].as_f64(), Some(0.0), "{found}");
    assert_eq!(found["srtt_ms"].as_f64(), Some(0.0), "{found}");
    assert!(found["rtt_p50_ms"].is_null(), "{found}");
    assert!(found["sender_min_rtt_ms"].is_null(), "{found}");
    assert!(begun.elapsed().as_secs() < 110, "{:?}", begun.elapsed());
}

#[test]
fn what_no_kernel_can_do_is_refused_without_a_run() {
    let scenario = Scenario::new(PIPE);
    for (options, said) in [
        (&["--remedy", "fack"][..], "4.15"),
        (&["--remedy", "rto-factor"], "--deviation"),
        (
            &["--set", "tcp.congestion_control=jersey"],
            "no Linux kernel",
        ),
        (&["--set", "flows.bytes=1 MB"], "bulk transfers"),
        (&["--set", "tcp.max_window=20"], "max-window says"),
        (&["--remedy", "split-tcp", "--check"], "no proxy"),
    ] {
        let (done, _, error) = measure(&scenario, options);
        assert!(!done && error.contains(said), "{options:?}: {error}");
    }
    let (done, found, error) = measure(&scenario, &["--remedy", "sack", "--check"]);
    assert!(done, "{error}");
    assert_eq!(found["steps"][0], "sysctl -w net.ipv4.tcp_sack=1");
}
