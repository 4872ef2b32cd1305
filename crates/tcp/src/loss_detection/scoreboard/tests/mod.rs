use proptest::prelude::*;

use super::*;
use crate::loss_detection::segment::LOST;

const MSS: u64 = 1000;

fn at(milliseconds: u64) -> Instant {
    Instant::from_nanos(milliseconds * 1_000_000)
}

/// `count` full segments sent a millisecond apart, each with a timer of 100 ms.
fn sent(count: u64) -> Scoreboard {
    let mut board = Scoreboard::default();
    for index in 0..count {
        let range = index * MSS..(index + 1) * MSS;
        board.push(SentSegment::new(&range, at(index)));
        board.time_last(at(index + 100));
    }
    board
}

/// A block of whole segments, by their numbers.
fn block(first: u64, behind: u64) -> Range<u64> {
    first * MSS..behind * MSS
}

/// SACKs arbitrary bytes.
fn report(board: &mut Scoreboard, bytes: Range<u64>) -> u64 {
    board.sack(std::slice::from_ref(&bytes))
}

/// One letter per segment: `.` sent, `s` SACKed, `l` lost, `r` lost and retransmitted, `d` in
/// flight twice.
fn picture(board: &Scoreboard) -> String {
    board
        .iter()
        .map(|segment| match segment.flags {
            0 => '.',
            SACKED => 's',
            LOST => 'l',
            RESENT => 'd',
            flags if flags == LOST | RESENT => 'r',
            flags => panic!("{flags:#b} of {segment:?}"),
        })
        .collect()
}

fn in_flight(board: &Scoreboard) -> u64 {
    assert_eq!(board.in_flight() % MSS, 0);
    board.in_flight() / MSS
}

#[test]
fn an_empty_board_has_nothing() {
    let mut board = Scoreboard::default();
    assert!(board.is_empty());
    assert_eq!(
        (board.len(), board.outstanding(), board.in_flight()),
        (0, 0, 0)
    );
    assert_eq!(board.front(), None);
    assert_eq!(board.index_at(0), None);
    assert_eq!(board.next_lost(), None);
    assert_eq!(board.next_hole(), None);
    assert_eq!(board.last_unreported(), None);
    assert_eq!(board.earliest_deadline(), None);
    assert_eq!(board.advance(100), Advanced::default());
    assert_eq!(board.sack(&[block(0, 3)]), 0);
    assert!(!board.detect_losses(3, MSS));
}

#[test]
fn a_segment_tells_what_it_is() {
    let segment = SentSegment::new(&(500..1500), at(1));
    assert_eq!(
        (segment.start, segment.length, segment.end()),
        (500, 1000, 1500)
    );
    assert_eq!(segment.range(), 500..1500);
    assert_eq!(segment.sent_at, at(1));
    assert_eq!((segment.transmissions, segment.expiries), (1, 0));
    assert!(!segment.is_sacked() && !segment.is_lost());
}

/// One exists for each packet in flight.
#[test]
fn a_segment_is_small() {
    assert!(size_of::<Record>() <= 16, "{}", size_of::<Record>());
}

#[test]
fn segments_are_found_by_their_first_byte() {
    let mut board = sent(5);
    assert_eq!(board.len(), 5);
    assert_eq!(board.index_at(3 * MSS), Some(3));
    assert_eq!(board.index_at(3 * MSS + 1), None);
    assert_eq!(board.index_at(5 * MSS), None);
    assert_eq!(board.get(4).map(|segment| segment.start), Some(4 * MSS));
    assert_eq!(board.get(5), None);
    board.advance(2 * MSS);
    assert_eq!(board.index_at(3 * MSS), Some(1));
    board.sack(&[block(3, 4)]);
    assert_eq!(
        board.index_at(3 * MSS),
        None,
        "reported: there is nothing to retransmit"
    );
    assert!(board.get(1).is_some_and(|segment| segment.is_sacked()));
    assert!(board.get(0).is_some_and(|segment| !segment.is_sacked()));
}

