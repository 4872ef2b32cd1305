//! Recovery with SACK: RFC 6675 §5, and DSACK: RFC 2883 §4.

use super::*;
use crate::config::{LossDetection, Reduction, SpuriousDetection, SpuriousResponse};

fn selective() -> Config {
    Config {
        sack: true,
        limited_transmit: true,
        ..plain()
    }
}

fn blocks(trace: &mut Trace, una: u64, ranges: &[(u64, u64)]) -> String {
    let ranges: Vec<_> = ranges.iter().map(|&(start, end)| start..end).collect();
    trace.sack(una, &ranges)
}

/// RFC 6675 §5 by hand: 0, 1 and 5 are lost out of 0 to 9, the window is 10.
#[test]
fn repairs_three_losses_in_one_round_trip() {
    let mut trace = Trace::new(selective());
    trace.write(30);
    assert_eq!(trace.poll(), "0 1 2 3 4 5 6 7 8 9");
    trace.at(100);
    // Steps 3.1 to 3.3: pipe is 9, and 9 once more: limited transmit.
    assert_eq!(blocks(&mut trace, 0, &[(2, 3)]), "10");
    assert_eq!(blocks(&mut trace, 0, &[(2, 4)]), "11");
    // Step 4: FlightSize without the two is 10. Pipe = 12 − 3 reported − 2 lost + 1 = 8.
    assert_eq!(blocks(&mut trace, 0, &[(2, 5)]), "0*");
    assert_eq!(
        (trace.cwnd(), trace.sender.ssthresh()),
        (5 * MSS, Some(5 * MSS))
    );
    assert_eq!(trace.sender.in_flight(), 8 * MSS);
    assert_eq!(blocks(&mut trace, 0, &[(6, 7), (2, 5)]), "");
    assert_eq!(blocks(&mut trace, 0, &[(6, 8), (2, 5)]), "");
    // Three above 5: lost. Pipe = 12 − 6 − 3 + 1 = 4: rule 1.
    assert_eq!(blocks(&mut trace, 0, &[(6, 9), (2, 5)]), "1*");
    assert_eq!(blocks(&mut trace, 0, &[(6, 10), (2, 5)]), "5*");
    // Rule 2: new data.
    assert_eq!(blocks(&mut trace, 0, &[(6, 11), (2, 5)]), "12");
    assert_eq!(blocks(&mut trace, 0, &[(6, 12), (2, 5)]), "13");
    trace.at(200);
    let events = trace.take_events();
    assert_eq!(events, [Event::FastRetransmit { offset: 0 }]);
    assert_eq!(blocks(&mut trace, 1, &[(6, 12), (2, 5)]), "14");
    assert_eq!(trace.next_ms(), Some(200 + trace.rto_ms()), "RFC 6298 §5.3");
    assert_eq!(blocks(&mut trace, 5, &[(6, 12)]), "15");
    assert!(!trace.is_open());
    // Step A: the recovery point, 12, is reached.
    assert_eq!(blocks(&mut trace, 12, &[]), "16");
    assert!(trace.is_open());
    assert_eq!(trace.cwnd(), 5 * MSS);
    assert_eq!(trace.take_events().last(), Some(&Event::RecoveryExit));
    let counters = trace.sender.counters();
    assert_eq!(
        (counters.fast_retransmits, counters.segments_retransmitted),
        (1, 3)
    );
}

/// RFC 6675 §2: an acknowledgment without news is not a duplicate.
#[test]
fn repeated_reports_are_no_duplicates() {
    let mut trace = Trace::new(selective());
    trace.write(30).poll();
    for _ in 0..6 {
        blocks(&mut trace, 0, &[(2, 3)]);
        trace.ack(0);
    }
    assert_eq!(trace.sender.counters().fast_retransmits, 0);
    // IsLost() needs no third duplicate: one acknowledgment may report enough.
    assert_eq!(blocks(&mut trace, 0, &[(2, 5)]), "0*");
}

/// The loss shows only when the first hole is filled late: then the next one is at the front.
#[test]
fn a_loss_behind_a_reordered_segment_is_found() {
    let mut trace = Trace::new(selective());
    trace.write(10).poll();
    trace.at(100);
    blocks(&mut trace, 0, &[(2, 4)]);
    assert_eq!(trace.sender.counters().fast_retransmits, 0);
    assert_eq!(blocks(&mut trace, 1, &[(2, 5)]), "1*");
    assert_eq!(trace.sender.counters().fast_retransmits, 1);
}

