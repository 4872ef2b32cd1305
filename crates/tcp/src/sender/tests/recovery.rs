//! Loss recovery without SACK: RFC 5681 §3.2, RFC 6582 §3.2, RFC 3042.

use super::*;
use crate::config::{
    DuplicateCounting, Reduction, ReductionBase, SpuriousDetection, SpuriousResponse,
};

/// Ten segments in flight, then duplicates until `duplicates` have arrived; returns the segments
/// sent after each.
fn with_duplicates(config: Config, duplicates: usize) -> (Trace, Vec<String>) {
    let mut trace = Trace::new(config);
    trace.write(30);
    assert_eq!(trace.poll(), "0 1 2 3 4 5 6 7 8 9");
    trace.at(100);
    let said = (0..duplicates).map(|_| trace.ack(0)).collect();
    (trace, said)
}

/// RFC 5681 §3.2, steps 2 and 3.
#[test]
fn the_third_duplicate_means_a_loss() {
    let (mut trace, said) = with_duplicates(plain(), 3);
    assert_eq!(said, ["", "", "0*"]);
    assert_eq!(trace.take_events(), [Event::FastRetransmit { offset: 0 }]);
    assert_eq!(
        (trace.cwnd(), trace.sender.ssthresh()),
        (5 * MSS, Some(5 * MSS))
    );
    let counters = trace.sender.counters();
    assert_eq!(
        (counters.fast_retransmits, counters.segments_retransmitted),
        (1, 1)
    );
    assert_eq!(
        (counters.segments_sent, counters.bytes_retransmitted),
        (11, MSS)
    );
    assert_eq!(
        trace.next_ms(),
        Some(100 + trace.rto_ms()),
        "the repair has a whole timeout (RFC 6675 §6)"
    );
}

#[test]
fn the_threshold_can_be_another() {
    let config = Config {
        duplicate_ack_threshold: 5,
        ..plain()
    };
    let (_, said) = with_duplicates(config, 5);
    assert_eq!(said, ["", "", "", "", "0*"]);
}

/// RFC 6582 §3.2 by hand: 0 and 2 are lost out of 0 to 9. FlightSize is 10, so ssthresh is 5 and
/// the window 5 + 3. Each further duplicate adds one; beyond ten they let new segments out.
#[test]
fn newreno_repairs_one_loss_each_round_trip() {
    let (mut trace, said) = with_duplicates(plain(), 8);
    assert_eq!(said[3..], ["", "", "10", "11", "12"]);
    trace.take_events();
    // Partial: it covers two segments. Deflates by two, adds one back: 5 + 8 − 2 + 1 = 12 against
    // 11 outstanding, so that one more new segment goes out.
    trace.at(200);
    assert_eq!(trace.ack(2), "2* 13");
    // 10, 11 and 12 arrive.
    assert_eq!(
        [trace.ack(2), trace.ack(2), trace.ack(2)],
        ["14", "15", "16"]
    );
    assert!(!trace.is_open());
    // Full: everything up to 12. The window is min(ssthresh, FlightSize + 1) = min(5, 4 + 1).
    trace.at(300);
    assert_eq!(trace.ack(13), "17");
    assert!(trace.is_open());
    assert_eq!(trace.cwnd(), 5 * MSS);
    assert_eq!(trace.take_events().last(), Some(&Event::RecoveryExit));
    assert_eq!(trace.sender.counters().fast_retransmits, 1);
}

/// RFC 6582 §3.2 step 3: at most FlightSize and one segment, to avoid a burst.
#[test]
fn the_window_after_recovery_follows_what_is_in_flight() {
    let (mut trace, _) = with_duplicates(plain(), 3);
    trace.at(200);
    assert_eq!(trace.ack(10), "10 11");
    assert_eq!(
        trace.cwnd(),
        2 * MSS,
        "nothing was in flight: max(0, 1) + 1"
    );
}

