use super::*;

const UNA: SequenceNumber = SequenceNumber(1000);
const NEXT: SequenceNumber = SequenceNumber(2000);
const NOW: Instant = Instant::ZERO;
/// The receiver has sent seven packets, and owes no acknowledgment.
const IDLE: Receiving = Receiving {
    next: 7,
    is_pending: false,
};

/// The timer of the oldest segment expires, which was sent once and did not arrive.
fn expiry(before: u64) -> Expiry {
    Expiry {
        at: NOW,
        sequence: UNA,
        transmissions: 1,
        before,
        received: false,
        is_oldest: true,
    }
}

fn arrival(truth: &mut Truth, sequence: SequenceNumber, index: u64) -> Vec<Instant> {
    arrival_at(truth, sequence, index, IDLE)
}

fn arrival_at(
    truth: &mut Truth,
    sequence: SequenceNumber,
    index: u64,
    receiver: Receiving,
) -> Vec<Instant> {
    let mut settled = Vec::new();
    truth.on_arrival(sequence, index, receiver, |expiry| settled.push(expiry.at));
    settled
}

fn acknowledgment(truth: &mut Truth, index: u64) -> Vec<Instant> {
    let mut settled = Vec::new();
    truth.on_acknowledgment(NEXT, index, |expiry| settled.push(expiry.at));
    settled
}

fn counts(truth: &Truth) -> (u64, u64) {
    assert!(truth.is_settled());
    (truth.spurious(), truth.unacknowledged())
}

#[test]
fn a_copy_that_was_lost_makes_a_timeout_genuine() {
    let mut truth = Truth::default();
    truth.on_loss(UNA, 0, UNA);
    assert!(!truth.on_timeout(expiry(5)));
    // The retransmission arrives: not a copy from before the timeout.
    assert_eq!(arrival(&mut truth, UNA, 5), []);
    assert_eq!(acknowledgment(&mut truth, 7), []);
    assert_eq!(counts(&truth), (0, 0));
}

#[test]
fn an_acknowledgment_under_way_makes_it_spurious() {
    let mut truth = Truth::default();
    let received = true;
    assert!(!truth.on_timeout(Expiry {
        received,
        ..expiry(5)
    }));
    assert_eq!(acknowledgment(&mut truth, 6), [NOW]);
    assert_eq!(counts(&truth), (1, 0));
}

/// The receiver holds the segment, and does not answer before the retransmission is there.
#[test]
fn lost_acknowledgments_are_counted_apart() {
    let mut truth = Truth::default();
    let received = true;
    truth.on_timeout(Expiry {
        received,
        ..expiry(5)
    });
    assert_eq!(arrival(&mut truth, UNA, 5), []);
    assert_eq!(acknowledgment(&mut truth, 7), []);
    assert_eq!(counts(&truth), (0, 1));
}

/// The acknowledgments of the copy are lost, and of later data all but one: it would have arrived
/// without the retransmission.
#[test]
fn an_acknowledgment_of_later_data_counts_like_that_of_the_copy() {
    let mut truth = Truth::default();
    let received = true;
    truth.on_timeout(Expiry {
        received,
        ..expiry(5)
    });
    assert_eq!(arrival(&mut truth, NEXT, 4), []);
    assert_eq!(arrival(&mut truth, UNA, 5), []);
    assert_eq!(acknowledgment(&mut truth, 6), [NOW]);
    assert_eq!(counts(&truth), (1, 0));
}

/// An acknowledgment that the receiver delays would have come.
#[test]
fn a_delayed_acknowledgment_makes_it_spurious() {
    let mut truth = Truth::default();
    let received = true;
    truth.on_timeout(Expiry {
        received,
        ..expiry(5)
    });
    let is_pending = true;
    let receiver = Receiving { is_pending, ..IDLE };
    assert_eq!(arrival_at(&mut truth, UNA, 5, receiver), [NOW]);
    assert_eq!(counts(&truth), (1, 0));
}

