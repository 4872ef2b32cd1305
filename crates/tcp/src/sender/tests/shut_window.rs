//! A window shrunk to zero (RFC 9293 §3.8.6), and bad-state notification.

use super::*;
use crate::config::{TimerScope, WindowReopening};

/// The retransmission timer set by the acknowledgment at 100 ms would expire at 350 ms: it probes
/// instead. When the window opens everything is retransmitted within the unchanged window of ten
/// segments, and the two copies that follow mean no loss.
#[test]
fn data_lost_behind_a_shut_window_is_no_congestion() {
    for sack in [false, true] {
        let mut trace = Trace::new(Config { sack, ..plain() });
        trace.write(20);
        assert_eq!(trace.poll(), "0 1 2 3 4 5 6 7 8 9");
        trace.at(100);
        trace.right_edge = 2 * MSS;
        assert_eq!(trace.ack(2), "", "two arrived, the rest is lost");
        assert_eq!(trace.next_ms(), Some(350), "RTO = 100 + 4 × 37.5");
        let cwnd = trace.cwnd();
        assert_eq!(trace.wake_when_due(), (milliseconds(250), true));
        assert_eq!((trace.next_ms(), trace.poll()), (Some(850), String::new()));
        // Four answers to probes are not duplicates.
        for _ in 0..4 {
            trace.ack(2);
        }
        assert_eq!(
            trace.wake_when_due(),
            (milliseconds(500), true),
            "backs off"
        );
        trace.at(900);
        trace.right_edge = 100 * MSS;
        assert_eq!(trace.ack(2), "2* 3* 4* 5* 6* 7* 8* 9* 10 11");
        assert_eq!([trace.ack(2), trace.ack(2), trace.ack(2)], [""; 3]);
        assert_eq!(trace.next_ms(), Some(900 + 250));
        assert_eq!(
            (trace.cwnd(), trace.sender.ssthresh()),
            (cwnd, Some(10 * MSS))
        );
        assert_eq!(trace.at(1000).ack(12), "12 13 14 15 16 17 18 19");
        let counters = trace.sender.counters();
        assert_eq!((counters.timeouts, counters.fast_retransmits), (0, 0));
        assert_eq!(
            (counters.window_probes, counters.segments_retransmitted),
            (2, 8)
        );
    }
}

/// As in BSD, even before a timer has expired: no acknowledgment will come any more.
#[test]
fn a_short_freeze_does_not_wait_for_the_timer() {
    let mut trace = Trace::new(plain());
    trace.write(20).poll();
    trace.at(50).window(0);
    assert_eq!(trace.next_ms(), Some(300));
    trace.at(200);
    trace.right_edge = 100 * MSS;
    assert_eq!(trace.ack(0), "0* 1* 2* 3* 4* 5* 6* 7* 8* 9*");
    assert_eq!(trace.next_ms(), Some(500));
    assert_eq!(trace.cwnd(), 10 * MSS);
}

/// Data that has just left is not silent: neither while no round trip is measured, nor where one
/// takes no measurable time.
#[test]
fn a_window_that_flaps_at_once_resends_nothing() {
    for round_trip in [None, Some(Duration::ZERO)] {
        let mut trace = Trace::new(plain());
        trace.sender = Sender::new(&plain(), 1000);
        trace.sender.on_established(1000 * MSS, round_trip, None);
        assert_eq!(trace.write(20).poll(), "0 1 2 3 4 5 6 7 8 9");
        for _ in 0..3 {
            trace.window(0);
            trace.right_edge = 100 * MSS;
            assert_eq!(trace.ack(0), "", "{round_trip:?}");
        }
    }
}

/// Acknowledgments that still arrive keep the clock: the data in flight stays there, and its timer
/// restarts.
#[test]
fn an_acknowledgment_of_new_data_opens_the_window_without_repairs() {
    let mut trace = Trace::new(plain());
    trace.write(20).poll();
    trace.at(50).window(0);
    trace.at(290);
    trace.right_edge = 100 * MSS;
    assert_eq!(trace.ack(4), "10 11 12 13");
    assert_eq!(trace.sender.counters().segments_retransmitted, 0);
    // The sample of 290 ms: RTTVAR = 3/4·50 + 1/4·190 = 85, SRTT = 123.75, RTO = 463.75.
    assert_eq!(trace.next_ms(), Some(290 + 463));
}