/// RFC 6582 §3.2 step 3, the impatient variant.
#[test]
fn only_the_first_partial_acknowledgment_restarts_the_timer() {
    let (mut trace, _) = with_duplicates(plain(), 3);
    assert_eq!(trace.next_ms(), Some(400));
    trace.at(150).ack(1);
    assert_eq!(trace.next_ms(), Some(450));
    trace.at(160).ack(2);
    assert_eq!(trace.next_ms(), Some(450));
    trace.at(170).ack(3);
    assert_eq!(trace.next_ms(), Some(450));
    trace.at(180).ack(10);
    assert_eq!(
        trace.next_ms(),
        Some(180 + trace.rto_ms()),
        "a full one does"
    );
}

/// RFC 6582 §3.2 step 2: duplicates of data outstanding in the last recovery start no new one.
#[test]
fn a_recovery_does_not_follow_from_the_last_ones_duplicates() {
    let (mut trace, _) = with_duplicates(plain(), 3);
    trace.at(200);
    assert_eq!(trace.ack(10), "10 11");
    for _ in 0..5 {
        assert_eq!(
            trace.ack(10),
            "",
            "the acknowledgment does not cover more than 9, recover"
        );
    }
    assert_eq!(trace.sender.counters().fast_retransmits, 1);
    assert_eq!(trace.ack(11), "12 13", "slow start from two to five");
    assert_eq!(
        [trace.ack(11), trace.ack(11), trace.ack(11)],
        ["", "", "11* 14 15"]
    );
    assert_eq!(trace.sender.counters().fast_retransmits, 2);
}

/// Also after a timeout (RFC 6582 §3.2 step 4): go-back-N causes duplicates.
#[test]
fn no_fast_retransmit_for_what_was_outstanding_at_a_timeout() {
    let mut trace = Trace::new(plain());
    trace.write(30).poll();
    trace.at(300).wake();
    assert_eq!(trace.poll(), "0*");
    trace.at(400);
    assert_eq!(trace.ack(5), "5* 6*");
    for _ in 0..5 {
        assert_eq!(trace.ack(5), "");
    }
    assert_eq!(trace.ack(10), "10 11 12");
    assert!(trace.is_open());
    for _ in 0..5 {
        assert_eq!(trace.ack(10), "");
    }
    assert_eq!(trace.sender.counters().fast_retransmits, 0);
}

/// RFC 2581 §3.2 step 6: the first new acknowledgment ends recovery, partial or not.
#[test]
fn reno_recovers_until_the_first_new_acknowledgment() {
    let config = Config {
        recovery: Recovery::Reno,
        ..plain()
    };
    let (mut trace, said) = with_duplicates(config, 8);
    assert_eq!(said[2..], ["0*", "", "", "10", "11", "12"]);
    trace.at(200);
    assert_eq!(trace.ack(2), "", "5 against 11 outstanding");
    assert!(trace.is_open());
    assert_eq!(trace.cwnd(), 5 * MSS);
    assert_eq!(trace.next_ms(), Some(200 + trace.rto_ms()));
}

/// Jacobson 1988: slow start from one segment, and everything is retransmitted.
#[test]
fn tahoe_starts_over() {
    let config = Config {
        recovery: Recovery::Tahoe,
        ..plain()
    };
    let (mut trace, said) = with_duplicates(config, 5);
    assert_eq!(said, ["", "", "0*", "", ""]);
    assert_eq!(
        (trace.cwnd(), trace.sender.ssthresh()),
        (MSS, Some(5 * MSS))
    );
    assert_eq!(trace.sender.in_flight(), MSS);
    trace.at(200);
    // 1 had arrived, 2 not. Slow start: a window of two.
    assert_eq!(trace.ack(2), "2* 3*");
    assert_eq!(trace.ack(10), "10 11 12");
    assert!(trace.is_open());
    assert_eq!(
        (trace.cwnd(), trace.sender.counters().timeouts),
        (3 * MSS, 0)
    );
}

/// Only a timeout can be spurious: an echo older than Tahoe's fast retransmit is no evidence.
#[test]
fn tahoe_judges_no_timeout() {
    let config = Config {
        recovery: Recovery::Tahoe,
        ..plain()
    };
    let (mut trace, _) = with_duplicates(config, 3);
    trace.at(200).echo(5, 0);
    assert_eq!(trace.sender.counters().timeouts_judged_spurious, 0);
}

