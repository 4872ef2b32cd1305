//! Segments not judged; connections that begin, rest and end; parameters out of range.

use std::num::NonZeroU64;

use airtcp_packet::Timestamps;

use super::super::*;
use super::algorithm::run_the_table;
use super::bench::{Bench, at, constant};
use crate::agent::flow_table::DEFAULT_FLOW_LIMIT;

/// Duplicates, window updates, acknowledgments with data and acknowledgments without timestamps
/// measure nothing, and pass in order after held packets; a FIN releases all.
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
    let mut bench = Bench::new(constant(rule));
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

/// The mirror image: every segment passes in the other direction, and leaves at the same time with
/// the same verdicts. The rule for uploads leaves that download alone, and the other the upload.
#[test]
fn a_download_is_the_mirror_image_of_an_upload() {
    let table = [80, 80, 80, 230, 80, 80, 300, 80, 80, 80];
    let run = |acks_toward: Toward, mirrored: bool| {
        let rule = AdaptiveDelay {
            acks_toward,
            ..AdaptiveDelay::default()
        };
        let mut bench = Bench::of(DelayRule::Adaptive(rule), mirrored);
        for (k, delay) in (0..).zip(table) {
            bench.ack(1_000 + 10 * k, delay);
        }
        bench.run_until(at(5_000));
        (bench.left, bench.judged)
    };
    let upload = run(Toward::Mobile, false);
    assert_eq!(upload.1.len(), table.len());
    let held = |&(left, packet): &(f64, u32)| left > 1_000.0 + 10.0 * f64::from(packet);
    assert!(
        upload.0.iter().any(held),
        "a spike of 150 ms: {:?}",
        upload.0
    );
    assert_eq!(run(Toward::Wired, true), upload);
    for (left, judged) in [run(Toward::Wired, false), run(Toward::Mobile, true)] {
        assert_eq!(judged, []);
        assert!(!left.iter().any(held));
        assert_eq!(left.len(), table.len());
    }
}

/// D of 100 ms is for nothing after two minutes of silence; a clock that is moved by an hour, up or
/// down, is no spike.
#[test]
fn silence_and_a_moved_clock_start_over() {
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
                decay_spans: Some(0),
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
    let too_long = constant(StaticDelay {
        delay: Duration::MAX,
        every: Distance::Time(Duration::ZERO),
    });
    assert!(DelayInjection::<u32>::new(too_long, DEFAULT_FLOW_LIMIT).is_err());
}