/// RFC 6675 §4, `SetPipe()`: (a) bytes neither lost nor SACKed count, (b) and retransmitted ones
/// count once more.
#[test]
fn the_pipe_is_what_is_neither_reported_nor_lost_and_what_was_sent_again() {
    let mut board = sent(10);
    assert_eq!(in_flight(&board), 10);
    assert_eq!(board.sack(&[block(4, 8)]), 4 * MSS);
    assert_eq!((in_flight(&board), board.sacked()), (6, 4 * MSS));
    assert!(board.detect_losses(3, MSS));
    assert_eq!(picture(&board), "llllssss..");
    assert_eq!(in_flight(&board), 2);
    assert_eq!(board.next_lost(), Some(0));
    let resent = board.resend(0, at(50), at(150));
    assert_eq!((resent.start, resent.transmissions), (0, 2));
    assert_eq!(resent.sent_at, at(50));
    assert_eq!(picture(&board), "rlllssss..");
    assert_eq!(in_flight(&board), 3);
    assert_eq!(board.next_lost(), Some(1));
    // A SACKed retransmission leaves the pipe once, whatever its other flags.
    board.sack(&[block(0, 1)]);
    assert_eq!(
        (picture(&board).as_str(), in_flight(&board)),
        ("slllssss..", 2)
    );
    assert_eq!(board.outstanding(), 10 * MSS);
    board.advance(8 * MSS);
    assert_eq!((picture(&board).as_str(), in_flight(&board)), ("..", 2));
    assert_eq!((board.outstanding(), board.sacked()), (2 * MSS, 0));
}

/// RFC 6675 §4, `IsLost()`, first case: three separate ranges above it.
#[test]
fn three_ranges_above_mean_a_loss() {
    let mut board = Scoreboard::default();
    for index in 0..8 {
        // Small segments: the second case does not apply.
        board.push(SentSegment::new(&(index * 100..(index + 1) * 100), at(0)));
    }
    board.sack(&[100..200, 300..400]);
    assert!(!board.detect_losses(3, MSS));
    assert_eq!(picture(&board), ".s.s....");
    report(&mut board, 500..600);
    assert!(board.detect_losses(3, MSS));
    assert_eq!(picture(&board), "ls.s.s..");
    report(&mut board, 700..800);
    assert!(board.detect_losses(3, MSS));
    assert_eq!(picture(&board), "lsls.s.s");
    assert!(!board.detect_losses(3, MSS), "nothing new");
}

/// RFC 6675 §4, `IsLost()`, second case: more than (DupThresh − 1) × SMSS bytes above it.
#[test]
fn more_than_two_segments_above_mean_a_loss() {
    let mut board = sent(6);
    board.sack(&[block(2, 4)]);
    assert!(
        !board.detect_losses(3, MSS),
        "2 SMSS are not more than 2 SMSS"
    );
    assert_eq!(picture(&board), "..ss..");
    board.push(SentSegment::new(&(6 * MSS..6 * MSS + 1), at(6)));
    report(&mut board, 6 * MSS..6 * MSS + 1);
    assert!(board.detect_losses(3, MSS), "2 SMSS and a byte are");
    assert_eq!(picture(&board), "llss..s");
}

#[test]
fn the_threshold_moves() {
    let mut board = sent(8);
    board.sack(&[block(1, 2)]);
    assert!(board.detect_losses(1, MSS));
    assert_eq!(picture(&board), "ls......");
    let mut board = sent(8);
    board.sack(&[block(2, 7)]);
    assert!(!board.detect_losses(6, MSS));
    board.sack(&[block(2, 8)]);
    assert!(board.detect_losses(6, MSS));
    assert_eq!(picture(&board), "llssssss");
}

/// RFC 6675 §4, `NextSeg()`: rule 1 the first lost, rule 3 the first hole below the highest SACK,
/// rule 4 the last of all.
#[test]
fn the_next_segment_follows_the_rules() {
    let mut board = sent(10);
    board.sack(&[block(1, 2), block(3, 4), block(5, 6), block(7, 8)]);
    board.detect_losses(3, MSS);
    assert_eq!(picture(&board), "lsls.s.s..");
    assert_eq!(board.next_lost(), Some(0));
    board.resend(0, at(20), at(120));
    assert_eq!(board.next_lost(), Some(2));
    board.resend(2, at(20), at(120));
    assert_eq!(board.next_lost(), None);
    assert_eq!(board.next_hole(), Some(4));
    board.resend(4, at(20), at(120));
    assert_eq!(board.next_hole(), Some(6));
    board.resend(6, at(20), at(120));
    assert_eq!(
        board.next_hole(),
        None,
        "8 and 9 are above everything reported"
    );
    assert_eq!(picture(&board), "rsrsdsds..");
    assert_eq!(
        in_flight(&board),
        8,
        "SetPipe() counts what is in flight twice"
    );
    assert_eq!(board.last_unreported(), Some(9));
    board.sack(&[block(8, 10)]);
    assert_eq!(
        board.last_unreported(),
        None,
        "6 was retransmitted just now"
    );
    board.detect_losses(3, MSS);
    assert_eq!(picture(&board), "rsrsrsrsss");
    assert_eq!(in_flight(&board), 4);
}