/// RFC 3042 §2: one new segment for each of the first two duplicates, beyond the window; and RFC
/// 5681 §3.2 step 2: they are not part of FlightSize.
#[test]
fn the_first_two_duplicates_each_let_a_segment_out() {
    let config = Config {
        limited_transmit: true,
        ..plain()
    };
    let (mut trace, said) = with_duplicates(config, 4);
    assert_eq!(said, ["10", "11", "0*", ""]);
    assert_eq!(
        trace.sender.ssthresh(),
        Some(5 * MSS),
        "half of 10, not of 12"
    );
    // The recovery lasts until those two are acknowledged as well.
    trace.at(200);
    assert_eq!(trace.ack(11), "11* 12 13 14 15");
    assert!(!trace.is_open());
    trace.ack(12);
    assert!(trace.is_open());
}

#[test]
fn a_third_duplicate_lets_no_third_segment_out() {
    let config = Config {
        limited_transmit: true,
        duplicate_ack_threshold: 9,
        ..plain()
    };
    let (mut trace, said) = with_duplicates(config, 5);
    assert_eq!(said, ["10", "11", "", "", ""]);
    // A new acknowledgment restarts the count, and the two are ordinary from then on.
    trace.at(150);
    assert_eq!(trace.ack(2), "");
    assert_eq!(trace.ack(3), "12");
    assert_eq!([trace.ack(3), trace.ack(3), trace.ack(3)], ["13", "14", ""]);
    trace.at(600).wake();
    assert_eq!(trace.sender.ssthresh(), Some(5 * MSS), "half of 12 − 2");
}

/// RFC 5681 §2: the definition of a duplicate acknowledgment.
#[test]
fn only_a_bare_one_with_the_same_window_while_data_is_out_is_a_duplicate() {
    let mut trace = Trace::new(plain());
    trace.write(10);
    for _ in 0..5 {
        trace.ack_bytes(0);
    }
    trace.poll();
    let right_edge = trace.right_edge;
    for _ in 0..5 {
        // It carries data.
        trace.take(&Acknowledgment {
            offset: 0,
            right_edge,
            bare: false,
            sack: &[],
            echo: None,
            marked: false,
            brakes: false,
            counted: None,
        });
    }
    for step in 1..5 {
        trace.window(right_edge + step);
    }
    // An old one.
    trace.ack(1);
    for _ in 0..5 {
        trace.ack_bytes(0);
    }
    assert_eq!(trace.poll(), "");
    assert_eq!(trace.sender.counters().fast_retransmits, 0);
}

/// Linux, `tcp_add_reno_sack` and `tcp_remove_reno_sacks`: each duplicate removes a segment from
/// the data in flight, a partial acknowledgment restores those it covers except the repaired one,
/// and the next gap is repaired when the window allows.
#[test]
fn duplicates_that_count_as_arrivals_survive_a_partial_acknowledgment() {
    let mut trace = Trace::new(Config {
        quirks: QuirksConfig {
            duplicate_counting: DuplicateCounting::Arrivals,
            ..QuirksConfig::default()
        },
        reduction_base: ReductionBase::Window,
        ..plain()
    });
    trace.write(20).poll();
    assert_eq!(trace.sender.in_flight(), 10 * MSS);
    // Segments 0 and 4 are lost: eight duplicates; the third starts the recovery.
    for duplicates in 1..=8 {
        trace.at(100).ack(0);
        let arrived = duplicates * MSS;
        let resent = u64::from(duplicates >= 3) * MSS;
        let sent = trace.sender.nxt() - 10 * MSS;
        let lost = resent;
        assert_eq!(
            trace.sender.in_flight(),
            10 * MSS + sent + resent - lost - arrived
        );
    }
    // A window of five, with two in flight: three more have left.
    assert_eq!(trace.sender.cwnd(), 5 * MSS);
    assert_eq!(trace.sender.nxt(), 13 * MSS);
    // The retransmission of segment 0 covers four; five after segment 4 have arrived, and it is
    // retransmitted.
    assert_eq!(trace.at(200).ack(4), "4* 13");
    assert_eq!(trace.sender.in_flight(), 5 * MSS);
    assert!(!trace.is_open());
    // Everything outstanding is acknowledged: the duplicates are forgotten.
    trace.at(300).ack(12);
    let outstanding = trace.sender.nxt() - trace.sender.una();
    assert_eq!(trace.sender.in_flight(), outstanding);
}

