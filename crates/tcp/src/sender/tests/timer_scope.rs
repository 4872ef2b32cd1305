//! One timer for a connection or one for each segment, and the retransmissions at an expiry.

#![expect(
    clippy::single_range_in_vec_init,
    reason = "a report of one block is a slice of one range"
)]

use super::*;
use crate::config::Reneging;

/// Miyim §IV: "select-N-repeat", a timer for each segment.
fn selective_repeat() -> Config {
    Config {
        retransmission: Retransmission::SelectiveRepeat,
        ..plain()
    }
}

/// Three segments sent at 0, 10 and 20 ms; the first and the last are lost.
fn three(config: Config) -> Trace {
    let mut trace = Trace::new(config);
    for time in [0, 10, 20] {
        trace.at(time).write(1).poll();
    }
    trace
}

#[test]
fn selective_repeat_sends_again_what_expired_and_nothing_else() {
    let mut trace = three(selective_repeat());
    assert_eq!(trace.next_ms(), Some(300));
    trace.at(300).wake();
    assert_eq!((trace.poll().as_str(), trace.next_ms()), ("0*", Some(310)));
    trace.at(310).wake();
    assert_eq!((trace.poll().as_str(), trace.next_ms()), ("1*", Some(320)));
    trace.at(320).wake();
    // Each backs off independently: 0 was sent at 300 with twice the RTO.
    assert_eq!((trace.poll().as_str(), trace.next_ms()), ("2*", Some(900)));
    assert_eq!(trace.rto_ms(), 300);
    assert_eq!(
        trace.take_events().last(),
        Some(&Event::Timeout {
            offset: 2 * MSS,
            transmissions: 1,
            rto: milliseconds(300)
        })
    );
    // The retransmission is lost as well.
    trace.at(900).wake();
    assert_eq!((trace.poll().as_str(), trace.next_ms()), ("0*", Some(910)));
    assert_eq!(
        trace.take_events(),
        [Event::Timeout {
            offset: 0,
            transmissions: 2,
            rto: milliseconds(600)
        }]
    );
    trace.at(905).ack(2);
    assert_eq!(
        trace.next_ms(),
        Some(920),
        "the timer of 2, which is still out"
    );
    trace.at(920).wake();
    assert_eq!(trace.poll(), "2*");
    trace.ack(3);
    assert_eq!(trace.next_ms(), None);
    assert_eq!(trace.sender.counters().timeouts, 5);
}

/// Segments sent at the same instant expire at the same instant, one per wake-up.
#[test]
fn equal_timers_expire_one_after_the_other() {
    let mut trace = Trace::new(selective_repeat());
    trace.write(2).poll();
    trace.at(300).wake();
    assert_eq!((trace.poll().as_str(), trace.next_ms()), ("0*", Some(300)));
    trace.wake();
    assert_eq!((trace.poll().as_str(), trace.next_ms()), ("1*", Some(900)));
    assert!(!trace.wake(), "no more at this instant");
    assert_eq!(
        (trace.poll().as_str(), trace.sender.counters().timeouts),
        ("", 2)
    );
}

/// Pacing may hold back an expired segment. Later expiries do not go before the front: only it
/// moves the cumulative acknowledgment.
#[test]
fn what_expires_later_does_not_go_before_the_front() {
    let mut trace = Trace::new(selective_repeat());
    trace.write(2).poll();
    trace.at(300).wake();
    trace.wake();
    assert_eq!(trace.sender.counters().timeouts, 2);
    assert_eq!((trace.poll().as_str(), trace.next_ms()), ("0*", Some(900)));
    trace.at(400);
    assert_eq!(trace.ack(1), "1*");
}

/// Miyim §IV: "trace-N-retransmit", everything from the expired segment on, as the window opens.
#[test]
fn go_back_n_sends_everything_again() {
    let mut trace = three(plain());
    trace.at(300).wake();
    assert_eq!((trace.poll().as_str(), trace.next_ms()), ("0*", Some(900)));
    trace.at(400);
    assert_eq!(trace.ack(1), "1* 2*");
    assert_eq!(trace.sender.counters().segments_retransmitted, 3);
    assert_eq!(trace.sender.counters().timeouts, 1);
}

/// The timers' scope is an independent choice.
#[test]
fn go_back_n_can_have_a_timer_for_each_segment() {
    let timeout = TimeoutConfig {
        scope: Some(TimerScope::Segment),
        ..TimeoutConfig::default()
    };
    let mut trace = three(Config { timeout, ..plain() });
    trace.at(300).wake();
    assert_eq!((trace.poll().as_str(), trace.next_ms()), ("0*", Some(900)));
    trace.at(400);
    assert_eq!(trace.ack(1), "1* 2*");
    assert_eq!(
        trace.next_ms(),
        Some(400 + 300),
        "they expired not once themselves"
    );
}

