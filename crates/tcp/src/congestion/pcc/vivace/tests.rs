//! The phases by hand, and the rate over a path.

use super::super::sender::Sender;
use super::super::testbed::{self, MSS, Path, alone, utilization, windows};
use super::*;
use crate::congestion::Ack;
use crate::congestion::model::Model;
use crate::congestion::rule::Start;

const fn megabits_a_second(count: u64) -> BitRate {
    BitRate::from_bps(count * 1_000_000)
}

fn start() -> Vivace {
    Vivace::new(&Config::default(), &windows())
}

fn sender() -> Sender<Vivace> {
    Sender::start(&Config::default(), &windows())
}

/// Probes of 100 Mbit/s that lose `lost` of 1000 segments, while round trips grow by `growth`
/// microseconds a millisecond.
fn measured(faster: bool, lost: u64, growth: u64) -> Measured {
    let rate = probe(megabits_a_second(100), faster);
    let mut one = Measured {
        rate,
        sent_rate: rate,
        span: Duration::from_millis(30),
        sent: 1000 * MSS,
        lost: lost * MSS,
        round_trips: Default::default(),
        application_limited: false,
    };
    for count in 0..30 {
        let rtt = Duration::from_micros(30_000 + count * growth);
        one.round_trips.add(Duration::from_millis(count), rtt);
    }
    one
}

fn moved(vivace: &mut Vivace, faster: &Measured, slower: &Measured) -> f64 {
    megabits(vivace.moved(faster, slower, megabits_a_second(100), MSS))
}

/// Without losses and delay the gradient is that of x^0.9 between 95 and 105 Mbit/s, 0.568,
/// and so is the first step.
#[test]
fn the_first_step_is_the_gradient() {
    let rate = moved(&mut start(), &measured(true, 0, 0), &measured(false, 0, 0));
    assert!((rate - 100.568).abs() < 1e-3, "{rate}");
}

/// Round trips that grow by 5 % in the faster interval: 900 × 105 × 0.05 of utility less, so that
/// the step reaches its bound. Growth below 1 % is noise.
#[test]
fn growing_round_trips_lower_the_rate() {
    let rate = moved(&mut start(), &measured(true, 0, 50), &measured(false, 0, 0));
    assert!((rate - 95.0).abs() < 1e-3, "{rate}");
    let rate = moved(&mut start(), &measured(true, 0, 9), &measured(false, 0, 9));
    assert!(rate > 100.5, "{rate}");
}

/// Equal loss rates p lower the gradient by 11.35·p: at 4 % it is 0.114, at 6 % negative.
#[test]
fn losses_up_to_five_per_cent_are_tolerated() {
    let rate = |lost| {
        let (faster, slower) = (measured(true, lost, 0), measured(false, lost, 0));
        moved(&mut start(), &faster, &slower)
    };
    assert!((rate(40) - 100.114).abs() < 1e-2, "{}", rate(40));
    assert!(rate(60) < 100.0);
}

/// Fewer losses at the faster rate, above 5 %, are measured once more; then they count.
#[test]
fn losses_that_fall_with_the_rate_are_measured_once_more() {
    let mut vivace = start();
    let (faster, slower) = (measured(true, 40, 0), measured(false, 80, 0));
    assert_eq!(moved(&mut vivace, &faster, &slower), 100.0);
    assert!(moved(&mut vivace, &faster, &slower) > 100.0);
    assert_eq!(moved(&mut vivace, &faster, &slower), 100.0);
}

/// A pause of the application is no measurement.
#[test]
fn limited_probes_leave_the_rate() {
    let mut slower = measured(false, 0, 0);
    slower.application_limited = true;
    assert_eq!(moved(&mut start(), &measured(true, 0, 0), &slower), 100.0);
}

/// 100 Mbit/s and 30 ms, the path of the paper's experiments.
const fn path(queue: u64, loses_every: Option<u64>) -> Path {
    Path {
        rate: megabits_a_second(100),
        rtt: Duration::from_millis(30),
        queue,
        loses_every,
    }
}

/// The initial window in a round trip, then twice the rate while the utility grows: 10 segments
/// of 1000 bytes in 30.08 ms are 2.6 Mbit/s, and half of what fills the path is kept.
#[test]
fn the_start_doubles_until_the_path_is_full() {
    let mut vivace = sender();
    let seen = alone(&mut vivace, &path(100, None), 2);
    let mut rates: Vec<u64> = seen.iter().map(|one| one.pace.as_bps() / 10_000).collect();
    rates.dedup();
    assert_eq!(rates[..6], [265, 531, 1063, 2127, 4255, 8510], "{rates:?}");
    assert!(matches!(vivace.learner.phase, Phase::Learning(_)));
}

/// A flow alone: nearly all of the path, and almost no queue.
#[test]
fn alone_it_fills_the_path_without_a_queue() {
    let path = path(375, None);
    let seen = alone(&mut sender(), &path, 40);
    let share = utilization(&seen, &path, 40);
    assert!(share > 0.9, "{share}");
    let late = Instant::ZERO + Duration::from_secs(20);
    let late = seen.iter().filter(|one| one.at > late);
    let queued = late.map(|one| one.queued.as_nanos());
    let mean = queued.clone().sum::<u64>() / queued.count() as u64;
    assert!(mean < 3_000_000, "{mean} ns");
}

/// A queue of a few segments suffices.
#[test]
fn a_shallow_queue_suffices() {
    let path = path(10, None);
    let share = utilization(&alone(&mut sender(), &path, 40), &path, 40);
    assert!(share > 0.85, "{share}");
}

/// Random loss that no rate avoids: at 3 % the utility still grows with the rate.
#[test]
fn steady_losses_below_the_bound_do_not_matter() {
    let path = path(375, Some(33));
    let share = utilization(&alone(&mut sender(), &path, 40), &path, 40);
    assert!(share > 0.8, "{share}");
}

/// A timeout halves the rate and forgets the intervals.
#[test]
fn a_timeout_halves_the_rate() {
    let mut vivace = sender();
    let mut windows = windows();
    let rtt = Duration::from_millis(30);
    vivace.observe(
        &testbed::ack(Instant::ZERO + rtt, Some(rtt), 0),
        &mut windows,
    );
    let before = vivace.demands().pacing_rate.as_bps();
    assert_eq!(before, 10 * MSS * 8 * 1000 / 30);
    vivace.on_timeout();
    assert_eq!(vivace.demands().pacing_rate.as_bps(), before / 2);
    assert_eq!(vivace.monitor.useful(), 0);
    assert!(matches!(vivace.learner.phase, Phase::Learning(_)));
}

/// Forty timeouts of an outage, and an acknowledgment: two segments a round trip, from which the
/// rate climbs.
#[test]
fn an_outage_leaves_a_rate_that_can_climb() {
    let mut vivace = sender();
    let mut windows = windows();
    let rtt = Duration::from_millis(40);
    let mut now = Instant::ZERO + rtt;
    let mut answer = |vivace: &mut Sender<Vivace>, now| {
        let acknowledgment = Ack {
            srtt: rtt,
            ..testbed::ack(now, Some(rtt), 0)
        };
        vivace.observe(&acknowledgment, &mut windows);
    };
    answer(&mut vivace, now);
    for _ in 0..40 {
        vivace.on_timeout();
    }
    now += Duration::from_secs(60);
    answer(&mut vivace, now);
    let lowest = 2 * MSS * 8 * 1000 / 40;
    let rate = vivace.demands().pacing_rate.as_bps();
    assert!(
        (lowest * 9 / 10..=lowest * 11 / 10).contains(&rate),
        "{rate}"
    );
}
