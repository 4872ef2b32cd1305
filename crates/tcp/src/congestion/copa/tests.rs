//! The steps of §2.1 by hand, and the equilibrium of §3 over a queue.

use std::collections::VecDeque;

use super::*;
use crate::congestion::Repairing;

const MSS: u64 = 1000;

const fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn windows(segments: u64) -> Windows {
    Windows {
        mss: MSS,
        cwnd: segments * MSS,
        ssthresh: u64::MAX,
        max: u64::MAX,
    }
}

/// An acknowledgment of a segment with `in_flight` bytes in the network before it.
fn ack(now: Instant, rtt: Duration, in_flight: u64) -> Ack {
    Ack {
        now,
        delivered: MSS,
        marked: 0,
        lost: 0,
        rtt: Some(rtt),
        minimum_rtt: rtt,
        srtt: milliseconds(100),
        una: 0,
        nxt: 1,
        in_flight_before: in_flight,
        held_back: 0,
        in_flight: in_flight.saturating_sub(MSS),
        next_departure: now,
        delivered_in_all: 0,
        lost_in_all: 0,
        rate: None,
        repairing: Repairing::Nothing,
    }
}

fn start(windows: &Windows) -> Copa {
    Copa::start(&Config::default(), windows)
}

/// §2.1: 10 segments in 150 ms are 67 a second; at 100 ms of queueing delay the target is
/// 1/(0.5 × 0.1 s) = 20 a second, so the window falls by 1/(0.5 × 10) of a segment.
#[test]
fn a_queue_ends_slow_start_and_shrinks_the_window() {
    let mut windows = windows(10);
    let mut copa = start(&windows);
    let at = |count| Instant::ZERO + milliseconds(count);
    copa.observe(&ack(at(50), milliseconds(50), 10 * MSS), &mut windows);
    assert_eq!(windows.cwnd, 11 * MSS, "slow start");
    windows.cwnd = 10 * MSS;
    copa.observe(&ack(at(160), milliseconds(150), 10 * MSS), &mut windows);
    assert!(!copa.in_slow_start);
    assert_eq!(windows.cwnd, 10 * MSS - 200);
    // 2 × 9.8 segments in 150 ms.
    let bits = copa.demands().pacing_rate.as_bps();
    assert_eq!(bits, 2 * 9800 * 8 * 1000 / 150);
}

/// Above the target a step up: 1/(0.5 × 10) of a segment for each one delivered.
#[test]
fn below_the_target_the_window_grows_if_it_is_used() {
    let mut windows = windows(10);
    let mut copa = start(&windows);
    copa.in_slow_start = false;
    let now = Instant::ZERO + milliseconds(50);
    copa.observe(&ack(now, milliseconds(50), 4 * MSS), &mut windows);
    assert_eq!(windows.cwnd, 10 * MSS, "unused");
    copa.observe(&ack(now, milliseconds(50), 9 * MSS), &mut windows);
    assert_eq!(windows.cwnd, 10 * MSS + 200);
}

/// §2.2: in the default mode losses have no effect on the window.
#[test]
fn a_loss_leaves_the_window() {
    let mut windows = windows(10);
    let mut copa = start(&windows);
    copa.in_slow_start = false;
    let now = Instant::ZERO + milliseconds(50);
    copa.on_loss(&windows);
    let lossy = Ack {
        lost: MSS,
        repairing: Repairing::FastRecovery,
        ..ack(now, milliseconds(50), 9 * MSS)
    };
    copa.observe(&lossy, &mut windows);
    assert_eq!(windows.cwnd, 10 * MSS + 200);
}

/// A window never falls below two segments, whatever the queue.
#[test]
fn the_window_has_a_floor() {
    let mut windows = windows(3);
    let mut copa = start(&windows);
    let mut least = windows.cwnd;
    for count in 1..500 {
        let now = Instant::ZERO + milliseconds(10 * count);
        let rtt = milliseconds(if count == 1 { 10 } else { 500 });
        copa.observe(&ack(now, rtt, 3 * MSS), &mut windows);
        least = least.min(windows.cwnd);
    }
    assert_eq!(least, 2 * MSS);
}

/// The queue, in segments, and the time of each acknowledgment, of a single flow for `seconds`
/// over a link of a segment a millisecond and a round trip of 100 ms.
fn alone(seconds: u64) -> Vec<(Instant, u64)> {
    let (service, base) = (milliseconds(1), milliseconds(100));
    let mut windows = windows(10);
    let mut copa = start(&windows);
    let mut flying: VecDeque<(Instant, Instant, u64)> = VecDeque::new();
    let (mut free, mut next_departure) = (Instant::ZERO, Instant::ZERO);
    let (mut nxt, mut srtt) = (0, 0);
    let mut now = Instant::ZERO;
    let mut seen = Vec::new();
    while now < Instant::ZERO + milliseconds(seconds * 1000) {
        let in_flight = flying.len() as u64 * MSS;
        let answered = flying.front().map(|&(at, ..)| at);
        if in_flight + MSS <= windows.cwnd && answered.is_none_or(|at| next_departure < at) {
            now = now.max(next_departure);
            free = free.max(now) + service;
            nxt += MSS;
            flying.push_back((free + base, now, nxt));
            let rate = copa.demands().pacing_rate.as_bps();
            next_departure = now + Duration::from_nanos(MSS * 8 * 1_000_000_000 / rate);
            continue;
        }
        let Some((at, sent, end)) = flying.pop_front() else {
            break;
        };
        now = at;
        let rtt = now - sent;
        srtt = if srtt == 0 {
            rtt.as_nanos()
        } else {
            (7 * srtt + rtt.as_nanos()) / 8
        };
        let mut one = ack(now, rtt, in_flight);
        (one.una, one.nxt, one.srtt) = (end, nxt, Duration::from_nanos(srtt));
        copa.observe(&one, &mut windows);
        seen.push((now, (rtt - base - service).as_nanos() / service.as_nanos()));
    }
    seen
}

/// §3: one flow fills the link, and its queue moves between 0 and 2.5/δ segments in about five
/// round trips.
#[test]
fn alone_the_queue_empties_every_few_round_trips() {
    let seen = alone(60);
    let steady: Vec<_> = seen
        .iter()
        .filter(|(at, _)| *at > Instant::ZERO + milliseconds(20_000))
        .collect();
    let most = steady.iter().map(|(_, queue)| *queue).max();
    assert!(matches!(most, Some(3..=8)), "2.5/δ = 5: {most:?}");
    // 40 s at a segment a millisecond.
    assert!(steady.len() > 39_200, "{} segments", steady.len());
    let empty: Vec<_> = steady.iter().filter(|(_, queue)| *queue == 0).collect();
    let longest = empty.windows(2).map(|pair| pair[1].0 - pair[0].0).max();
    assert!(longest < Some(milliseconds(1000)), "{longest:?}");
}
