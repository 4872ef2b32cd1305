//! One key changes one behaviour: a table of keys, each with a behaviour that shows in a trace.

#![expect(
    clippy::single_range_in_vec_init,
    reason = "blocks, of which there may be one"
)]

use super::*;
use crate::config::{
    DuplicateCounting, GrowthCredit, JudgedRtt, LateReports, LossDetection, PartialAckTimer,
    Reneging, ReportedRtt, ShortTrains, TimerRestart, WindowReopening, WindowValidation,
};

use crate::loss_differentiation::{Cause, Differentiation, ZigZagTable};

/// A changed key, and the behaviour that reveals it.
struct Key {
    name: &'static str,
    change: fn(&mut Config),
    behaviour: fn(&Config) -> String,
}

const KEYS: [Key; 14] = [
    Key {
        name: "partial_ack_timer",
        change: |config| config.quirks.partial_ack_timer = PartialAckTimer::SlowButSteady,
        behaviour: timer_after_the_second_partial_acknowledgment,
    },
    Key {
        name: "growth_credit",
        change: |config| config.quirks.growth_credit = GrowthCredit::Delivered,
        behaviour: growth_by_what_was_reported_before,
    },
    Key {
        name: "timer_restart",
        change: |config| config.quirks.timer_restart = TimerRestart::Front,
        behaviour: timer_after_the_first_segment_left_again,
    },
    Key {
        name: "reported_rtt",
        change: |config| config.quirks.reported_rtt = ReportedRtt::Sampled,
        behaviour: samples_of_a_report,
    },
    Key {
        name: "judged_rtt",
        change: |config| config.quirks.judged_rtt = JudgedRtt::Newest,
        behaviour: losses_taken_for_the_radios_by_delayed_acknowledgments,
    },
    Key {
        name: "late_reports",
        change: |config| config.quirks.late_reports = LateReports::Taken,
        behaviour: bytes_a_late_acknowledgment_reports,
    },
    Key {
        name: "reneging",
        change: |config| config.quirks.reneging = Reneging::HalfRoundTrip,
        behaviour: soon_retransmitted_when_the_receiver_reneges,
    },
    Key {
        name: "short_trains",
        change: |config| config.quirks.short_trains = ShortTrains::Deferred,
        behaviour: segments_that_leave_one_by_one,
    },
    Key {
        name: "window_reopening",
        change: |config| config.quirks.window_reopening = WindowReopening::AwaitTimer,
        behaviour: retransmissions_when_a_window_opens_before_the_timer,
    },
    Key {
        name: "slow_start_limit_after_timeout",
        change: |config| config.quirks.slow_start_limit_after_timeout = 1_000_000,
        behaviour: growth_after_a_timeout,
    },
    Key {
        name: "window_validation",
        change: |config| config.window_validation = WindowValidation::LastRound,
        behaviour: growth_of_a_window_used_by_half,
    },
    Key {
        name: "duplicate_counting",
        change: |config| config.quirks.duplicate_counting = DuplicateCounting::Arrivals,
        behaviour: in_flight_after_four_duplicates,
    },
    Key {
        name: "pacing_shift",
        change: |config| config.pacing_shift = 7,
        behaviour: segments_that_leave_together_at_a_pace,
    },
    Key {
        name: "loss_detection",
        change: |config| config.loss_detection = LossDetection::Rack,
        behaviour: bytes_lost_a_quarter_of_a_round_trip_after_a_report,
    },
];

#[test]
fn one_key_changes_one_behaviour() {
    let base = Config {
        limited_transmit: true,
        initial_ssthresh: None,
        sack: true,
        ..plain()
    };
    for key in &KEYS {
        let mut changed = base;
        (key.change)(&mut changed);
        for observed in &KEYS {
            let before = (observed.behaviour)(&base);
            let after = (observed.behaviour)(&changed);
            let own = key.name == observed.name;
            let (key, of) = (key.name, observed.name);
            assert_eq!(
                before != after,
                own,
                "{key} and the behaviour of {of}: {before} becomes {after}"
            );
        }
    }
}

/// Start of the running timer, in milliseconds.
fn timer_started_at(trace: &Trace) -> String {
    let ends = trace.next_ms().expect("a timer runs");
    (ends - trace.rto_ms()).to_string()
}

/// RFC 6582 §3.2, of three losses in a window; before the segment asked for leaves. The seven other
/// segments have arrived, so that the window has room for each repair however duplicates are
/// counted.
fn timer_after_the_second_partial_acknowledgment(config: &Config) -> String {
    let mut trace = Trace::new(Config {
        sack: false,
        ..*config
    });
    trace.write(10).poll();
    for _ in 0..7 {
        trace.at(100).ack(0);
    }
    trace.at(200).ack(2);
    trace.at(300).ack_bytes(4 * MSS);
    timer_started_at(&trace)
}