#[test]
fn selective_repeat_can_have_one_timer() {
    let timeout = TimeoutConfig {
        scope: Some(TimerScope::Connection),
        ..TimeoutConfig::default()
    };
    let mut trace = three(Config {
        timeout,
        ..selective_repeat()
    });
    assert_eq!(trace.next_ms(), Some(300));
    trace.at(300).wake();
    assert_eq!((trace.poll().as_str(), trace.next_ms()), ("0*", Some(900)));
    trace.at(400);
    assert_eq!(trace.ack(2), "", "2 is believed to be in flight");
    trace.at(1000).wake();
    assert_eq!(trace.poll(), "2*");
}

/// With SACK the timers of arrived segments do not expire.
#[test]
fn reported_segments_do_not_expire() {
    let mut trace = three(Config {
        sack: true,
        ..selective_repeat()
    });
    trace.at(100).sack(0, std::slice::from_ref(&(1..2)));
    trace.at(300).wake();
    assert_eq!((trace.poll().as_str(), trace.next_ms()), ("0*", Some(320)));
    trace.at(320).wake();
    assert_eq!((trace.poll().as_str(), trace.next_ms()), ("2*", Some(900)));
    assert_eq!(trace.sender.counters().timeouts, 2);
}

/// Miyim §IV: each segment's timer is the only one. A probe's timer or the reordering window's in
/// its place would be overwritten by it, and expire as the wrong one.
#[test]
fn a_timer_of_each_segment_leaves_no_room_for_others() {
    let mut trace = Trace::new(Config {
        sack: true,
        retransmission: Retransmission::SelectiveRepeat,
        loss_detection: LossDetection::Rack,
        tail_loss_probe: true,
        ..plain()
    });
    trace.write(5).poll();
    assert_eq!(trace.next_ms(), Some(300), "a probe would leave at 202");
    trace.at(100).sack(0, &[3..4, 1..2]);
    assert_eq!(trace.next_ms(), Some(300), "the reordering window is 25 ms");
    trace.at(300).wake();
    assert_eq!(trace.poll(), "0*");
    assert_eq!(trace.sender.counters().timeouts, 1);
}

/// With a timer for each segment: segment 1 is presumed lost, which stops its timer, and SACKed
/// then. If the receiver asks for it all the same, it has dropped it (RFC 2018 §8), and only a
/// timer can retransmit it.
#[test]
fn a_reported_front_whose_timer_stopped_is_timed_again() {
    for reneging in [Reneging::AtTimeout, Reneging::HalfRoundTrip] {
        let mut trace = Trace::new(Config {
            sack: true,
            quirks: QuirksConfig {
                reneging,
                ..QuirksConfig::default()
            },
            timeout: TimeoutConfig {
                scope: Some(TimerScope::Segment),
                ..TimeoutConfig::default()
            },
            ..plain()
        });
        trace.write(5);
        assert_eq!(trace.poll(), "0 1 2 3 4");
        trace.at(300).wake();
        assert_eq!(trace.poll(), "0*");
        trace.sack(0, &[1..5]);
        trace.at(350).sack(1, &[1..5]);
        let due = trace.next_ms().expect("a timer");
        trace.at(due).wake();
        assert_eq!(trace.poll(), "1*", "{reneging:?}");
        assert_eq!(trace.sender.scoreboard().sacked(), 0);
    }
}

/// Selective repeat: all are presumed lost and SACKed then; the receiver asks for the first, and
/// has dropped the others too, after their timers had stopped.
#[test]
fn reports_that_are_void_leave_nothing_without_a_timer() {
    let mut trace = Trace::new(Config {
        sack: true,
        recovery: Recovery::Tahoe,
        retransmission: Retransmission::SelectiveRepeat,
        ..plain()
    });
    trace.write(6);
    assert_eq!(trace.poll(), "0 1 2 3 4 5");
    trace.at(100).sack(0, &[3..6]);
    assert_eq!(trace.sender.scoreboard().lost(), 3 * MSS);
    trace.at(150).sack(0, &[1..6]);
    trace.at(200).ack(1);
    for _ in 0..20 {
        if trace.sender.una() == 6 * MSS {
            return;
        }
        trace.wake_when_due();
        let sent = trace.poll();
        if let Some(last) = sent.split([' ', '*']).rfind(|part| !part.is_empty()) {
            let next = last.parse::<u64>().expect("a number") + 1;
            trace.ack(next.max(trace.sender.una() / MSS));
        }
    }
    panic!("{:?}", trace.sender.scoreboard());
}

/// A wake-up that is early, or when everything is acknowledged, has nothing to do.
#[test]
fn an_early_wakeup_does_nothing() {
    for config in [plain(), selective_repeat()] {
        let mut trace = three(config);
        trace.at(299).wake();
        assert_eq!((trace.poll().as_str(), trace.next_ms()), ("", Some(300)));
        // A segment acknowledged in between takes its timer along.
        trace.at(299).ack(1);
        trace.at(301).wake();
        assert_eq!(trace.sender.counters().timeouts, 0);
        assert!(trace.next_ms() > Some(301));
    }
}