/// RFC 2018 §8: an acknowledgment that stops at a segment the receiver had SACKed shows that the
/// receiver has dropped it.
#[test]
fn a_receiver_that_reneged_is_not_believed() {
    let mut board = sent(6);
    board.sack(&[block(2, 5)]);
    board.detect_losses(3, MSS);
    board.advance(2 * MSS);
    assert_eq!(picture(&board), "sss.");
    board.mark_lost_from(2 * MSS);
    assert_eq!((picture(&board).as_str(), in_flight(&board)), ("llll", 0));
    assert_eq!(board.next_lost(), Some(0));
    assert_eq!(board.sacked(), 0);
    // SACKs from now on count.
    assert_eq!(board.sack(&[block(3, 5)]), 2 * MSS);
    assert_eq!(picture(&board), "lssl");

    let mut board = sent(8);
    board.sack(&[block(2, 5)]);
    board.advance(2 * MSS);
    board.mark_lost(0);
    assert_eq!((picture(&board).as_str(), in_flight(&board)), ("l.....", 5));
    assert_eq!(board.sack(&[block(4, 7)]), 3 * MSS);
    assert!(board.detect_losses(3, MSS));
    assert_eq!(picture(&board), "llsss.");
}

/// A tail loss probe may send a segment again that has just been SACKed (RFC 8985 §7.3 takes the
/// highest one). If all is given up later, its copy fills no window.
#[test]
fn the_copy_of_a_sacked_segment_is_given_up_with_the_others() {
    let mut board = sent(3);
    board.sack(&[block(1, 3)]);
    board.resend(2, Instant::ZERO, Instant::FAR_FUTURE);
    assert_eq!(in_flight(&board), 2);
    board.mark_lost_from(0);
    assert_eq!((picture(&board).as_str(), in_flight(&board)), ("lss", 0));
}

#[test]
fn part_of_a_segment_can_be_acknowledged() {
    let mut board = sent(3);
    let advanced = board.advance(400);
    assert_eq!(
        advanced,
        Advanced {
            sent_at: Some(at(0)),
            resent: false
        }
    );
    assert_eq!(board.outstanding(), 2600);
    assert_eq!(
        board.front().map(|segment| segment.range()),
        Some(400..1000)
    );
    assert_eq!(board.in_flight(), 2600);
    board.mark_lost(0);
    assert_eq!(board.in_flight(), 2000);
    board.advance(500);
    assert_eq!(board.in_flight(), 2000);
    board.resend(0, at(10), at(110));
    assert_eq!(board.in_flight(), 2500);
    let advanced = board.advance(1200);
    assert_eq!(
        advanced,
        Advanced {
            sent_at: None,
            resent: true
        }
    );
    assert_eq!((board.in_flight(), board.outstanding()), (1800, 1800));
}

/// Karn's rule, and RFC 7323 §4.3 in spirit: the oldest of the newly covered segments, unless one
/// of them was sent twice; a segment SACKed earlier is not newly covered.
#[test]
fn the_sample_is_the_oldest_newly_covered() {
    let mut board = sent(6);
    assert_eq!(board.advance(2 * MSS).sent_at, Some(at(0)));
    board.sack(&[block(2, 3)]);
    assert_eq!(board.advance(4 * MSS).sent_at, Some(at(3)));
    board.mark_lost(1);
    board.resend(1, at(9), at(109));
    assert_eq!(
        board.advance(6 * MSS),
        Advanced {
            sent_at: None,
            resent: true
        }
    );
    assert!(board.is_empty());
    assert_eq!(board.advance(9 * MSS), Advanced::default());
}

#[test]
fn reported_blocks_are_not_counted_twice() {
    let mut board = sent(20);
    assert_eq!(board.sack(&[block(5, 6)]), MSS);
    assert_eq!(board.sack(&[block(5, 6)]), 0);
    assert_eq!(board.sack(&[block(5, 8)]), 2 * MSS);
    assert_eq!(board.sack(&[block(3, 8)]), 2 * MSS);
    assert_eq!(board.sack(&[block(10, 12), block(3, 8)]), 2 * MSS);
    assert_eq!(board.sack(&[block(3, 13)]), 3 * MSS);
    assert_eq!(
        board.sack(&[block(15, 16), block(3, 13), block(17, 18), block(19, 20)]),
        3 * MSS
    );
    assert_eq!(picture(&board), "...ssssssssss..s.s.s");
    assert_eq!(board.sacked(), 13 * MSS);
    // Below the acknowledged data and above the data sent there is nothing to SACK.
    board.advance(3 * MSS);
    assert_eq!(board.sack(&[block(0, 3), block(20, 30)]), 0);
    assert_eq!(board.sack(&[block(13, 25)]), 4 * MSS);
}

