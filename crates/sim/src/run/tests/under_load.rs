//! Measurements under load, for the link's quality to others.

use super::*;
use crate::result::UnderLoadSummary;

/// 1 ms for a packet of 1250 bytes, followed by 25 ms each way.
const LINK: &str = "duration = '20 s'\nlink.rate = '10 Mbit/s'\nlink.delay = '25 ms'\n\
                    link.queue.packets = 100\ntcp.profile = 'linux'\n\
                    flows.under_load = ['ping', 'exchange', 'call', 'short-flow', 'page']\n";

fn under_load(keys: &str) -> UnderLoadSummary {
    summary(&scenario(&format!("{LINK}{keys}")), 1).under_load
}

fn near(found: Option<f64>, expected: f64, share: f64) -> bool {
    found.is_some_and(|found| (found / expected - 1.0).abs() <= share)
}

/// On an idle link the parts are round trips of 50 ms with their bytes at 10 Mbit/s. A ping of 84
/// bytes takes 67.2 µs more each way; three round trips of an exchange 150 ms and the 3.5 ms or so
/// of 4000 bytes with headers; a page of three steps, the last of two windows, 200 ms and the 40 ms
/// of 46 000 bytes; a short flow of 21 segments three round trips and the 15 ms of the eleven
/// segments that its initial window leaves.
#[test]
fn an_idle_link_gives_the_closed_forms() {
    let idle = under_load("flows.bytes = '1 kB'\n");
    assert!(near(idle.ping_p50_ms, 50.13, 0.011), "{idle:?}");
    assert_eq!(idle.ping_lost, Some(0.0));
    assert!((139..=141).contains(&idle.exchanges), "{idle:?}");
    assert_eq!(idle.exchanges_unfinished, 0);
    assert!(near(idle.exchange_p50_ms, 154.0, 0.02), "{idle:?}");
    // (50 + 53 + 50) / 3 is 51 ms, and 60 000 ms hold 1176 of them.
    assert!(near(idle.rpm_foreign, 1176.0, 0.02), "{idle:?}");
    assert_eq!(idle.call_late, Some(0.0));
    assert_eq!((idle.short_flows, idle.short_flows_unfinished), (14, 0));
    assert!(near(idle.short_flow_mean_s, 0.165, 0.02), "{idle:?}");
    assert_eq!((idle.pages, idle.pages_unfinished), (2, 0));
    assert!(
        (0.23..0.32).contains(&idle.page_mean_s.unwrap()),
        "{idle:?}"
    );
}

/// A queue of 100 packets, which CUBIC keeps between two thirds full and full, is 80 to 121 ms on
/// the way of the answers: a round trip, and a part of an exchange, is 130 to 171 ms.
#[test]
fn a_full_queue_is_in_every_round_trip() {
    let loaded = under_load("");
    assert!(
        (120.0..175.0).contains(&loaded.ping_p50_ms.unwrap()),
        "{loaded:?}"
    );
    let parts = loaded.exchange_p50_ms.unwrap() / 3.0;
    assert!((120.0..190.0).contains(&parts), "{loaded:?}");
    let foreign = loaded.rpm_foreign.unwrap();
    assert!((300.0..500.0).contains(&foreign), "{loaded:?}");
    assert!(
        near(loaded.rpm_own, foreign, 0.15),
        "one queue for both: {loaded:?}"
    );
    let mean = f64::midpoint(foreign, loaded.rpm_own.unwrap());
    assert!(near(loaded.rpm, mean, 1e-12));
    // Down it waits in the queue, up it does not: half of the packets are late at most.
    assert!(
        (0.2..=0.5).contains(&loaded.call_late.unwrap()),
        "{loaded:?}"
    );
    assert!(loaded.short_flow_mean_s.unwrap() > 0.35, "{loaded:?}");
}

/// Flow queues serve sparse flows first: foreign round trips stay near 50 ms.
#[test]
fn flow_queues_keep_others_from_waiting() {
    let apart = under_load("remedies = ['fq-codel']\n");
    assert!(apart.ping_p99_ms.unwrap() < 56.0, "{apart:?}");
    assert!(apart.rpm_foreign.unwrap() > 1000.0, "{apart:?}");
    assert!(apart.rpm_foreign > apart.rpm_own, "{apart:?}");
    assert_eq!(apart.call_late, Some(0.0));
}