/// A timer for each segment: several that expire against a closed window probe once, together.
#[test]
fn timers_of_segments_persist_too() {
    let mut trace = Trace::new(Config {
        timeout: TimeoutConfig {
            scope: Some(TimerScope::Segment),
            ..TimeoutConfig::default()
        },
        ..plain()
    });
    trace.write(3);
    assert_eq!(trace.poll(), "0 1 2");
    trace.at(100).window(0);
    assert_eq!(trace.wake_when_due(), (milliseconds(200), true));
    assert_eq!(trace.next_ms(), Some(300 + 600));
    trace.at(400);
    trace.right_edge = 100 * MSS;
    assert_eq!(trace.ack(0), "0* 1* 2*");
    assert_eq!(trace.next_ms(), Some(700));
    assert_eq!(trace.sender.counters().timeouts, 0);
}

/// A window that closes during the repair of a timeout: the lost segments have no running timers,
/// so a probe is due after one RTO.
#[test]
fn lost_segments_wait_with_a_timer() {
    let mut trace = Trace::new(Config {
        timeout: TimeoutConfig {
            scope: Some(TimerScope::Segment),
            ..TimeoutConfig::default()
        },
        ..plain()
    });
    trace.write(4).poll();
    trace.at(300).wake();
    assert_eq!(trace.poll(), "0*");
    trace.at(400);
    trace.right_edge = MSS;
    assert_eq!(trace.ack(1), "");
    let due = trace.next_ms().expect("a timer runs");
    assert!(trace.at(due).wake(), "a probe");
    trace.right_edge = 100 * MSS;
    assert_eq!(trace.ack(1), "1* 2*");
}

/// A fast recovery interrupted by a freeze ends with the data it had to repair, once.
#[test]
fn a_freeze_in_fast_recovery_repairs_once() {
    let mut trace = Trace::new(plain());
    trace.write(30).poll();
    trace.at(100);
    trace.ack(0);
    trace.ack(0);
    assert_eq!(trace.ack(0), "0*");
    trace.at(150).window(0);
    trace.at(5000).wake();
    trace.right_edge = 100 * MSS;
    // ssthresh = 10/2.
    assert_eq!(trace.ack(0), "0* 1* 2* 3* 4*");
    trace.at(5100);
    assert_eq!(trace.ack(5), "5* 6* 7* 8* 9* 10");
    trace.ack(11);
    assert!(trace.is_open());
    let counters = trace.sender.counters();
    assert_eq!((counters.timeouts, counters.fast_retransmits), (0, 1));
}

/// Bakshi et al. 1997 §5: the timer restarts with the current RTO (300 ms, doubled after an
/// expiry), nothing else changes.
#[test]
fn a_bad_state_restarts_a_running_timer() {
    let mut trace = Trace::new(plain());
    let now = trace.now;
    trace.sender.restart_timer(now);
    assert_eq!(trace.next_ms(), None, "none runs");
    trace.write(1).poll();
    let before = format!("{:?}", trace.sender.timeout);
    for at in [250, 540, 830] {
        let now = trace.at(at).now;
        trace.sender.restart_timer(now);
        assert_eq!(trace.next_ms(), Some(at + 300));
    }
    assert_eq!(format!("{:?}", trace.sender.timeout), before);
    assert_eq!(trace.cwnd(), 10 * MSS);
    trace.at(1130).wake();
    assert_eq!(trace.poll(), "0*");
    let now = trace.at(1200).now;
    trace.sender.restart_timer(now);
    assert_eq!(trace.next_ms(), Some(1800));
    assert_eq!(trace.sender.counters().timeouts, 1);
}