/// A receiver holds whole segments; a SACK of part of one covers only the whole ones, and the rest
/// counts when it arrives.
#[test]
fn only_whole_segments_are_reported() {
    let mut board = sent(6);
    assert_eq!(report(&mut board, 1500..4500), 2 * MSS);
    assert_eq!(picture(&board), "..ss..");
    assert_eq!(report(&mut board, 1500..5000), MSS);
    assert_eq!(picture(&board), "..sss.");
    assert_eq!(report(&mut board, 1000..5000), MSS);
    assert_eq!(picture(&board), ".ssss.");
    assert_eq!(report(&mut board, 200..300), 0);
    assert_eq!(report(&mut board, 5000..5000), 0);
}

/// A block is known by the low half of its offset, which comes again after 2^32 bytes.
#[test]
fn a_report_of_no_whole_segment_is_not_kept() {
    let mut board = sent(2);
    assert_eq!(report(&mut board, 500..1000), 0);
    board.advance(2 * MSS);
    let again = (1 << 32) + 500..(1 << 32) + 1000;
    board.push(SentSegment::new(&again, at(0)));
    assert_eq!(report(&mut board, again), 500);
}

/// Miyim §IV, "trace-N-retransmit": everything without SACK from the expired segment on.
#[test]
fn go_back_n_marks_all_that_is_not_reported() {
    let mut board = sent(6);
    board.sack(&[block(3, 4)]);
    board.mark_lost_from(MSS);
    assert_eq!((picture(&board).as_str(), in_flight(&board)), (".llsll", 1));
    assert_eq!(board.next_lost(), Some(1));
    board.resend(1, at(10), at(110));
    board.resend(2, at(10), at(110));
    assert_eq!(picture(&board), ".rrsll");
    // Once more: the retransmissions are lost too.
    board.mark_lost_from(0);
    assert_eq!((picture(&board).as_str(), in_flight(&board)), ("lllsll", 0));
    assert_eq!(board.next_lost(), Some(0));
    // Data sent later is not part of it.
    board.push(SentSegment::new(&block(6, 7), at(20)));
    board.time_last(at(120));
    assert_eq!(
        (picture(&board).as_str(), in_flight(&board)),
        ("lllsll.", 1)
    );
    // Their timers wait until they are retransmitted; that of 6 runs.
    assert_eq!(board.earliest_deadline(), Some((6, at(120))));
}

/// A timeout presumes all lost and is then undone: SACKs above two holes show them lost, and the
/// last three of the unreported segments stay in flight.
#[test]
fn what_an_undone_timeout_had_marked_can_be_found_lost() {
    let mut board = sent(10);
    report(&mut board, block(1, 3));
    report(&mut board, block(4, 7));
    board.mark_lost_from(0);
    assert_eq!(picture(&board), "lsslssslll");
    board.unmark_lost(|_| Instant::FAR_FUTURE);
    assert_eq!(picture(&board), ".ss.sss...");
    assert!(board.detect_losses(3, MSS));
    assert_eq!(picture(&board), "lsslsss...");
}

/// Miyim §IV, "select-N-repeat": the segment with the expired timer and no other.
#[test]
fn selective_repeat_marks_one() {
    let mut board = sent(4);
    assert_eq!(board.earliest_deadline(), Some((0, at(100))));
    board.mark_lost(2);
    assert_eq!((picture(&board).as_str(), in_flight(&board)), ("..l.", 3));
    assert_eq!(board.next_lost(), Some(2));
    board.mark_lost(0);
    assert_eq!(board.next_lost(), Some(0));
    assert_eq!(board.earliest_deadline(), Some((1, at(101))));
    board.resend(0, at(50), at(60));
    assert_eq!(board.earliest_deadline(), Some((0, at(60))));
    board.mark_lost(1);
    board.sack(&[block(1, 2)]);
    board.mark_lost(1);
    assert_eq!(picture(&board), "rsl.", "what is reported is not lost");
}

#[test]
fn expiries_are_counted_for_each_segment() {
    let mut board = sent(2);
    assert_eq!(board.on_expiry(1), 0);
    assert_eq!(board.on_expiry(1), 1);
    assert_eq!(board.on_expiry(0), 0);
    assert_eq!(board.get(1).map(|segment| segment.expiries), Some(2));
}

/// SACKed data needs no timer, except the segment that the receiver asks for.
#[test]
fn reported_segments_have_no_timer_but_the_first() {
    let mut board = sent(4);
    board.sack(&[block(1, 3)]);
    board.resend(0, at(50), at(300));
    assert_eq!(board.earliest_deadline(), Some((3, at(103))));
    board.advance(MSS);
    assert_eq!(board.earliest_deadline(), Some((0, at(101))));
    // Equal deadlines: the first in order.
    let mut board = Scoreboard::default();
    for range in [0..1, 1..2] {
        board.push(SentSegment::new(&range, at(0)));
        board.time_last(at(7));
    }
    assert_eq!(board.earliest_deadline(), Some((0, at(7))));
}

mod model;