/// With 101 ms each way every packet of a call is late, and with half of that no packet is.
#[test]
fn a_call_is_late_after_a_tenth_of_a_second() {
    let keys = "flows.bytes = '1 kB'\nlink.delay = '101 ms'\n";
    let slow = LINK.replace("link.delay = '25 ms'\n", keys);
    assert_eq!(summary(&scenario(&slow), 1).under_load.call_late, Some(1.0));
}

/// One of a hundred packets is lost each way: so is one of fifty pings (1 - 0.99²).
#[test]
fn what_is_lost_counts() {
    let keys = "duration = '300 s'\nflows.bytes = '1 kB'\n\
                link.loss = { rate = 0.01, direction = 'both' }\n";
    let text = LINK.replace("duration = '20 s'\n", keys);
    let lossy = summary(&scenario(&text), 1).under_load;
    assert!(near(lossy.call_late, 0.01, 0.15), "{lossy:?}");
    assert!(near(lossy.ping_lost, 0.0199, 0.35), "{lossy:?}");
}

/// The load's numbers are only of its flows, and no measurement runs unless requested.
#[test]
fn the_load_is_apart_from_what_is_beside_it() {
    let with = summary(&scenario(LINK), 1);
    assert_eq!(with.flows.len(), 1);
    assert!(with.under_load.added_bps > 100_000.0 && with.under_load.added_bps < 1_500_000.0);
    let bare = LINK.lines().filter(|line| !line.contains("under_load"));
    let without = summary(&scenario(&bare.collect::<Vec<_>>().join("\n")), 1);
    assert_eq!(without.under_load, UnderLoadSummary::default());
    assert!(with.goodput_bps < without.goodput_bps);
    assert!(with.goodput_bps > 0.85 * without.goodput_bps);
}

/// A remedy of the sender changes only the load.
#[test]
fn remedies_leave_it_alone() {
    let vegas = scenario(&format!("{LINK}remedies = ['vegas']\n"));
    assert_ne!(vegas.tcp, vegas.unchanged_tcp[0]);
    let layout = airtcp_scenario::build(&vegas, 1);
    assert!(layout.flows.len() > 100);
    for flow in &layout.flows[1..] {
        assert_eq!(*flow.tcp, vegas.unchanged_tcp[0]);
    }
}

/// On every kind of link, with agents and proxies too.
#[test]
fn it_runs_on_every_link() {
    for keys in [
        "topology = 'dumbbell'",
        "topology = 'wlan'",
        "topology = 'wlan'\nwlan.standard = '802.11n'\nflows.direction = 'up'",
        "topology = 'wlan'\nwlan.standard = '802.11ax'\nflows.count = 3",
        "topology = 'wlan-wired-wlan'",
        "topology = 'arq'",
        "topology = 'selective-repeat'",
        "topology = 'selective-repeat-both-ends'",
        "topology = 'cell'",
        "topology = 'wlan'\nremedies = ['split-tcp']",
        "topology = 'wlan'\nremedies = ['snoop']",
    ] {
        let text = format!(
            "duration = '15 s'\nflows.under_load = ['ping', 'exchange', 'call', 'page']\n{keys}\n"
        );
        let found = summary(&scenario(&text), 1).under_load;
        assert!(found.ping_p95_ms.is_some(), "{keys}: {found:?}");
        assert!(found.exchanges > 90, "{keys}: {found:?}");
        assert!(
            found.exchanges_unfinished < found.exchanges,
            "{keys}: {found:?}"
        );
        assert!(
            found.rpm_foreign.is_some() && found.call_late.is_some(),
            "{keys}: {found:?}"
        );
        // With a proxy no packet of the load travels end to end.
        assert_eq!(
            found.rpm.is_some(),
            !keys.contains("split-tcp"),
            "{keys}: {found:?}"
        );
    }
}