/// Each segment's timer restarts, with its backoff.
#[test]
fn a_bad_state_restarts_the_timers_of_segments() {
    let mut trace = Trace::new(Config {
        timeout: TimeoutConfig {
            scope: Some(TimerScope::Segment),
            ..TimeoutConfig::default()
        },
        retransmission: Retransmission::SelectiveRepeat,
        ..plain()
    });
    trace.write(1).poll();
    trace.at(100).write(1).poll();
    trace.at(300).wake();
    assert_eq!(trace.poll(), "0*");
    // Segment 0 has expired once: 600 ms; segment 1 never: 300 ms.
    let now = trace.at(350).now;
    trace.sender.restart_timer(now);
    assert_eq!(trace.next_ms(), Some(650));
    trace.ack(0);
    let earliest = trace.sender.board.earliest_deadline();
    let expected = Instant::ZERO + Duration::from_millis(650);
    assert_eq!(earliest, Some((1, expected)));
    trace
        .sender
        .board
        .sack(std::slice::from_ref(&(MSS..2 * MSS)));
    let earliest = trace.sender.board.earliest_deadline();
    let expected = Instant::ZERO + Duration::from_millis(950);
    assert_eq!(earliest, Some((0, expected)));
}

/// A full segment with a FIN is a byte longer than a window of one segment: it is nevertheless
/// retransmitted when the window opens, or nothing ever would be.
#[test]
fn a_full_segment_with_a_fin_is_sent_again_into_the_smallest_window() {
    let mut trace = Trace::new(Config {
        max_window: Some(1),
        ..plain()
    });
    trace.write(2);
    trace.sender.close();
    assert_eq!(trace.poll(), "0");
    trace.at(100);
    let with_fin = trace.ack(1);
    assert!(with_fin.starts_with('1'), "{with_fin}");
    trace.right_edge = MSS;
    assert_eq!(trace.ack(1), "");
    trace.wake_when_due();
    trace.right_edge = 100 * MSS;
    let again = trace.at(2000).ack(1);
    assert!(again.starts_with('1'), "{again}");
    assert!(trace.next_ms().is_some());
}

/// A window that closes while pacing blocks: without a probe's timer nothing would ever ask for it,
/// should the update that opens it be lost.
#[test]
fn a_window_that_shuts_while_the_pace_blocks_is_probed() {
    for shuts in [false, true] {
        let mut trace = Trace::new(Config {
            pacing: true,
            initial_window: 12,
            ..plain()
        });
        // Nine that are not paced and a burst of two: nothing waits for pacing then, so its timer
        // does not run.
        trace.write(11);
        assert_eq!(trace.poll(), "0 1 2 3 4 5 6 7 8 9 10");
        trace.write(5);
        if shuts {
            trace.right_edge = 11 * MSS;
        }
        assert_eq!(trace.at(2).ack(11), "", "the pace blocks");
        let (_, probes) = trace.wake_when_due();
        assert_eq!(probes, shuts);
        if shuts {
            trace.right_edge = 100 * MSS;
            trace.ack(11);
        }
        assert_eq!(trace.poll(), if shuts { "" } else { "11 12" });
        assert_eq!(trace.sender.nxt(), 13 * MSS);
    }
}

/// Ten windows that close and reopen at once, while ten segments are in flight: all of them may
/// still be acknowledged, and nothing is sent twice.
#[test]
fn a_window_that_flaps_has_nothing_sent_again() {
    for profile in [Profile::NewReno, Profile::Linux] {
        let mut trace = Trace::new(Config {
            mss: 1000,
            ..profile.config()
        });
        trace.write(10).poll();
        for flap in 0..10 {
            trace.at(20 + 10 * flap).window(0);
            trace.at(25 + 10 * flap).window(65_535);
        }
        assert_eq!(trace.at(120).ack(10), "");
        let counters = trace.sender.counters();
        assert_eq!(counters.segments_retransmitted, 0, "{profile:?}");
    }
}

/// Linux waits for its timer, which expires at 300 ms, however long the window was closed before
/// that.
#[test]
fn a_window_that_opens_again_waits_for_the_timer_where_linux_does() {
    let mut trace = Trace::new(Config {
        quirks: QuirksConfig {
            window_reopening: WindowReopening::AwaitTimer,
            ..QuirksConfig::default()
        },
        ..plain()
    });
    trace.write(20).poll();
    trace.at(50).window(0);
    trace.at(290);
    trace.right_edge = 100 * MSS;
    assert_eq!(trace.ack(0), "");
    assert_eq!(trace.next_ms(), Some(300));
    trace.at(300).wake();
    assert_eq!(trace.poll(), "0*");
    assert_eq!(trace.sender.counters().timeouts, 1);
}
