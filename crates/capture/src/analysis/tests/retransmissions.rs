//! Triggers of retransmissions, and whether they were needed.

use super::*;

/// Ten segments, the fifth is lost and repaired after three SACKs.
#[test]
fn a_loss_that_sack_reveals() {
    let mut script = Script::new(true);
    script.flow(100_000, 0, 20, 5_000);
    let start = 300_000;
    for place in 20..25 {
        script.data(start + u64::from(place - 20) * 1_000, place);
    }
    script.ack(start + RTT, 21, start, &[]);
    script.ack(start + 52_000, 21, start, &[(22, 23)]);
    script.ack(start + 53_000, 21, start, &[(22, 24)]);
    script.ack(start + 54_000, 21, start, &[(22, 25)]);
    script.data(start + 54_100, 21);
    script.ack(start + 104_100, 25, start + 54_100, &[]);
    script.flow(start + 110_000, 25, 20, 5_000);
    let analysis = script.analysis();
    let label = only(&analysis);
    assert_eq!(analysis.vantage.place, Place::Sender);
    assert_eq!((label.start, label.end, label.attempt), (21_000, 22_000, 1));
    assert_eq!((label.trigger, label.need), (Trigger::Fast, Need::Needed));
    assert_eq!(label.evidence, Evidence::OwnEcho);
    // Nothing queued.
    assert_eq!(
        (label.cause, label.loss),
        (Cause::Radio, Some(Cause::Radio))
    );
    let lost: Vec<u64> = analysis
        .sent
        .iter()
        .filter(|sent| sent.is_lost)
        .map(|sent| sent.start)
        .collect();
    assert_eq!(lost, [21_000]);
    assert_eq!(analysis.base_rtt, Some(Duration::from_micros(RTT)));
    assert!(analysis.stops.is_empty());
}

/// The link stops for a second: the timer expires twice, and the data in flight arrives.
#[test]
fn a_stop_and_needless_timeouts() {
    for has_timestamps in [true, false] {
        let mut script = Script::new(has_timestamps);
        script.flow(100_000, 0, 40, 5_000);
        let start = 400_000;
        for place in 40..45 {
            script.data(start + u64::from(place - 40) * 1_000, place);
        }
        script.data(start + 300_000, 40);
        script.data(start + 800_000, 40);
        for place in 40..45 {
            let time = start + 1_000_000 + u64::from(place - 40) * 500;
            script.ack(time, place + 1, start + u64::from(place - 40) * 1_000, &[]);
        }
        script.flow(start + 1_100_000, 45, 40, 5_000);
        let analysis = script.analysis();
        assert_eq!(analysis.labels.len(), 2);
        for (backoff, label) in (0..).zip(&analysis.labels) {
            assert_eq!((label.trigger, label.backoff), (Trigger::Timeout, backoff));
            assert_eq!(
                (label.need, label.cause),
                (Need::Needless, Cause::DelaySpike)
            );
            let proof = Evidence::EarlierEcho;
            assert!(label.evidence == proof || !has_timestamps, "{label:?}");
        }
        assert_eq!(analysis.losses(), 0);
        assert_eq!(analysis.stops.len(), 1);
        let stop = analysis.stops[0];
        assert_eq!(
            (stop.start, stop.end),
            (at(start + RTT), at(start + 1_000_000))
        );
        let held = analysis.shares.time(Limit::Held);
        assert_eq!(held, Duration::from_micros(1_000_000 - RTT));
        assert_eq!(analysis.shares.time(Limit::Timeout), Duration::ZERO);
    }
}

/// A retransmission that the receiver reports as a duplicate.
#[test]
fn a_dsack_proves_a_retransmission_needless() {
    let mut script = Script::new(false);
    script.flow(100_000, 0, 20, 5_000);
    let start = 300_000;
    for place in 20..25 {
        script.data(start + u64::from(place - 20) * 1_000, place);
    }
    // 21 is overtaken by three.
    script.ack(start + RTT, 21, 0, &[]);
    script.ack(start + 52_000, 21, 0, &[(22, 23)]);
    script.ack(start + 53_000, 21, 0, &[(22, 24)]);
    script.ack(start + 54_000, 21, 0, &[(22, 25)]);
    script.data(start + 54_100, 21);
    script.ack(start + 60_000, 25, 0, &[]);
    script.ack(start + 104_100, 25, 0, &[(21, 22)]);
    script.flow(start + 110_000, 25, 20, 5_000);
    let label = only(&script.analysis());
    assert_eq!((label.trigger, label.need), (Trigger::Fast, Need::Needless));
    assert_eq!(
        (label.evidence, label.cause),
        (Evidence::Dsack, Cause::Reordering)
    );
    assert_eq!(label.overtaken_by, 4 * u64::from(MSS));
    assert_eq!(label.late_by, Some(Duration::from_micros(5_900)));
}

/// Without timestamps and D-SACK an answer that comes too soon makes it likely.
#[test]
fn an_answer_that_comes_too_soon() {
    let mut script = Script::new(false);
    script.flow(100_000, 0, 20, 5_000);
    let start = 300_000;
    for place in 20..25 {
        script.data(start + u64::from(place - 20) * 1_000, place);
    }
    script.ack(start + RTT, 21, 0, &[]);
    for end in 23..=25 {
        script.ack(start + 29_000 + u64::from(end) * 1_000, 21, 0, &[(22, end)]);
    }
    script.data(start + 54_100, 21);
    script.ack(start + 60_000, 25, 0, &[]);
    script.flow(start + 110_000, 25, 20, 5_000);
    let label = only(&script.analysis());
    assert_eq!(
        (label.need, label.evidence),
        (Need::Needless, Evidence::TooSoon)
    );
    assert_eq!(label.evidence.sureness(), "likely");
}

