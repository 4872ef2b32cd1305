//! The adaptive rule, step by step on hand-made acknowledgments.

use std::num::NonZeroU64;

use airtcp_packet::Timestamps;

use super::super::*;
use crate::agent::flow_table::DEFAULT_FLOW_LIMIT;

const FLOW: FlowKey = 7;

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// An uplink transfer: the mobile's data and the acknowledgments for it.
struct Bench {
    agent: DelayInjection<u32>,
    acknowledged: u32,
    /// Packets by the order in which they came.
    packets: u32,
    /// What left: when, in ms, and which packet.
    left: Vec<(f64, u32)>,
    judged: Vec<AgentEvent>,
}

impl Bench {
    fn new(rule: DelayRule) -> Self {
        let agent = DelayInjection::new(rule, DEFAULT_FLOW_LIMIT).unwrap();
        let mut bench = Self {
            agent,
            acknowledged: 0,
            packets: 0,
            left: Vec::new(),
            judged: Vec::new(),
        };
        bench.pass(
            at(0),
            Toward::Wired,
            Segment {
                payload_bytes: 1_000_000,
                flags: Flags::ACK,
                ..Segment::default()
            },
        );
        bench.left.clear();
        bench.packets = 0;
        bench
    }

    fn adaptive(rule: AdaptiveDelay) -> Self {
        Self::new(DelayRule::Adaptive(rule))
    }

    fn pass(&mut self, now: Instant, toward: Toward, segment: Segment) {
        self.run_until(now);
        let passage = Passage {
            flow: FLOW,
            toward,
            segment,
            packet: self.packets,
        };
        self.packets += 1;
        let judged = &mut self.judged;
        self.agent
            .handle(now, passage, &mut |_, event| judged.push(event));
        self.collect(now);
    }

    /// An acknowledgment for 1000 more bytes of data that was stamped `delay` ms ago.
    fn ack(&mut self, now: u64, delay: u64) {
        let timestamps = Some(Timestamps {
            value: 0,
            echo: (now - delay) as u32,
        });
        self.ack_with(now, timestamps);
    }

    fn ack_with(&mut self, now: u64, timestamps: Option<Timestamps>) {
        self.acknowledged += 1_000;
        let segment = Segment {
            acknowledgment: SequenceNumber(self.acknowledged),
            flags: Flags::ACK,
            timestamps,
            ..Segment::default()
        };
        self.pass(at(now), Toward::Mobile, segment);
    }

    fn run_until(&mut self, now: Instant) {
        while self.agent.next_wakeup() <= now {
            let due = self.agent.next_wakeup();
            self.agent.on_wakeup(due, &mut |_, _| ());
            self.collect(due);
        }
    }

    fn collect(&mut self, now: Instant) {
        while let Some(emission) = self.agent.poll(now) {
            let Emission::Pass(passage) = emission else {
                panic!("only passes: {emission:?}");
            };
            self.left.push((now.as_secs_f64() * 1e3, passage.packet));
        }
    }

    /// Path delay, threshold, D, spike, held of the last judged acknowledgment, times in ms.
    fn last(&self) -> (f64, f64, f64, bool, f64) {
        let Some(&AgentEvent::AckJudged {
            path_delay,
            threshold,
            delay,
            spike,
            held,
        }) = self.judged.last()
        else {
            panic!("none was judged");
        };
        let ms = Duration::as_millis_f64;
        (ms(path_delay), ms(threshold), ms(delay), spike, ms(held))
    }

    fn assert_last(&self, expected: (f64, f64, f64, bool, f64)) {
        let found = self.last();
        let close = |a: f64, b: f64| (a - b).abs() < 1e-4;
        assert!(
            close(found.0, expected.0)
                && close(found.1, expected.1)
                && close(found.2, expected.2)
                && found.3 == expected.3
                && close(found.4, expected.4),
            "found {found:?}, expected {expected:?}"
        );
    }
}