/// RFC 3042 is optional with SACK as well: without it nothing is sent before a loss is found.
#[test]
fn without_limited_transmit_the_first_two_send_nothing() {
    let mut trace = Trace::new(Config {
        limited_transmit: false,
        ..selective()
    });
    trace.write(30).poll();
    assert_eq!(blocks(&mut trace, 0, &[(2, 3)]), "");
    assert_eq!(blocks(&mut trace, 0, &[(2, 4)]), "");
    assert_eq!(blocks(&mut trace, 0, &[(2, 5)]), "0*");
}

/// Rule 3, then rule 4: nothing is lost for certain and there is nothing new to send.
#[test]
fn without_new_data_holes_are_filled_and_the_last_is_rescued() {
    let mut trace = Trace::new(selective());
    trace.write(10).poll();
    trace.at(100);
    // 0, 6 and 9 are lost.
    blocks(&mut trace, 0, &[(1, 2)]);
    blocks(&mut trace, 0, &[(1, 3)]);
    assert_eq!(blocks(&mut trace, 0, &[(1, 4)]), "0*");
    assert_eq!(blocks(&mut trace, 0, &[(1, 5)]), "");
    assert_eq!(blocks(&mut trace, 0, &[(1, 6)]), "");
    // Pipe = 10 − 6 − 1 + 1 = 4: rule 3 repairs 6 although two above it are too few to mean a loss.
    assert_eq!(blocks(&mut trace, 0, &[(7, 8), (1, 6)]), "6*");
    // 6 is in flight twice: pipe = 10 − 7 − 1 + 2 = 4. Rule 4.
    assert_eq!(blocks(&mut trace, 0, &[(7, 9), (1, 6)]), "9*");
    trace.at(200);
    assert_eq!(blocks(&mut trace, 6, &[(7, 9)]), "", "once a recovery");
    assert_eq!(blocks(&mut trace, 10, &[]), "");
    assert!(trace.is_open());
}

/// To the letter, rule 4 would send 0 twice.
#[test]
fn the_only_hole_is_not_rescued_as_soon_as_it_is_repaired() {
    let mut trace = Trace::new(selective());
    trace.write(8).poll();
    trace.at(100);
    assert_eq!(blocks(&mut trace, 0, &[(1, 8)]), "0*");
    assert_eq!(trace.sender.in_flight(), MSS);
}

/// Data above the recovery point is not this recovery's to rescue.
#[test]
fn what_was_sent_during_the_recovery_is_not_rescued() {
    let mut trace = Trace::new(selective());
    trace.write(10).poll();
    trace.at(100);
    assert_eq!(blocks(&mut trace, 0, &[(1, 4)]), "0*");
    trace.write(1);
    assert_eq!(blocks(&mut trace, 0, &[(1, 7)]), "10");
    assert_eq!(blocks(&mut trace, 0, &[(1, 9)]), "");
}

/// RFC 6675 §5.1: after a timeout no recovery until the data outstanding then is acknowledged.
#[test]
fn a_timeout_is_recovered_from_first() {
    let mut trace = Trace::new(selective());
    trace.write(30).poll();
    blocks(&mut trace, 0, &[(4, 5)]);
    trace.at(300).wake();
    assert_eq!(trace.poll(), "0*");
    trace.at(400);
    assert_eq!(blocks(&mut trace, 1, &[(4, 8)]), "1* 2*");
    assert_eq!(trace.sender.counters().fast_retransmits, 0);
    // SACKed data is not retransmitted.
    assert_eq!(blocks(&mut trace, 3, &[(4, 8)]), "3* 8* 9*");
    assert_eq!(trace.ack(11), "11 12 13 14");
    assert!(trace.is_open());
}

/// RFC 2883 §4: a first block below the acknowledgment, or inside the second, reports a duplicate
/// and nothing new.
#[test]
fn duplicates_reported_are_counted_and_not_believed_to_be_news() {
    let mut trace = Trace::new(selective());
    trace.write(30).poll();
    trace.at(100).ack(3);
    assert_eq!(blocks(&mut trace, 3, &[(1, 2)]), "");
    assert_eq!(blocks(&mut trace, 3, &[(1, 2), (5, 6)]), "13");
    assert_eq!(blocks(&mut trace, 3, &[(5, 6), (5, 7)]), "14");
    assert_eq!(trace.sender.counters().duplicates_reported, 3);
    let reported: Vec<_> = trace
        .take_events()
        .into_iter()
        .filter(|event| matches!(event, Event::DuplicateReported { .. }))
        .collect();
    let offsets = [MSS, MSS, 5 * MSS].map(|offset| Event::DuplicateReported { offset });
    assert_eq!(reported, offsets);
    // The second block is inside the first, or adjacent to it: an ordinary SACK.
    blocks(&mut trace, 3, &[(5, 8), (6, 7)]);
    blocks(&mut trace, 3, &[(9, 10), (5, 8)]);
    blocks(&mut trace, 3, &[(5, 9), (7, 10)]);
    assert_eq!(trace.sender.counters().duplicates_reported, 3);
}

