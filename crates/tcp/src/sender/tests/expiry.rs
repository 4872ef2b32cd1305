//! Timers: RFC 6298 §5, Karn's rule, RFC 3522, and Miyim §IV.

use super::*;

/// RFC 6298 §5.1 to §5.3.
#[test]
fn one_timer_runs_while_data_is_out() {
    let mut trace = Trace::new(plain());
    trace.write(4);
    assert_eq!(trace.rto_ms(), 300);
    trace.at(10).poll();
    assert_eq!(trace.next_ms(), Some(310));
    trace.at(50).write(1).poll();
    assert_eq!(trace.next_ms(), Some(310), "§5.1: it is running");
    trace.at(110).ack(2);
    let rto = trace.rto_ms();
    assert_eq!(trace.next_ms(), Some(110 + rto), "§5.3");
    trace.at(120).ack(2);
    assert_eq!(trace.next_ms(), Some(110 + rto), "nothing new");
    trace.at(130).ack(5);
    assert_eq!(trace.next_ms(), None, "§5.2");
    trace.at(900).wake();
    assert_eq!(trace.sender.counters().timeouts, 0);
}

/// RFC 6298 §5.4 to §5.6, and RFC 5681 §3.1 eq. 4 and the lines below it.
#[test]
fn an_expiry_sends_the_oldest_again_and_backs_off() {
    let mut trace = Trace::new(plain());
    trace.write(20).poll();
    assert!(!trace.at(299).wake());
    assert_eq!(trace.poll(), "");
    trace.at(300).wake();
    assert_eq!(trace.poll(), "0*");
    assert_eq!(
        trace.take_events(),
        [Event::Timeout {
            offset: 0,
            transmissions: 1,
            rto: milliseconds(300)
        }]
    );
    assert_eq!(
        (trace.cwnd(), trace.sender.ssthresh()),
        (MSS, Some(5 * MSS))
    );
    assert_eq!((trace.rto_ms(), trace.next_ms()), (600, Some(900)));
    assert_eq!(trace.sender.in_flight(), MSS);
    // ssthresh is unchanged when the same segment times out repeatedly.
    trace.at(900).wake();
    assert_eq!(trace.poll(), "0*");
    assert_eq!(
        trace.take_events(),
        [Event::Timeout {
            offset: 0,
            transmissions: 2,
            rto: milliseconds(600)
        }]
    );
    assert_eq!(trace.sender.ssthresh(), Some(5 * MSS));
    assert_eq!(trace.next_ms(), Some(2100));
    // Karn's rule does not end the backoff here: it stays until there is a sample.
    trace.at(1000);
    assert_eq!(trace.ack(1), "1* 2*");
    assert_eq!((trace.rto_ms(), trace.cwnd()), (1200, 2 * MSS));
    assert_eq!(trace.next_ms(), Some(2200));
    assert_eq!(trace.sender.counters().timeouts, 2);
}

#[test]
fn another_segments_first_expiry_halves_again() {
    let mut trace = Trace::new(plain());
    trace.write(40).poll();
    trace.at(300).wake();
    trace.poll();
    trace.at(400).ack(1);
    trace.ack(2);
    trace.ack(3);
    assert_eq!((trace.cwnd(), trace.sender.in_flight()), (4 * MSS, 4 * MSS));
    trace.at(2000).wake();
    assert_eq!(trace.poll(), "3*");
    assert_eq!(
        trace.sender.ssthresh(),
        Some(2 * MSS),
        "half of the four that were retransmitted"
    );
}

#[test]
fn back_off_can_be_off() {
    let timeout = TimeoutConfig {
        back_off: false,
        ..TimeoutConfig::default()
    };
    let mut trace = Trace::new(Config { timeout, ..plain() });
    trace.write(1).poll();
    trace.at(300).wake();
    trace.poll();
    assert_eq!((trace.rto_ms(), trace.next_ms()), (300, Some(600)));
}

/// RFC 6298 §5.7 and RFC 5681 §3.1.
#[test]
fn a_lost_syn_makes_a_careful_start() {
    let mut sender = Sender::new(&plain(), 1000);
    sender.on_established(1000 * MSS, None, Some(Duration::from_secs(3)));
    sender.begin_with_one_segment();
    assert_eq!(sender.rto(), Duration::from_secs(3));
    assert_eq!(sender.cwnd(), MSS);
    let mut sender = Sender::new(&plain(), 1000);
    sender.on_established(1000 * MSS, None, None);
    assert_eq!(
        (sender.rto(), sender.cwnd()),
        (Duration::from_secs(1), 10 * MSS)
    );
}

