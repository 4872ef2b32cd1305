//! The adaptive rule, step by step on hand-made acknowledgments.

use airtcp_packet::Timestamps;
use proptest::prelude::*;

use super::super::*;
use super::bench::{Bench, at, synchronised};

/// Algorithm 1 by hand, in ms; S and V by eq. 1 and 2 with a = 1/8, b = 1/4, dthresh = S + 4V.
///
/// | k | at   | pdelay | dthresh before | D after | S, V after             |
/// |---|------|--------|----------------|---------|------------------------|
/// | 1 | 1000 |  80    | -              |   0     | 80, 40                 |
/// | 2 | 1010 |  80    | 240            |   0     | 80, 30                 |
/// | 3 | 1020 |  80    | 200            |   0     | 80, 22.5               |
/// | 4 | 1030 |  80    | 170            |   0     | 80, 16.875             |
/// | 5 | 1040 | 230    | 147.5: spike   | 100     | 98.75, 45.46875        |
/// | 6 | 1050 |  80    | 280.625        |  95     | 96.40625, 38.203125    |
/// | 7 | 1060 |  80    | 249.21875      |  90     | 94.35546875, 32.24121  |
/// | 8 | 1160 |  80    | 223.3203125    |  85     | 92.56103516, 27.32117  |
/// | 9 | 1170 | 302    | 201.8457: spike| 139.626 |                        |
///
/// At 5: D = (230 - 80) / 1.5 = 100, four acknowledgments since the start, subthresh = 100 / 20 =
/// 5. 6 opens a hold of 100 until 1150; 7 arrives within it; 8 opens one of the then current 90
/// until 1250. At 9: D = (302 - 92.56103516) / 1.5; three since the last spike, so subthresh = D /
/// 15. This acknowledgment itself is not held, but may not overtake 8.
pub(super) fn run_the_table() -> Bench {
    let mut bench = Bench::adaptive(synchronised());
    let zero = 0.0;
    let rows = [
        (1_000, 80.0, 80.0, zero, false, zero),
        (1_010, 80.0, 240.0, zero, false, zero),
        (1_020, 80.0, 200.0, zero, false, zero),
        (1_030, 80.0, 170.0, zero, false, zero),
        (1_040, 230.0, 147.5, 100.0, true, zero),
        (1_050, 80.0, 280.625, 95.0, false, 100.0),
        (1_060, 80.0, 249.218_75, 90.0, false, 90.0),
        (1_160, 80.0, 223.320_312_5, 85.0, false, 90.0),
        (1_170, 302.0, 201.845_703_1, 139.625_976_56, true, 80.0),
    ];
    for (now, delay, threshold, injected, spike, held) in rows {
        bench.ack(now, delay as u64);
        bench.assert_last((delay, threshold, injected, spike, held));
    }
    bench
}

#[test]
fn follows_algorithm_1() {
    let mut bench = run_the_table();
    bench.run_until(at(5_000));
    let left = [
        (1_000.0, 0),
        (1_010.0, 1),
        (1_020.0, 2),
        (1_030.0, 3),
        (1_040.0, 4),
        (1_150.0, 5),
        (1_150.0, 6),
        (1_250.0, 7),
        (1_250.0, 8),
    ];
    assert_eq!(bench.left, left);
}

/// §IV-C: "if in an interval containing 5·pkt_count packets no delay spikes occur, then the value
/// of the injected delay is reduced to zero", in a straight line: after the second spike of the
/// table that is 15 acknowledgments, each takes 139.626 / 15 = 9.3084.
#[test]
fn the_delay_falls_to_zero_in_a_straight_line() {
    let mut bench = run_the_table();
    for k in 1..=16_u64 {
        bench.ack(2_000 + 300 * k, 80);
        let (_, _, delay, spike, held) = bench.last();
        let before = 139.625_976_56 - 9.308_398_44 * (k - 1) as f64;
        assert!(!spike);
        assert!(
            (held - before.max(0.0)).abs() < 1e-4,
            "{k}: {held}, {before}"
        );
        assert!(
            (delay - (before - 9.308_398_44).max(0.0)).abs() < 1e-4,
            "{k}: {delay}"
        );
    }
    assert_eq!(bench.last().2, 0.0);
}

