//! The rule of the target by hand, and the window over a path.

use super::*;
use crate::congestion::pcc::testbed::{MSS, Path, ack, alone, utilization, windows};
use crate::delivery_rate::RateSample;

const fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn delays(largest: u64, target: u64) -> Delays {
    Delays {
        minimum: milliseconds(50),
        epoch: Duration::ZERO,
        largest: milliseconds(largest),
        target: milliseconds(target),
    }
}

/// With R = 2: from 100 ms of target to 98 where the maximum is over 2 × 50 ms, to 99 where delays
/// grow, to 102 where they do not; never below the minimum.
#[test]
fn the_target_moves_by_the_trend_of_the_delays() {
    let after = |largest, epoch, target| {
        let mut delays = delays(largest, target);
        let stops = delays.end_epoch(milliseconds(epoch), 2.0, false);
        (delays.target, stops)
    };
    assert_eq!(after(101, 90, 100), (milliseconds(98), false));
    assert_eq!(after(80, 81, 100), (milliseconds(99), false));
    assert_eq!(after(80, 80, 100), (milliseconds(102), false));
    assert_eq!(after(80, 70, 100), (milliseconds(102), false));
    assert_eq!(after(101, 90, 51), (milliseconds(50), true));
    assert_eq!(after(80, 81, 50), (milliseconds(50), false));
}

/// The average keeps a fifth of the old value.
#[test]
fn the_largest_delay_is_averaged() {
    let mut delays = delays(100, 100);
    delays.end_epoch(milliseconds(50), 6.0, true);
    assert_eq!(
        delays.target,
        milliseconds(100),
        "the application is the limit"
    );
    assert_eq!(delays.largest, milliseconds(60));
}

/// A sender at 100 segments, with the profile of a link of a segment a millisecond and 50 ms.
fn at_rest(now: Instant) -> (Verus, Windows) {
    let mut windows = windows();
    windows.cwnd = 100 * MSS;
    let mut verus = Verus::start(&Config::default(), &windows);
    for window in 2..=200 {
        verus.profile.add(window, milliseconds(window.max(50)));
    }
    verus.profile.refresh(now);
    verus.phase = Phase::Normal;
    verus.delays = delays(100, 100);
    (verus.epoch_ends, verus.last_ack) = (now + EPOCH, now);
    (verus, windows)
}

fn sent_at(window: u64, now: Instant, rtt: Duration) -> Ack {
    Ack {
        rate: Some(RateSample {
            delivered: MSS,
            interval: rtt,
            prior_delivered: 0,
            lost: 0,
            in_flight_at_send: window * MSS,
            application_limited: false,
        }),
        ..ack(now, Some(rtt), window * MSS)
    }
}

/// Four epochs without growth are 8 ms more of target and eight segments more, at 1 ms a segment.
#[test]
fn the_window_goes_with_the_target() {
    let start = Instant::ZERO + milliseconds(1000);
    let (mut verus, mut windows) = at_rest(start);
    for epoch in 1..=4 {
        verus.delays.epoch = milliseconds(100);
        let now = start + EPOCH * epoch;
        verus.observe(&sent_at(100, now, milliseconds(100)), &mut windows);
    }
    assert_eq!(verus.delays.target, milliseconds(108));
    let segments = windows.cwnd / MSS;
    assert!(segments.abs_diff(108) <= 2, "{segments}");
}

/// 7/10 of the window at which the segment was sent, no learning, one segment a window more,
/// until segments of the smaller window are acknowledged.
#[test]
fn a_loss_keeps_seven_tenths_and_learns_nothing() {
    let start = Instant::ZERO + milliseconds(1000);
    let (mut verus, mut windows) = at_rest(start);
    let now = start + milliseconds(1);
    verus.observe(&sent_at(100, now, milliseconds(100)), &mut windows);
    verus.on_loss(&windows);
    assert_eq!((verus.phase, verus.window), (Phase::Loss, 70.0));
    let before = verus.profile.delay(100.0);
    verus.observe(&sent_at(100, now, milliseconds(400)), &mut windows);
    verus.on_loss(&windows);
    assert!((verus.window - (70.0 + 1.0 / 70.0)).abs() < 1e-9, "once");
    assert_eq!(verus.profile.delay(100.0), before);
    verus.observe(&sent_at(70, now, milliseconds(80)), &mut windows);
    assert_eq!(verus.phase, Phase::Normal);
}

/// A silence of 100 ms: twenty epochs with growing delays, 1 ms less of target each.
#[test]
fn epochs_without_acknowledgments_are_caught_up_on() {
    let start = Instant::ZERO + milliseconds(1000);
    let (mut verus, mut windows) = at_rest(start);
    verus.delays.epoch = milliseconds(100);
    let now = start + milliseconds(200);
    verus.observe(&sent_at(100, now, milliseconds(200)), &mut windows);
    // One without growth, then 100 ms until the silence is longer than the average.
    let target = verus.delays.target.as_nanos() / 1_000_000;
    assert!((100..145).contains(&target), "{target}");
    assert!(verus.delays.largest > milliseconds(150));
}

/// Alone on a link of 8 Mbit/s and 50 ms with a deep queue: all of the link, within R = 6 times the
/// minimum delay.
#[test]
fn alone_it_fills_the_path_within_its_ratio() {
    let path = Path {
        rate: BitRate::from_bps(8_000_000),
        rtt: milliseconds(50),
        queue: 1000,
        loses_every: None,
    };
    let windows = windows();
    let mut verus = Verus::start(&Config::default(), &windows);
    let seen = alone(&mut verus, &path, 60);
    let share = utilization(&seen, &path, 60);
    assert!(share > 0.95, "{share}");
    let late = Instant::ZERO + Duration::from_secs(30);
    let longest = seen
        .iter()
        .filter(|one| one.at > late)
        .map(|one| one.queued)
        .max();
    assert!(longest < Some(milliseconds(400)), "{longest:?}");
}

/// `SS_EXIT_THRESHOLD`: each slow start ends with its first acknowledgment, and a profile of one
/// point holds no target. A segment of 1000 bytes each 600 ms is 13.3 kbit/s of 8 Mbit/s.
#[test]
fn a_round_trip_over_half_a_second_keeps_the_window_at_a_segment() {
    let path = Path {
        rate: BitRate::from_bps(8_000_000),
        rtt: milliseconds(600),
        queue: 1000,
        loses_every: None,
    };
    let windows = windows();
    let seen = alone(&mut Verus::start(&Config::default(), &windows), &path, 60);
    let share = utilization(&seen, &path, 60);
    assert!(share < 0.003, "{share}");
}