/// Blocks from a peer that was not offered SACK are ignored, except for duplicates.
#[test]
fn reports_without_sack_are_not_used() {
    let mut trace = Trace::new(plain());
    trace.write(30).poll();
    blocks(&mut trace, 0, &[(2, 9)]);
    assert_eq!(trace.sender.in_flight(), 10 * MSS);
    assert_eq!(trace.sender.counters().fast_retransmits, 0);
}

/// Tahoe's window and Reno's exit with the scoreboard's knowledge of losses.
#[test]
fn the_other_recoveries_know_what_was_reported() {
    let mut trace = Trace::new(Config {
        recovery: Recovery::Tahoe,
        ..selective()
    });
    trace.write(30).poll();
    trace.at(100);
    assert_eq!(blocks(&mut trace, 0, &[(2, 5)]), "0*");
    assert_eq!(trace.cwnd(), MSS);
    trace.at(200);
    assert_eq!(blocks(&mut trace, 1, &[(2, 5)]), "1* 5*");

    let mut trace = Trace::new(Config {
        recovery: Recovery::Reno,
        ..selective()
    });
    trace.write(30).poll();
    trace.at(100);
    assert_eq!(blocks(&mut trace, 0, &[(2, 5)]), "0*");
    trace.at(200);
    // The exit from one recovery, and immediately the entry into the next: 1 is lost as well.
    assert_eq!(blocks(&mut trace, 1, &[(2, 5)]), "1*");
    assert_eq!(trace.sender.counters().fast_retransmits, 2);
}

/// RFC 2018 §8 with either policy: a timeout at a SACKed segment retransmits it.
#[test]
fn a_reneging_receiver_gets_it_again() {
    for retransmission in [Retransmission::GoBackN, Retransmission::SelectiveRepeat] {
        let mut trace = Trace::new(Config {
            retransmission,
            ..selective()
        });
        trace.write(3).poll();
        trace.at(100);
        blocks(&mut trace, 0, &[(1, 3)]);
        blocks(&mut trace, 1, &[]);
        let next = trace.next_ms().expect("a timer runs");
        trace.at(next).wake();
        assert_eq!(trace.poll(), "1*", "{retransmission:?}");
    }
}

/// RFC 3708 §2: the report of the duplicate is enough, however losses are found.
#[test]
fn a_report_of_a_duplicate_alone_takes_a_recovery_back() {
    let mut trace = Trace::new(Config {
        spurious_detection: SpuriousDetection {
            dsack_undo: true,
            ..SpuriousDetection::default()
        },
        spurious_response: SpuriousResponse::Restore,
        ..selective()
    });
    trace.write(30).poll();
    let before = trace.cwnd();
    for end in 2..5 {
        blocks(&mut trace, 0, &[(1, end)]);
    }
    assert_eq!(trace.sender.counters().fast_retransmits, 1);
    blocks(&mut trace, 4, &[]);
    assert!(trace.cwnd() < before);
    blocks(&mut trace, 4, &[(0, 1)]);
    assert_eq!(trace.sender.counters().recoveries_taken_back, 1);
    assert_eq!(trace.cwnd(), before);
}

/// Linux, `tcp_try_undo_partial`: the late arrival of a retransmitted segment's original is
/// reordering, and from then on others get a quarter of the minimum round trip.
#[test]
fn a_late_original_in_a_recovery_is_reordering() {
    let mut trace = Trace::new(Config {
        loss_detection: LossDetection::Rack,
        timestamps: true,
        reduction: Reduction::Proportional,
        spurious_detection: SpuriousDetection {
            eifel: true,
            ..SpuriousDetection::default()
        },
        spurious_response: SpuriousResponse::Restore,
        ..selective()
    });
    trace.write(60);
    assert_eq!(trace.poll(), "0 1 2 3 4 5 6 7 8 9");
    trace.at(100);
    blocks(&mut trace, 0, &[(1, 3)]);
    let sent = blocks(&mut trace, 0, &[(1, 4)]);
    assert!(sent.contains("0*"), "{sent}");
    assert_eq!(trace.sender.reorderings_seen(), 0);
    // The original of segment 0, which left at 0 ms, fills the gap.
    trace.at(108).echo(4, 0);
    assert!(trace.is_open());
    assert_eq!(trace.sender.counters().recoveries_taken_back, 1);
    assert_eq!(
        (trace.sender.reorderings_seen(), trace.sender.reordering()),
        (1, 4)
    );
    // Three SACKed segments above segment 4 retransmit nothing yet.
    let sent = blocks(&mut trace, 4, &[(5, 8)]);
    assert!(!sent.contains('*'), "{sent}");
    assert!(trace.is_open());
}