/// Without SACK the arrival of a segment after a gap is reported by no acknowledgment.
#[test]
fn the_arrival_of_a_segment_that_is_not_the_oldest_decides() {
    let mut truth = Truth::default();
    let is_oldest = false;
    let later = Expiry {
        is_oldest,
        ..expiry(5)
    };
    let received = true;
    assert!(truth.on_timeout(Expiry { received, ..later }));
    assert!(!truth.on_timeout(later));
    assert_eq!(arrival(&mut truth, UNA, 4), [NOW]);
    assert_eq!(counts(&truth), (2, 0));
}

#[test]
fn a_copy_that_arrives_later_makes_it_spurious_once() {
    let mut truth = Truth::default();
    let at = Instant::from_nanos(7);
    let transmissions = 2;
    assert!(!truth.on_timeout(Expiry {
        at,
        transmissions,
        ..expiry(5)
    }));
    assert_eq!(arrival(&mut truth, NEXT, 3), []);
    assert_eq!(arrival(&mut truth, UNA, 3), []);
    assert_eq!(acknowledgment(&mut truth, 7), [at]);
    assert_eq!(acknowledgment(&mut truth, 8), []);
    assert_eq!(counts(&truth), (1, 0));
}

#[test]
fn a_copy_that_its_retransmission_overtakes_is_late_and_not_lost() {
    let mut truth = Truth::default();
    truth.on_timeout(expiry(5));
    assert_eq!(arrival(&mut truth, UNA, 5), []);
    assert_eq!(arrival(&mut truth, UNA, 4), [NOW]);
    assert_eq!(counts(&truth), (1, 0));
}

#[test]
fn one_acknowledgment_settles_every_timeout_that_waited_for_it() {
    let mut truth = Truth::default();
    let expiries = [Instant::from_nanos(7), Instant::from_nanos(9)];
    for (at, before) in expiries.into_iter().zip([5, 6]) {
        truth.on_timeout(Expiry {
            at,
            ..expiry(before)
        });
    }
    assert_eq!(arrival(&mut truth, UNA, 0), []);
    assert_eq!(acknowledgment(&mut truth, 7), expiries);
    assert_eq!(counts(&truth), (2, 0));
}

#[test]
fn all_copies_lost_later_make_it_genuine() {
    let mut truth = Truth::default();
    let transmissions = 2;
    assert!(!truth.on_timeout(Expiry {
        transmissions,
        ..expiry(5)
    }));
    truth.on_loss(UNA, 3, UNA);
    truth.on_loss(UNA, 6, UNA);
    truth.on_loss(UNA, 4, UNA);
    assert_eq!(arrival(&mut truth, UNA, 4), []);
    assert_eq!(counts(&truth), (0, 0));
}

#[test]
fn a_copy_made_on_the_way_replaces_a_lost_one() {
    let mut truth = Truth::default();
    truth.on_loss(UNA, 0, UNA);
    truth.on_repeat(UNA);
    // The copy is still in flight when the timer expires, and arrives under the same index.
    assert!(!truth.on_timeout(expiry(5)));
    assert_eq!(arrival(&mut truth, UNA, 0), []);
    assert_eq!(acknowledgment(&mut truth, 7), [NOW]);
    assert_eq!(counts(&truth), (1, 0));
}

#[test]
fn losses_take_little_room() {
    let mut truth = Truth::default();
    for (count, room) in [(1, 4), (4, 4), (5, 8), (9, 12), (16, 16), (17, 20)] {
        while truth.lost.len() < count {
            truth.on_loss(NEXT, 0, UNA);
        }
        assert_eq!(truth.lost.capacity(), room, "{count}");
    }
}

#[test]
fn acknowledged_losses_are_forgotten() {
    let mut truth = Truth::default();
    for sequence in 0..1000 {
        truth.on_loss(
            SequenceNumber(sequence),
            u64::from(sequence),
            SequenceNumber(sequence),
        );
    }
    assert!(truth.lost.len() <= PRUNE_AT);
}
