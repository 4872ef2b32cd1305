//! Needless timeouts, and the sender's response to them.

#![expect(
    clippy::single_range_in_vec_init,
    reason = "a report of one block is a slice of one range"
)]

use super::*;
use crate::config::{LossDetection, SpuriousDetection, SpuriousResponse};

/// Detected by timestamps (RFC 3522), with the response of RFC 4015; an initial window of two
/// segments, slow start to ten.
fn eifel() -> Config {
    Config {
        initial_window: 2,
        timestamps: true,
        spurious_detection: SpuriousDetection {
            eifel: true,
            ..SpuriousDetection::default()
        },
        spurious_response: SpuriousResponse::Eifel,
        ..plain()
    }
}

/// Segments 6 to 13 left at 200 ms in a window of eight. The timer has expired, and the first of
/// them is retransmitted.
fn expired() -> Trace {
    let mut trace = Trace::new(eifel());
    trace.write(40);
    assert_eq!(trace.poll(), "0 1");
    trace.at(100);
    assert_eq!(trace.echo(1, 0), "2 3");
    assert_eq!(trace.echo(2, 0), "4 5");
    trace.at(200);
    for segment in 3..=6 {
        trace.echo(segment, 100);
    }
    assert_eq!(
        (trace.sender.una(), trace.sender.nxt()),
        (6 * MSS, 14 * MSS)
    );
    assert_eq!(trace.cwnd(), 8 * MSS);
    let due = trace.next_ms().expect("a timer");
    trace.at(due).wake();
    assert_eq!((trace.poll().as_str(), trace.cwnd()), ("6*", MSS));
    trace
}

/// RFC 4015 §3: cwnd becomes FlightSize + min(bytes_acked, IW). `bytes_acked` is the bytes that
/// this acknowledgment covers, not all so far.
#[test]
fn eifel_resumes_with_what_is_out_and_what_was_acknowledged() {
    for (acked, resumed) in [(1, 7 + 1), (2, 6 + 2), (3, 5 + 2), (5, 3 + 2), (7, 1 + 2)] {
        let mut trace = expired();
        let now = trace.next_ms().expect("a timer") - 10;
        trace.at(now).echo(6 + acked, 200);
        assert_eq!(trace.cwnd(), resumed * MSS, "{acked} segments");
        assert!(trace.is_open());
        assert_eq!(trace.sender.in_flight(), resumed * MSS, "new data follows");
        assert_eq!(trace.sender.counters().segments_retransmitted, 1);
    }
}

/// RFC 4015 §3: if the acknowledgment echoes a mark, the window stays as the timeout left it.
#[test]
fn a_mark_leaves_the_window_as_the_timeout_made_it() {
    for marked in [false, true] {
        let mut trace = expired();
        let now = trace.next_ms().expect("a timer") - 10;
        trace.at(now).take(&Acknowledgment {
            offset: 7 * MSS,
            right_edge: 1000 * MSS,
            bare: true,
            sack: &[],
            echo: Some(Echo {
                sent_at: Instant::ZERO + milliseconds(200),
                rtt: milliseconds(now - 200),
            }),
            marked,
            brakes: false,
            counted: None,
        });
        assert!(trace.is_open());
        assert_eq!(trace.cwnd() > 2 * MSS, !marked, "{}", trace.cwnd());
    }
}

/// RFC 8985 §6.2 step 2; Linux, `tcp_skb_spurious_retrans`: an acknowledgment that echoes a
/// timestamp from before a retransmission answers the original, however long the copy is in flight.
/// Data sent between the two is then not late, and is not retransmitted.
#[test]
fn an_answer_to_the_original_says_nothing_of_what_left_before_the_copy() {
    for (echoed, needless) in [(0, true), (300, false)] {
        let mut trace = Trace::new(Config {
            sack: true,
            loss_detection: LossDetection::Rack,
            spurious_response: SpuriousResponse::Restore,
            ..eifel()
        });
        trace.write(2).poll();
        trace.at(300).wake();
        assert_eq!(trace.poll(), "0*");
        trace.at(450).echo(1, echoed);
        let resent = trace.sender.counters().segments_retransmitted;
        assert_eq!(resent == 1, needless, "{resent} retransmissions");
    }
}

/// Linux, `tcp_dsack_seen`: as many duplicates as retransmissions may have been needless; the
/// network has duplicated any beyond them. Here segments 0 and 1 are reported twice before anything
/// was retransmitted, and the fast retransmission of 2 is needed.
#[test]
fn duplicates_that_the_network_made_undo_nothing() {
    for strays in [0, 2] {
        let mut trace = Trace::new(Config {
            sack: true,
            spurious_detection: SpuriousDetection {
                dsack_undo: true,
                ..SpuriousDetection::default()
            },
            spurious_response: SpuriousResponse::Restore,
            ..plain()
        });
        trace.write(40).poll();
        trace.at(100);
        for stray in 0..strays {
            trace.sack(2, &[stray..stray + 1]);
        }
        trace.sack(2, &[3..6]);
        assert!(!trace.is_open());
        assert_eq!(trace.sender.counters().segments_retransmitted, 1);
        trace.at(150).sack(6, &[2..3]);
        let undone = trace.sender.counters().recoveries_taken_back;
        assert_eq!(undone, u64::from(strays == 0), "{strays} strays");
    }
}