/// A timeout in a fast recovery ends it.
#[test]
fn a_timeout_ends_a_fast_recovery() {
    let mut trace = Trace::new(plain());
    trace.write(30).poll();
    trace.at(100);
    for _ in 0..8 {
        trace.ack(0);
    }
    trace.at(400).wake();
    assert_eq!(trace.poll(), "0*");
    assert!(matches!(trace.sender.phase(), Phase::Timeout { recover, .. } if *recover == 13 * MSS));
    // Of 13 outstanding eight have left the network: half of five in whole segments.
    assert_eq!(
        (trace.cwnd(), trace.sender.ssthresh()),
        (MSS, Some(2 * MSS))
    );
    trace.at(500);
    assert_eq!(trace.ack(10), "10* 11*");
    assert_eq!(trace.ack(13), "13 14 15");
    assert!(trace.is_open());
}

/// Karn's rule: no sample from a segment sent twice, unless a timestamp identifies the answered
/// transmission (RFC 6298 §3, RFC 7323 §4.1).
#[test]
fn what_was_sent_twice_gives_no_sample_without_an_echo() {
    let mut trace = Trace::new(plain());
    trace.write(20).poll();
    trace.at(300).wake();
    trace.poll();
    trace.take_events();
    trace.at(350).ack(1);
    assert_eq!((trace.take_events(), trace.rto_ms()), (vec![], 600));
    trace.at(360).echo(3, 350);
    assert_eq!(
        trace.take_events(),
        [Event::RttSample {
            rtt: milliseconds(10)
        }]
    );
    assert!(trace.rto_ms() < 600, "the sample ended the back-off");
    assert_eq!(trace.sender.rtt().latest(), Some(milliseconds(10)));
    // The sender's record is exact, and the echo's ticks are not needed.
    trace.ack(10);
    trace.take_events();
    trace.at(400).echo(11, 0);
    assert_eq!(
        trace.take_events(),
        [Event::RttSample {
            rtt: milliseconds(40)
        }]
    );
}

/// RFC 7323 §4.1 to the letter: the round trip is the echo's, whatever the sender knows; 40 ms
/// here, although the segments were sent 100 ms ago. Without an echo there is no sample.
#[test]
fn an_echo_can_be_all_that_is_measured() {
    let timeout = TimeoutConfig {
        sampling: RttSampling::EchoedTimestamp,
        ..TimeoutConfig::default()
    };
    let mut trace = Trace::new(Config {
        timeout,
        timestamps: true,
        ..plain()
    });
    trace.write(20).poll();
    trace.at(100).echo(1, 60);
    assert_eq!(
        trace.take_events(),
        [Event::RttSample {
            rtt: milliseconds(40)
        }]
    );
    trace.at(110).ack(2);
    assert_eq!(trace.take_events(), []);
    // RFC 6298 §3: a round trip is measured all the same if the peer sends no timestamps.
    let mut trace = Trace::new(Config {
        timeout,
        timestamps: false,
        ..plain()
    });
    trace.write(20).poll();
    trace.at(100).ack(1);
    assert_eq!(
        trace.take_events(),
        [Event::RttSample {
            rtt: milliseconds(100)
        }]
    );
}

/// A sender without acknowledgments for an hour has not measured a round trip of an hour: the
/// longest that counts is the longest timeout, and a few round trips later little of it is left.
#[test]
fn a_round_trip_counts_at_most_as_the_longest_timeout() {
    let mut trace = Trace::new(plain());
    trace.write(20).poll();
    let longest = plain().timeout.max;
    trace.at(3_600_000).ack(1);
    assert_eq!(trace.sender.rtt().latest(), Some(longest));
    assert!(trace.sender.rtt().srtt() <= Some(longest / 8 + milliseconds(100)));
}

/// RFC 6298 §3: one segment per window is timed, and never a retransmitted one.
#[test]
fn one_segment_a_window_can_be_timed() {
    let timeout = TimeoutConfig {
        sampling: RttSampling::PerWindow,
        ..TimeoutConfig::default()
    };
    let mut trace = Trace::new(Config { timeout, ..plain() });
    trace.write(40).poll();
    trace.at(90).ack_bytes(MSS - 1);
    assert_eq!(trace.take_events(), [], "not the whole segment");
    trace.at(100).ack(1);
    assert_eq!(
        trace.take_events(),
        [Event::RttSample {
            rtt: milliseconds(100)
        }]
    );
    trace.at(110).ack(5);
    trace.at(120).ack(9);
    assert_eq!(trace.take_events(), [], "10, sent at 100, is timed now");
    trace.at(220).echo(11, 0);
    assert_eq!(
        trace.take_events(),
        [Event::RttSample {
            rtt: milliseconds(120)
        }]
    );
    // A retransmission stops the timing.
    trace.at(2000).wake();
    trace.poll();
    trace.take_events();
    trace.at(2100).ack(15);
    assert_eq!(trace.take_events(), []);
}