/// RFC 6582 §3.2 step 2; Linux, `tcp_is_non_sack_preventing_reopen`: when everything is
/// acknowledged that was outstanding at the start of the recovery, duplicates may come from
/// needless retransmissions. They start nothing and count as no arrival until more is acknowledged.
#[test]
fn a_recovery_without_sack_is_held_until_more_is_acknowledged() {
    let mut trace = Trace::new(Config {
        sack: false,
        quirks: QuirksConfig {
            duplicate_counting: DuplicateCounting::Arrivals,
            ..QuirksConfig::default()
        },
        reduction_base: ReductionBase::Window,
        reduction: Reduction::Proportional,
        ..plain()
    });
    trace.write(40).poll();
    for _ in 0..3 {
        trace.at(100).ack(0);
    }
    let recover = trace.sender.nxt() / MSS;
    for _ in 0..6 {
        trace.ack(0);
    }
    trace.at(200).ack(recover);
    assert!(!trace.is_open());
    let in_flight = trace.sender.in_flight();
    for _ in 0..5 {
        assert_eq!(trace.at(210).ack(recover), "");
        assert_eq!(trace.sender.in_flight(), in_flight);
    }
    assert_eq!(trace.sender.counters().fast_retransmits, 1);
    trace.at(300).ack(recover + 1);
    assert!(trace.is_open());
    assert_eq!(Some(trace.sender.cwnd()), trace.sender.ssthresh());
}

/// Linux, `tcp_check_reno_reordering`: more duplicates than segments that can have arrived come
/// from late segments, and from then on as many as were outstanding are needed before a loss is
/// believed (`tcp_newreno_mark_lost`).
#[test]
fn surplus_duplicates_raise_the_threshold() {
    let mut trace = Trace::new(Config {
        sack: false,
        quirks: QuirksConfig {
            duplicate_counting: DuplicateCounting::Arrivals,
            ..QuirksConfig::default()
        },
        reduction_base: ReductionBase::Window,
        reduction: Reduction::Proportional,
        ..plain()
    });
    // Of twelve duplicates nine can come from segments that arrived after the first of ten.
    trace.write(10).poll();
    for _ in 0..12 {
        trace.at(100).ack(0);
    }
    assert_eq!(trace.sender.reordering(), 10);
    trace.at(200).ack(10);
    trace.write(1).poll();
    trace.at(250).ack(11);
    assert!(trace.is_open());
    trace.write(5);
    assert_eq!(trace.poll(), "11 12 13 14 15");
    trace.at(300);
    for duplicates in 1..5 {
        assert_eq!(trace.ack(11), "", "{duplicates} duplicates");
    }
    assert!(trace.is_open(), "four are fewer than ten");
    // The timer expires although there are enough for any loss: the extent was overestimated.
    let due = trace.next_ms().expect("a timer");
    trace.at(due + 1).wake();
    assert_eq!(trace.sender.reordering(), 3);
}

/// Linux, `tcp_clean_rtx_queue`: without SACK the acknowledgment of a retransmission also covers
/// data that arrived before the timeout, and does not reveal whether that was needless.
#[test]
fn without_sack_an_acknowledged_retransmission_is_no_sign_of_a_needless_timeout() {
    let mut trace = Trace::new(Config {
        timestamps: false,
        spurious_detection: SpuriousDetection {
            frto: true,
            ..SpuriousDetection::default()
        },
        spurious_response: SpuriousResponse::Restore,
        ..plain()
    });
    trace.write(40).poll();
    trace.at(300).wake();
    assert_eq!(trace.poll(), "0*");
    trace.at(400).ack(5);
    assert_eq!(trace.sender.counters().recoveries_taken_back, 0);
    // Data that was not retransmitted is acknowledged: now it does.
    trace.at(410).ack(8);
    assert_eq!(trace.sender.counters().recoveries_taken_back, 1);
}