/// The offset is a constant in every age, so the verdicts and D are the same when it is estimated,
/// for any start of the mobile's clock; only the first V differs, RFC 2988's R/2 being 0 here. With
/// 40 even acknowledgments in front the 40 of the true one has decayed to 40·(3/4)^39 = 0.5 us.
#[test]
fn an_unknown_clock_changes_no_verdict() {
    let run = |rule: AdaptiveDelay, start: u32| {
        let mut bench = Bench::adaptive(rule);
        for k in 0..120_u64 {
            let delay = if k % 25 == 24 { 300 } else { 80 };
            let now = 1_000 + 10 * k;
            let echo = (now as u32 - delay).wrapping_add(start);
            bench.ack_with(now, Some(Timestamps { value: 0, echo }));
        }
        bench
            .judged
            .iter()
            .map(|event| match *event {
                AgentEvent::AckJudged { spike, delay, .. } => (spike, delay.as_millis_f64()),
                _ => panic!("{event:?}"),
            })
            .collect::<Vec<_>>()
    };
    let known = run(synchronised(), 0);
    let spikes: Vec<usize> = (0..120).filter(|&k| known[k].0).collect();
    assert_eq!(spikes, [24, 49, 74, 99]);
    for start in [0, 123_456, u32::MAX - 1_500] {
        let estimated = run(AdaptiveDelay::default(), start);
        for (k, (known, estimated)) in known.iter().zip(&estimated).enumerate() {
            assert_eq!(known.0, estimated.0, "{k}");
            assert!(
                (known.1 - estimated.1).abs() < 0.2,
                "{k}: {known:?} {estimated:?}"
            );
        }
    }
}

/// `avdelay` without spikes stays at 80: the second spike of the table is then 222 above it, and
/// D = 148.
#[test]
fn an_average_without_spikes_stays_low() {
    let mut bench = Bench::adaptive(AdaptiveDelay {
        average: Average::NoSpikes,
        ..synchronised()
    });
    for (now, delay) in [
        (1_000, 80),
        (1_010, 80),
        (1_020, 80),
        (1_030, 80),
        (1_040, 230),
    ] {
        bench.ack(now, delay);
    }
    for (now, delay) in [(1_050, 80), (1_060, 80), (1_160, 80), (1_170, 302)] {
        bench.ack(now, delay);
    }
    let (_, _, delay, spike, _) = bench.last();
    assert!(spike && (delay - 148.0).abs() < 1e-4, "{delay}");
    // A path that became longer for good is no spike for ever: 4V reaches 222 at once or soon.
    let mut spikes = 0;
    for k in 0..50 {
        bench.ack(2_000 + 10 * k, 302);
        spikes += u32::from(bench.last().3);
    }
    assert!(spikes <= 3, "{spikes}");
}

/// Algorithm 1 and §IV-C once more, as plainly as can be, in real milliseconds.
struct Plain {
    s: f64,
    v: f64,
    d: f64,
    subthresh: f64,
    pkt_count: u32,
}

impl Plain {
    /// Whether `pdelay` is a spike, or `None` if it is too close to the threshold to decide.
    fn step(&mut self, pdelay: f64) -> Option<bool> {
        let dthresh = self.s + 4.0 * self.v;
        if (pdelay - dthresh).abs() < 1e-3 {
            return None;
        }
        let spike = pdelay > dthresh;
        if spike {
            self.d = (pdelay - self.s) / 1.5;
            self.subthresh = self.d / (5.0 * f64::from(self.pkt_count.max(1)));
            self.pkt_count = 0;
        } else {
            self.d = (self.d - self.subthresh).max(0.0);
            self.pkt_count += 1;
        }
        self.s = self.s * 7.0 / 8.0 + pdelay / 8.0;
        self.v = self.v * 3.0 / 4.0 + (pdelay - self.s).abs() / 4.0;
        Some(spike)
    }
}

proptest! {
    /// Path delays of 20 to 120 ms with spikes up to 900: the same verdicts and, to 0.1 us of
    /// rounding, the same D.
    #[test]
    fn agrees_with_a_plain_reading(
        delays in prop::collection::vec(
            prop_oneof![6 => 20_u64..120, 1 => 120_u64..900], 2..150,
        ),
    ) {
        let mut bench = Bench::adaptive(synchronised());
        let first = delays[0] as f64;
        let mut plain = Plain { s: first, v: first / 2.0, d: 0.0, subthresh: 0.0, pkt_count: 1 };
        bench.ack(1_000, delays[0]);
        for (k, &delay) in (1..).zip(&delays[1..]) {
            bench.ack(1_000 + 10 * k, delay);
            let Some(spike) = plain.step(delay as f64) else {
                return Ok(());
            };
            let (path_delay, _, injected, found, _) = bench.last();
            prop_assert_eq!((path_delay, found), (delay as f64, spike));
            prop_assert!((injected - plain.d).abs() < 1e-4, "{injected} {}", plain.d);
        }
    }
}