/// RFC 3522 §3: an echo older than the retransmission shows that the original arrived.
#[test]
fn a_timeout_is_judged_by_the_first_echo() {
    for (echoed, spurious) in [(0, 1), (299, 1), (300, 0), (301, 0)] {
        let mut trace = Trace::new(plain());
        trace.write(20).poll();
        trace.at(300).wake();
        trace.poll();
        trace.take_events();
        trace.at(350).echo(1, echoed);
        trace.at(360).echo(2, 0);
        assert_eq!(
            trace.sender.counters().timeouts_judged_spurious,
            spurious,
            "{echoed}"
        );
        let judged = trace.take_events().contains(&Event::TimeoutJudgedSpurious);
        assert_eq!(judged, spurious == 1);
    }
    // Without timestamps the ambiguity remains.
    let mut trace = Trace::new(plain());
    trace.write(20).poll();
    trace.at(300).wake();
    trace.poll();
    trace.ack(1);
    assert_eq!(trace.sender.counters().timeouts_judged_spurious, 0);
}

/// RFC 5682 §2.1 step 2b: F-RTO tests with new data. If room for half a segment lets no new data
/// leave, conventional recovery continues (Linux, `tcp_xmit_recovery`).
#[test]
fn frto_without_room_for_new_data_repairs() {
    let mut trace = Trace::new(Config {
        spurious_detection: SpuriousDetection {
            frto: true,
            ..SpuriousDetection::default()
        },
        ..plain()
    });
    trace.window(3 * MSS + 500).write(10);
    assert_eq!(trace.poll(), "0 1 2");
    trace.at(300).wake();
    assert_eq!(trace.poll(), "0*");
    trace.at(400);
    assert_eq!(trace.ack(1), "1* 2*");
}

/// Linux, `tcp_enter_loss`: a timeout with enough SACKs to mean a loss shows that the extent of
/// reordering was overestimated.
#[test]
fn a_timeout_bounds_the_reordering_that_was_believed() {
    let mut trace = Trace::new(Config {
        sack: true,
        loss_detection: LossDetection::Rack,
        // The reordering window has no timer that would look for losses first.
        retransmission: Retransmission::SelectiveRepeat,
        ..plain()
    });
    trace.write(10).poll();
    trace.at(100).sack(0, &[7..8, 5..6]);
    trace.sack(0, &[1..2, 7..8]);
    assert_eq!(trace.sender.reordering(), 7, "segment 1 came behind 7");
    trace.at(300).wake();
    assert_eq!(trace.sender.counters().timeouts, 1);
    assert_eq!(trace.sender.reordering(), 3);
}

/// ns-2's `TcpAgent::newack`: with timestamps every new acknowledgment is measured, without them
/// one segment per window.
#[test]
fn ns2_measures_by_timestamps() {
    for (timestamps, samples) in [(true, 4), (false, 1)] {
        let mut trace = Trace::new(Config {
            timestamps,
            initial_window: 4,
            ..Profile::Ns2NewReno.config()
        });
        trace.write(4).poll();
        for segment in 1..5 {
            trace.at(100).ack_bytes(segment * MSS);
        }
        let of_round_trips = |event: &Event| matches!(event, Event::RttSample { .. });
        let events = trace.take_events();
        let count = events.into_iter().filter(of_round_trips).count();
        assert_eq!(count, samples, "timestamps {timestamps}");
    }
}

/// Linux, `tcp_rack_mark_lost`: the reordering window ends at the timeout at the latest, whatever
/// round trip it was computed from.
#[test]
fn a_reordering_window_is_no_longer_than_a_timeout() {
    let mut trace = Trace::new(Profile::Linux.config());
    trace.write(3).poll();
    let mut ends_after = |wait| {
        trace.sender.arm_reordering(trace.now, milliseconds(wait));
        trace.next_ms()
    };
    assert_eq!(ends_after(30), Some(32), "and two, as any timer");
    assert_eq!(ends_after(4_000_000), Some(300));
}