/// Without SACK, of twelve segments.
fn in_flight_after_four_duplicates(config: &Config) -> String {
    let mut trace = Trace::new(Config {
        sack: false,
        ..*config
    });
    trace.write(12).poll();
    for _ in 0..4 {
        trace.at(100).ack(0);
    }
    trace.sender.in_flight().to_string()
}

/// 200 segments in 100 ms, twice as fast in slow start: 4 MB/s, that is 3906 bytes in 2^−10 s.
fn segments_that_leave_together_at_a_pace(config: &Config) -> String {
    let mut trace = Trace::new(Config {
        pacing: true,
        initial_window: 200,
        ..*config
    });
    trace.write(200).poll()
}

/// Three segments acknowledged; two of them were SACKed before.
fn growth_by_what_was_reported_before(config: &Config) -> String {
    let mut trace = Trace::new(*config);
    trace.write(100).poll();
    trace.at(100).sack(0, &[1..3]);
    trace.ack(3);
    trace.sender.cwnd().to_string()
}

/// It was found lost at 100 ms, and left at 150 ms.
fn timer_after_the_first_segment_left_again(config: &Config) -> String {
    let mut trace = Trace::new(*config);
    trace.write(10).poll();
    for reported in 2..5 {
        trace.at(100).sack_quietly(0, &[1..reported]);
    }
    trace.at(150).poll();
    timer_started_at(&trace)
}

fn samples_of_a_report(config: &Config) -> String {
    let mut trace = Trace::new(*config);
    trace.write(10).poll();
    trace.at(100).sack(0, &[1..2]);
    let samples = trace.take_events();
    let of_round_trips = |event: &&Event| matches!(event, Event::RttSample { .. });
    samples.iter().filter(of_round_trips).count().to_string()
}

/// The previous acknowledgment waited for a second segment, 40 ms after the first: the timer's
/// round trips fall from 140 to 120 ms, the newest segments' rise from 100 to 120.
fn losses_taken_for_the_radios_by_delayed_acknowledgments(config: &Config) -> String {
    let mut trace = Trace::new(Config {
        differentiation: Some(Differentiation::ZigZag(ZigZagTable::NEWZAG_ADJUSTED)),
        ..*config
    });
    trace.write(1).poll();
    trace.at(40).write(1).poll();
    trace.at(140).ack(2);
    trace.at(200).write(6).poll();
    trace.at(320).sack(3, &[4..8]);
    let is_radio = |event: &Event| {
        matches!(
            event,
            Event::LossClassified {
                cause: Cause::Radio,
                ..
            }
        )
    };
    let events = trace.take_events();
    events
        .iter()
        .filter(|event| is_radio(event))
        .count()
        .to_string()
}

fn bytes_a_late_acknowledgment_reports(config: &Config) -> String {
    let mut trace = Trace::new(*config);
    trace.write(10).poll();
    trace.at(100).ack(2);
    trace.sack(1, &[4..5]);
    trace.sender.scoreboard().sacked().to_string()
}

/// The receiver asks for a segment that it had SACKed.
fn soon_retransmitted_when_the_receiver_reneges(config: &Config) -> String {
    let mut trace = Trace::new(*config);
    trace.write(10).poll();
    trace.at(100).sack(0, &[1..2]);
    trace.ack(1);
    let wait = trace.next_ms().expect("a timer runs") - 100;
    (wait <= 50).to_string()
}

/// A sender that has just sent data receives an acknowledgment that makes room for one segment, and
/// another for a second.
fn segments_that_leave_one_by_one(config: &Config) -> String {
    let mut trace = Trace::new(Config {
        initial_ssthresh: Some(u64::from(config.initial_window) * MSS),
        ..*config
    });
    trace.write(30).poll();
    trace.at(100);
    let first = trace.ack(1);
    trace.at(101);
    [first, trace.ack(2), trace.ack(3)].join(", ")
}

fn retransmissions_when_a_window_opens_before_the_timer(config: &Config) -> String {
    let mut trace = Trace::new(*config);
    trace.write(10).poll();
    trace.at(50).window(0);
    trace.at(250).window(1000 * MSS).poll();
    let counters = trace.sender.counters();
    counters.segments_retransmitted.to_string()
}

fn growth_after_a_timeout(config: &Config) -> String {
    let mut trace = Trace::new(*config);
    trace.write(100).poll();
    trace.at(300).wake();
    trace.poll();
    trace.at(400).ack(4);
    trace.sender.cwnd().to_string()
}

/// Six of ten segments: not the limit, but slow start has half of them in flight.
fn growth_of_a_window_used_by_half(config: &Config) -> String {
    let mut trace = Trace::new(*config);
    trace.write(6).poll();
    trace.at(100).ack(2);
    trace.sender.cwnd().to_string()
}

/// One SACK, where three mean a loss, or the reordering window of 25 ms.
fn bytes_lost_a_quarter_of_a_round_trip_after_a_report(config: &Config) -> String {
    let mut trace = Trace::new(*config);
    trace.write(10).poll();
    trace.at(100).sack(0, &[1..2]);
    trace.at(130).wake();
    trace.sender.scoreboard().lost().to_string()
}