fn synchronised() -> AdaptiveDelay {
    AdaptiveDelay {
        clock_offset: ClockOffset::Synchronised,
        ..AdaptiveDelay::default()
    }
}

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
/// At 5: D = (230 - 80) / 1.5 = 100, four acknowledgments since the start, subthresh = 100 / 20 = 5.
/// 6 opens a hold of 100 until 1150; 7 comes within it; 8 opens one of the then current 90 until
/// 1250. At 9: D = (302 - 92.56103516) / 1.5; three since the last spike, so subthresh = D / 15.
/// Its own acknowledgment is not held, but may not overtake 8.
fn run_the_table() -> Bench {
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

/// Duplicates, window updates, acknowledgments with data and those without timestamps measure
/// nothing, and pass in order behind what is held; a FIN releases all.
#[test]
fn what_is_not_judged_waits_its_turn() {
    let mut bench = run_the_table();
    bench.run_until(at(1_300));
    bench.left.clear();
    let judged = bench.judged.len();
    let first = bench.packets;
    bench.ack(1_400, 80);
    let held = bench.last().4;
    assert!((held - 139.626).abs() < 1e-3);
    let duplicate = Segment {
        acknowledgment: SequenceNumber(bench.acknowledged),
        flags: Flags::ACK,
        timestamps: Some(Timestamps { value: 0, echo: 5 }),
        ..Segment::default()
    };
    let with_data = Segment {
        acknowledgment: SequenceNumber(bench.acknowledged + 1_000),
        payload_bytes: 100,
        ..duplicate
    };
    bench.pass(at(1_410), Toward::Mobile, duplicate);
    bench.pass(at(1_420), Toward::Mobile, with_data);
    bench.acknowledged += 1_000;
    bench.ack_with(1_430, None);
    assert_eq!(bench.judged.len(), judged + 1);
    assert!(bench.left.is_empty());
    // The other direction is not held up.
    bench.pass(at(1_440), Toward::Wired, Segment::default());
    assert_eq!(bench.left, [(1_440.0, first + 4)]);
    let fin = Segment {
        flags: Flags::ACK | Flags::FIN,
        ..duplicate
    };
    bench.pass(at(1_450), Toward::Mobile, fin);
    let order: Vec<u32> = bench.left.iter().map(|&(_, packet)| packet).collect();
    assert_eq!(order, [4, 0, 1, 2, 3, 5].map(|k| first + k));
    assert_eq!(bench.left[1].0, 1_450.0);
    assert_eq!(bench.agent.next_wakeup(), Instant::FAR_FUTURE);
}

/// A transfer to the mobile: its acknowledgments go the other way, and the odd pure acknowledgment
/// for a request is not judged.
#[test]
fn a_download_passes_untouched() {
    let rule = StaticDelay {
        delay: Duration::from_millis(50),
        every: Distance::Acknowledgments(NonZeroU64::MIN),
    };
    let mut bench = Bench::new(DelayRule::Static(rule));
    let data = Segment {
        payload_bytes: 2_000_000,
        flags: Flags::ACK,
        ..Segment::default()
    };
    bench.ack(1_000, 80);
    assert_eq!(bench.left, [], "an upload so far");
    bench.pass(at(1_100), Toward::Mobile, data);
    bench.ack(1_200, 80);
    assert_eq!(bench.left, [(1_050.0, 0), (1_100.0, 1), (1_200.0, 2)]);
}

/// D of 100 ms is for nothing after two minutes of silence; a clock that is moved by an hour, up or
/// down, is no spike.
#[test]
fn silence_and_a_moved_clock_begin_anew() {
    let mut bench = Bench::adaptive(AdaptiveDelay::default());
    let spike = |now: u64, offset: u32, bench: &mut Bench| {
        for (k, delay) in [80, 80, 80, 230].into_iter().enumerate() {
            let now = now + 10 * k as u64;
            let echo = (now as u32).wrapping_add(offset).wrapping_sub(delay);
            bench.ack_with(now, Some(Timestamps { value: 0, echo }));
        }
        assert!(
            bench.last().3 && bench.last().2 > 90.0,
            "{:?}",
            bench.last()
        );
    };
    spike(10_000, 0, &mut bench);
    bench.ack(130_100, 80);
    assert_eq!((bench.last().2, bench.last().4), (0.0, 0.0));
    for offset in [3_600_000, 0, 3_600_000_u32.wrapping_neg()] {
        let now = 140_000;
        let echo = (now as u32).wrapping_add(offset).wrapping_sub(80);
        bench.ack_with(now, Some(Timestamps { value: 0, echo }));
        let (path_delay, _, delay, is_spike, held) = bench.last();
        assert_eq!((path_delay, delay, is_spike, held), (0.0, 0.0, false, 0.0));
    }
    spike(150_000, 3_600_000_u32.wrapping_neg(), &mut bench);
}

#[test]
fn a_bogus_timestamp_holds_no_longer_than_allowed() {
    let longest_delay = Duration::from_millis(400);
    let mut bench = Bench::adaptive(AdaptiveDelay {
        longest_delay,
        ..AdaptiveDelay::default()
    });
    bench.ack(20_000, 80);
    bench.ack(20_010, 15_000);
    assert_eq!((bench.last().2, bench.last().3), (400.0, true));
}

#[test]
fn parameters_out_of_range_are_named() {
    let text = |rule: AdaptiveDelay| {
        DelayInjection::<u32>::new(DelayRule::Adaptive(rule), DEFAULT_FLOW_LIMIT)
            .unwrap_err()
            .to_string()
    };
    let good = AdaptiveDelay::default();
    assert_eq!(
        text(AdaptiveDelay {
            tick: Duration::ZERO,
            ..good
        }),
        "tick = 0 s: expected a duration from 1 us to 1 s; give the tick of the mobile's timestamp \
         clock, 1 ms where it runs Linux"
    );
    for (rule, key) in [
        (
            AdaptiveDelay {
                mean_gain: 0.0,
                ..good
            },
            "mean_gain = 0:",
        ),
        (
            AdaptiveDelay {
                deviation_gain: 1.5,
                ..good
            },
            "deviation_gain = 1.5:",
        ),
        (
            AdaptiveDelay {
                threshold_factor: f64::NAN,
                ..good
            },
            "threshold_factor = NaN:",
        ),
        (
            AdaptiveDelay {
                delay_factor: 0.0,
                ..good
            },
            "delay_factor = 0:",
        ),
        (
            AdaptiveDelay {
                delay_factor: f64::INFINITY,
                ..good
            },
            "delay_factor = inf:",
        ),
        (
            AdaptiveDelay {
                decay_spans: 0,
                ..good
            },
            "decay_spans = 0:",
        ),
        (
            AdaptiveDelay {
                longest_delay: Duration::from_secs(61),
                ..good
            },
            "longest_delay = 61 s:",
        ),
        (
            AdaptiveDelay {
                clock_offset: ClockOffset::Estimated {
                    window: Duration::ZERO,
                },
                ..good
            },
            "clock_offset.window = 0 s:",
        ),
    ] {
        assert!(text(rule).starts_with(key), "{}", text(rule));
    }
    let too_long = DelayRule::Static(StaticDelay {
        delay: Duration::MAX,
        every: Distance::Time(Duration::ZERO),
    });
    assert!(DelayInjection::<u32>::new(too_long, DEFAULT_FLOW_LIMIT).is_err());
}
