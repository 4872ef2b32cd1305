//! A link on which frames overtake a retransmitted one, in a whole system.

use super::*;
use crate::result::FlowSummary;

/// A mobile uploads; nothing is lost permanently, every tenth data frame is retransmitted 20 ms
/// later, and its successors overtake it. The window is the path's: there is no congestion.
const UPLOAD: &str = "duration = '30 s'\ntopology = 'selective-repeat'\nflows.direction = 'up'\n\
    tcp.profile = 'sack'\ntcp.max_window = 40\ntcp.delayed_ack.segments = 1\n\
    [selective_repeat]\nretry_limit = 'unlimited'\nwindow = 'unlimited'\nloss.rate = 0.1\n\
    [wired]\ndelay = '20 ms'\n";

fn flow(text: &str, remedies: &str) -> FlowSummary {
    let scenario = scenario(text).with_remedies(remedies).expect("remedies");
    summary(&scenario, 3).flows.remove(0)
}

/// Every loss that the sender sees is reordering: three duplicates arrive long before the
/// retransmission. A reordering buffer prevents them, a threshold above the number that can
/// overtake and RACK's window nearly all of them; Eifel undoes them.
#[test]
fn reordering_is_what_each_remedy_against_it_says() {
    let plain = flow(UPLOAD, "");
    assert!(
        plain.sending.fast_retransmits > 100,
        "{}",
        plain.sending.fast_retransmits
    );
    assert_eq!(plain.losses.segments_lost_link, 0);
    assert!(plain.losses.duplicate_segments_received >= plain.sending.fast_retransmits);

    let in_order = UPLOAD.replace("loss.rate", "order = 'in-order'\nloss.rate");
    assert_eq!(flow(&in_order, "").sending.fast_retransmits, 0);

    // RACK's window starts at a quarter of a round trip, 11 ms, and must learn from DSACK.
    for (remedy, fewer) in [("dupack-threshold:segments=60", 10), ("rack-tlp", 2)] {
        let other = flow(UPLOAD, remedy);
        let seen = told(remedy, &other, &plain);
        assert!(
            other.sending.fast_retransmits * fewer < plain.sending.fast_retransmits,
            "{seen}"
        );
        assert!(
            other.delivery.goodput_bps > 2.0 * plain.delivery.goodput_bps,
            "{seen}"
        );
    }

    let undone = flow(UPLOAD, "eifel");
    let seen = told("eifel", &undone, &plain);
    assert!(
        undone.sending.recoveries_taken_back * 10 > undone.sending.fast_retransmits * 9,
        "{seen}"
    );
    assert!(
        undone.delivery.goodput_bps > 2.0 * plain.delivery.goodput_bps,
        "{seen}"
    );
}

fn told(remedy: &str, with: &FlowSummary, without: &FlowSummary) -> String {
    format!(
        "{remedy}: {} fast retransmits, {} without; {:.0} bit/s, {:.0} without",
        with.sending.fast_retransmits,
        without.sending.fast_retransmits,
        with.delivery.goodput_bps,
        without.delivery.goodput_bps
    )
}

/// The dynamic threshold (Srinivasan §3.2) falls back when the link has closed the gap, and the
/// duplicates arrive a round trip later: it helps where LL_RTO is longer than the round trip, here
/// 150 ms against 44, and not where it is shorter.
#[test]
fn a_dynamic_threshold_needs_a_link_slower_than_the_path() {
    let remedy = "wsc-dynamic-dupack:capped=0";
    let slow = UPLOAD.replace("loss.rate", "retry_timeout = '150 ms'\nloss.rate");
    let (plain, with) = (flow(&slow, ""), flow(&slow, remedy));
    let seen = told(remedy, &with, &plain);
    assert!(
        with.sending.fast_retransmits * 5 < plain.sending.fast_retransmits * 4,
        "{seen}"
    );
    assert!(
        with.delivery.goodput_bps > 2.0 * plain.delivery.goodput_bps,
        "{seen}"
    );
    let (plain, with) = (flow(UPLOAD, ""), flow(UPLOAD, remedy));
    let seen = told(remedy, &with, &plain);
    assert!(
        with.delivery.goodput_bps < 1.1 * plain.delivery.goodput_bps,
        "{seen}"
    );
}

/// Of packets transmitted n times at most p^n are lost: here 1 %, counted only for data.
#[test]
fn the_retry_limit_decides_what_is_lost() {
    let text = UPLOAD
        .replace("retry_limit = 'unlimited'", "retry_limit = 2")
        .replace("'sack'", "'linux'");
    let flow = flow(&text, "");
    let (lost, sent) = (
        flow.losses.segments_lost_link as f64,
        flow.sending.segments_sent as f64,
    );
    let error = (0.01 * 0.99 / sent).sqrt();
    assert!((lost / sent - 0.01).abs() < 4.0 * error, "{lost} of {sent}");
    assert_eq!(
        flow_attempts(&text, "inf-retry").losses.segments_lost_link,
        0
    );
}

fn flow_attempts(text: &str, remedies: &str) -> FlowSummary {
    let flow = flow(text, remedies);
    let mean = flow.air.attempts_on_air as f64 / flow.air.packets_on_air as f64;
    // Data is damaged one time in ten; acknowledgments, equally many, never.
    assert!((mean - (1.0 + 1.0 / 0.9) / 2.0).abs() < 0.02, "{mean}");
    flow
}

/// The link reports its timeout: a sender that corrects for it uses that, whatever its remedy's
/// parameter. One without a report uses the parameter.
#[test]
fn the_links_timeout_is_told() {
    let alone = UPLOAD
        .replace("loss.rate", "retry_timeout = '80 ms'\nloss.rate")
        .replace(
            "tcp.max_window = 40",
            "tcp.max_window = 1\ntcp.min_rto = '1 ms'",
        );
    let untold = alone.replace("loss.rate", "tell_retry_timeout = false\nloss.rate");
    let timeouts = |text: &str, remedy: &str| flow(text, remedy).sending.timeouts;
    let by_parameter = ["5ms", "80ms"].map(|rto| {
        let remedy = format!("wsc-corrected-rtt:link-rto={rto}");
        (timeouts(&untold, &remedy), timeouts(&alone, &remedy))
    });
    let [(untold_5, told_5), (untold_80, told_80)] = by_parameter;
    assert_eq!(told_5, told_80);
    assert_eq!(told_80, untold_80);
    // A correction by all of the link's time leaves a timer for the path only: every retransmission
    // of the link fires it.
    assert!(untold_80 > untold_5, "{untold_80} of {untold_5}");
}

/// A link at both ends: data is damaged on both, and so twice as often.
#[test]
fn there_can_be_such_a_link_at_both_ends() {
    let text = UPLOAD.replace("'selective-repeat'", "'selective-repeat-both-ends'");
    let flow = flow(&text, "dupack-threshold:segments=60");
    let packets = flow.air.packets_on_air as f64;
    let retransmitted = flow.air.attempts_on_air as f64 - packets;
    // Of four passages of the air two carry data.
    assert!((retransmitted / packets - 0.1 / 0.9 / 2.0).abs() < 0.01);
    assert!(flow.latency.min_rtt_ms.expect("a sample") > 44.0);
    assert_eq!(flow.losses.segments_lost_link, 0);
}