/// A whole flight is lost: the timer, its backoff, and the recovery after it.
#[test]
fn timeouts_that_were_needed() {
    let mut script = Script::new(true);
    script.flow(100_000, 0, 40, 5_000);
    let start = 400_000;
    for place in 40..44 {
        script.data(start + u64::from(place - 40) * 1_000, place);
    }
    let first = start + 300_000;
    script.data(first, 40);
    let second = first + 500_000;
    script.data(second, 40);
    script.ack(second + RTT, 41, second, &[]);
    script.data(second + RTT + 100, 41);
    script.data(second + RTT + 110, 42);
    script.ack(second + 2 * RTT + 100, 42, second + RTT + 100, &[]);
    script.ack(second + 2 * RTT + 110, 43, second + RTT + 110, &[]);
    script.data(second + 2 * RTT + 200, 43);
    script.ack(second + 3 * RTT + 200, 44, second + 2 * RTT + 200, &[]);
    script.flow(second + 4 * RTT, 44, 40, 5_000);
    let analysis = script.analysis();
    let seen: Vec<_> = analysis
        .labels
        .iter()
        .map(|label| {
            (
                label.start / 1000,
                label.trigger,
                label.backoff,
                label.cause,
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            (40, Trigger::Timeout, 0, Cause::TailOfFlight),
            (40, Trigger::Timeout, 1, Cause::LostRetransmission),
            (41, Trigger::GoOn, 0, Cause::Radio),
            (42, Trigger::GoOn, 0, Cause::Radio),
            (43, Trigger::GoOn, 0, Cause::Radio),
        ]
    );
    assert!(
        analysis
            .labels
            .iter()
            .all(|label| label.need == Need::Needed)
    );
    assert!(analysis.stops.is_empty(), "{:?}", analysis.stops);
    let waited = analysis.shares.time(Limit::Timeout);
    let expected = Duration::from_micros(300_000 - 3_000 + 500_000);
    assert_eq!(waited, expected);
}

/// The last segment of a flight is lost: a probe after two round trips (RFC 8985 §7.2).
/// Neither SACK nor timestamps: a path that keeps the order shows which packet an ACK answers.
#[test]
fn without_options_the_order_tells() {
    let mut script = Script::new(false);
    for (.., segment) in &mut script.packets {
        segment.sack_permitted = false;
    }
    script.flow(100_000, 0, 10, 5_000);
    let begun = 1_000_000;
    for place in 10..20 {
        script.data(begun + u64::from(place - 10) * 100, place);
    }
    // 10 is lost, the others prompt duplicates.
    for place in 1..10 {
        script.ack(begun + RTT + place * 100, 10, 0, &[]);
    }
    let repaired = begun + RTT + 350;
    script.data(repaired, 10);
    // Later retransmissions are of data that had arrived before: the answer covers all.
    script
        .data(repaired + 10_000, 11)
        .data(repaired + 10_100, 12);
    script.ack(repaired + RTT, 20, 0, &[]);
    script.ack(repaired + RTT + 10_000, 20, 0, &[]);
    script.ack(repaired + RTT + 10_100, 20, 0, &[]);
    // Of the next, 21 and 23 are lost, and 22 and 24 repeated needlessly, each after a hole: a pair
    // is acknowledged, then a duplicate.
    let begun = 2_000_000;
    for place in 20..25 {
        script.data(begun + u64::from(place - 20) * 100, place);
    }
    script.ack(begun + RTT, 21, 0, &[]);
    for place in [2, 4] {
        script.ack(begun + RTT + place * 100, 21, 0, &[]);
    }
    let repaired = begun + RTT + 200_000;
    for place in 21..25 {
        script.data(repaired + u64::from(place) * 100, place);
    }
    let answered = |place: u64| repaired + place * 100 + RTT;
    script.ack(answered(21), 23, 0, &[]);
    script.ack(answered(22), 23, 0, &[]);
    script.ack(answered(23), 25, 0, &[]);
    script.ack(answered(24), 25, 0, &[]);
    let seen: Vec<_> = script
        .analysis()
        .labels
        .iter()
        .map(|label| (label.start / 1000, label.need, label.evidence))
        .collect();
    let needed = |place| (place, Need::Needed, Evidence::Answered);
    let needless = |place| (place, Need::Needless, Evidence::RepairedBefore);
    assert_eq!(
        seen,
        [
            needed(10),
            needless(11),
            needless(12),
            needed(21),
            needless(22),
            needed(23),
            needless(24),
        ]
    );
}

#[test]
fn a_tail_loss_probe() {
    let mut script = Script::new(true);
    script.flow(100_000, 0, 40, 5_000);
    let start = 400_000;
    for place in 40..44 {
        script.data(start + u64::from(place - 40) * 1_000, place);
    }
    for place in 40..42 {
        let time = start + u64::from(place - 40) * 1_000;
        script.ack(time + RTT, place + 1, time, &[]);
    }
    let probe = start + RTT + 101_000;
    script.data(probe, 43);
    script.ack(probe + RTT, 42, start + 1_000, &[(43, 44)]);
    script.data(probe + RTT + 100, 42);
    script.ack(probe + 2 * RTT + 100, 44, probe + RTT + 100, &[]);
    script.flow(probe + 3 * RTT, 44, 40, 5_000);
    let analysis = script.analysis();
    let seen: Vec<_> = analysis
        .labels
        .iter()
        .map(|label| (label.start / 1000, label.trigger, label.need, label.cause))
        .collect();
    assert_eq!(
        seen,
        [
            (43, Trigger::TailProbe, Need::Needed, Cause::TailOfFlight),
            (42, Trigger::Fast, Need::Needed, Cause::Radio),
        ]
    );
}
