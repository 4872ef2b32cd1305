//! Paths that change: which round trips are a path's, and which are a queue's.

use super::super::path_phases::{self, Phase};
use super::*;

/// A transmission at `time` in milliseconds, answered after `rtt`, with `segments` in flight.
fn answered(time: u64, rtt: u64, segments: u32) -> Sent {
    let time = Instant::ZERO + Duration::from_millis(time);
    let start = time.as_nanos() / 1000;
    Sent {
        time,
        number: start,
        start,
        end: start + u64::from(MSS),
        ip_bytes: MSS + 40,
        in_flight: segments * MSS,
        acknowledged: time + Duration::from_millis(rtt),
        is_measured: true,
        ..transmission()
    }
}

/// Acknowledgments of these transmissions, one by one.
fn acknowledgments(sent: &[Sent]) -> Vec<Ack> {
    let mut times: Vec<Instant> = sent.iter().map(|packet| packet.acknowledged).collect();
    times.sort_unstable();
    let acks = (1..).zip(times).map(|(count, time)| Ack {
        time,
        number: count,
        acknowledged: count * u64::from(MSS),
        delivered: count * u64::from(MSS),
        newly: MSS,
        in_flight: 0,
        payload: 0,
        window: None,
        sacked_high: None,
        is_duplicate: false,
        has_dsack: false,
        has_echo: false,
        missing_before: 0,
        is_crowded: false,
        timestamp: None,
        timestamp_echo: None,
    });
    acks.collect()
}

fn phases(sent: &[Sent], acking: &Acking) -> Vec<(u64, u64)> {
    let shown = |phase: &Phase| {
        let millis = |nanos: u64| nanos / 1_000_000;
        (millis(phase.from.as_nanos()), millis(phase.base.as_nanos()))
    };
    let acks = acknowledgments(sent);
    path_phases::find(sent, &acks, acking)
        .iter()
        .map(shown)
        .collect()
}

/// 6 s at 30 ms, 6 s at 60 ms; of ten packets `near` meet no queue, the others 20 ms of it.
fn two_phases(near: u64) -> Vec<Sent> {
    (0..1200)
        .map(|number| {
            let base = if number < 600 { 30 } else { 60 };
            let queue = if number % 10 < near { 0 } else { 20 };
            answered(number * 10, base + queue, 20 + number as u32 % 20)
        })
        .collect()
}

/// Bunched acknowledgments queue independently of the bytes in flight: more round trips have to be
/// near the shortest for a path.
#[test]
fn bunched_acknowledgments_need_more_round_trips_near_the_shortest() {
    let even = Acking::default();
    let bunched = Acking {
        compressed: 21,
        acks: 100,
        ..Acking::default()
    };
    let found = [(0, 30), (6000, 60)];
    assert_eq!(phases(&two_phases(6), &even), found);
    assert_eq!(phases(&two_phases(6), &bunched), []);
    assert_eq!(phases(&two_phases(7), &bunched), found);
    assert_eq!(phases(&two_phases(5), &even), []);
}

/// A full queue that others fill has a constant delay, too; it drops.
#[test]
fn a_full_queue_is_no_longer_path() {
    let mut sent = two_phases(9);
    for packet in sent[600..].iter_mut().step_by(20) {
        packet.attempt = 1;
    }
    assert_eq!(phases(&sent, &Acking::default()), []);
    // With as many losses on the way before it is a path that loses.
    for packet in sent[..600].iter_mut().step_by(20) {
        packet.attempt = 1;
    }
    assert_eq!(phases(&sent, &Acking::default()).len(), 2);
}

/// A sender that keeps the link full, a packet a millisecond: a queue of 30 ms over paths of 40 and
/// of 90 ms, drained for 0.2 s every 4 s. `queued` is the delay of others' packets from 8 s on.
fn drained(second_base: u64, queued: u64, rate_percent: u64) -> Vec<Sent> {
    let mut sent = Vec::new();
    for time in 0..16_000 {
        let is_second = time >= 8000;
        if is_second && time % 100 >= rate_percent {
            continue;
        }
        let base = if is_second { second_base } else { 40 };
        let others = if is_second { queued } else { 0 };
        let is_drained = time % 4000 >= 3800;
        if is_drained && time % 20 > 3 {
            continue;
        }
        let (queue, segments) = if is_drained {
            (2, 4)
        } else {
            (30, base as u32 + 30)
        };
        sent.push(answered(time, base + queue + others, segments));
    }
    sent
}

#[test]
fn a_drained_queue_shows_the_path() {
    let acking = Acking::default();
    let found = phases(&drained(90, 0, 100), &acking);
    assert_eq!(found, [(0, 42), (8000, 92)]);
    let shorter = phases(&drained(20, 0, 100), &acking);
    assert_eq!(shorter.len(), 2, "{shorter:?}");
    assert_eq!(shorter[1].1, 22);
    assert_eq!(phases(&drained(40, 0, 100), &acking), []);
}

/// The same round trips with half of the link's rate: others have the other half, and fill its
/// queue.
#[test]
fn a_queue_of_others_is_no_longer_path() {
    let acking = Acking::default();
    assert_eq!(phases(&drained(40, 50, 100), &acking).len(), 2);
    assert_eq!(phases(&drained(40, 50, 50), &acking), []);
}

/// A receiver that waits for more segments delays its acknowledgments while few are in flight.
#[test]
fn delayed_acknowledgments_are_no_longer_path() {
    let stretched = Acking {
        segments: [0, 0, 0, 10, 0, 0, 0, 0],
        ..Acking::default()
    };
    assert_eq!(phases(&drained(90, 0, 100), &stretched), []);
}

/// Paths of 40 ms, and from 6 s on of 90 ms. There a timer repeats a segment 40 ms before an
/// acknowledgment covers it, which the longer path excludes as an answer to the repetition.
#[test]
fn an_answer_that_comes_too_soon_for_the_longer_path() {
    let mut script = Script::new(false);
    let mut segment = 0;
    for round in 0..240_u32 {
        let start = 100_000 + u64::from(round) * 50_000;
        let rtt = if start < 6_000_000 { 40_000 } else { 90_000 };
        for place in 0..10 {
            let time = start + place * 100;
            script.data(time, segment);
            if round == 200 && place == 9 {
                script.data(time + 100_000, segment);
            } else {
                script.ack(time + rtt, segment + 1, time, &[]);
            }
            segment += 1;
        }
    }
    let analysis = script.analysis();
    assert_eq!(analysis.phases.len(), 2, "{:?}", analysis.phases);
    let label = only(&analysis);
    assert_eq!(label.evidence, Evidence::TooSoon);
    assert_eq!(label.need, Need::Needless);
}
