//! Decisions and steps by hand, and the rate over a path.

use super::super::sender::Sender;
use super::super::testbed::{MSS, Path, alone, utilization, windows};
use super::*;
use crate::congestion::rule::Start;

fn config(congestion: CongestionControl) -> Config {
    Config {
        congestion,
        ..Config::default()
    }
}

fn start(congestion: CongestionControl) -> Proteus {
    Proteus::new(&config(congestion), &windows())
}

/// Pairs of probes of 100 Mbit/s: the faster first, with more utility by so much.
fn pairs<const N: usize>(gains: [f64; N]) -> Vec<Point> {
    let mut points = Vec::new();
    for gain in gains {
        points.push(Point {
            rate: 105.0,
            value: 50.0 + gain,
        });
        points.push(Point {
            rate: 95.0,
            value: 50.0,
        });
    }
    points
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
}

/// A primary sender: two of three pairs for more, all three for less. The step begins at the probed
/// rate: 10 of utility in two of three pairs over 10 Mbit/s are a gradient of 2/3.
#[test]
fn a_majority_decides_for_more_and_all_for_less() {
    let decided = |gains| start(CongestionControl::ProteusP).decided(&pairs(gains), 100.0);
    near(decided([10.0, 10.0, -10.0]), 105.0 + 2.0 / 3.0);
    near(decided([10.0, -10.0, -10.0]), 100.0);
    near(decided([-10.0, -10.0, -10.0]), 95.0 - 1.0);
}

/// A scavenger: both pairs, for either.
#[test]
fn a_scavenger_needs_both_pairs() {
    let decided = |gains| start(CongestionControl::ProteusS).decided(&pairs(gains), 100.0);
    near(decided([10.0, -10.0]), 100.0);
    near(decided([10.0, 10.0]), 106.0);
    near(decided([-100.0, -100.0]), 95.0 * 0.95);
}

/// Steps grow as ((n + 1)/2)^1.2, in whole numbers, within a boundary of 5 % that grows by 5 %; a
/// step without gain is taken back.
#[test]
fn steps_go_on_while_the_utility_grows() {
    let mut proteus = start(CongestionControl::ProteusP);
    let mut rate = proteus.decided(&pairs([10.0; 3]), 100.0);
    near(rate, 106.0);
    let mut value = 60.0;
    let mut steps = Vec::new();
    for _ in 0..3 {
        let last = if let Phase::Moving { last, .. } = &proteus.phase {
            last.rate
        } else {
            panic!("moving")
        };
        value += rate - last;
        let next = proteus.stepped(Point { rate, value }, rate);
        steps.push(next - rate);
        rate = next;
    }
    near(steps[0], 1.0);
    near(steps[1], libm::pow(2.0, 1.2));
    near(steps[2], libm::pow(2.0, 1.2));
    let back = proteus.stepped(Point { rate, value }, rate);
    near(back, rate - MIN_STEP);
    assert!(matches!(proteus.phase, Phase::Probing { .. }));
}

#[test]
fn the_boundary_grows_by_five_per_cent() {
    let mut proteus = start(CongestionControl::ProteusP);
    near(proteus.bounded(1000.0, 100.0), 5.0);
    near(proteus.bounded(1000.0, 100.0), 10.0);
    near(proteus.bounded(1.0, 100.0), 1.0);
    near(proteus.bounded(1000.0, 100.0), 10.0);
    near(proteus.bounded(0.0, 100.0), MIN_STEP);
}

/// Alone, both fill a path: without a competitor nothing deviates.
#[test]
fn alone_both_fill_a_path() {
    let path = Path {
        rate: BitRate::from_bps(50_000_000),
        rtt: Duration::from_millis(30),
        queue: 375_000 / MSS,
        loses_every: None,
    };
    for congestion in [CongestionControl::ProteusP, CongestionControl::ProteusS] {
        let mut sender = Sender::<Proteus>::start(&config(congestion), &windows());
        let seen = alone(&mut sender, &path, 60);
        let share = utilization(&seen, &path, 60);
        assert!(share > 0.85, "{congestion:?}: {share}");
    }
}
