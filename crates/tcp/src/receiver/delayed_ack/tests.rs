use super::*;

const START: Instant = Instant::ZERO;

fn every_second() -> DelayedAck {
    DelayedAck::new(&DelayedAckConfig::default())
}

/// RFC 5681 §4.2: at least every second full-sized segment.
#[test]
fn every_second_segment_is_acknowledged_at_once() {
    let mut ack = every_second();
    ack.on_in_order(START, 1000, false);
    assert!(!ack.is_due());
    ack.on_in_order(START, 1000, false);
    assert!(ack.is_due());
    ack.on_sent();
    assert!(!ack.is_due());
    ack.on_in_order(START, 1000, false);
    assert!(!ack.is_due(), "counting restarts after an acknowledgment");
}

#[test]
fn one_segment_turns_the_delay_off() {
    let config = DelayedAckConfig {
        segments: 1,
        ..DelayedAckConfig::default()
    };
    let mut ack = DelayedAck::new(&config);
    ack.on_in_order(START, 1000, false);
    assert!(ack.is_due());
    assert_eq!(ack.deadline(), Instant::FAR_FUTURE);
}

#[test]
fn a_single_segment_waits_until_its_deadline_and_no_longer() {
    let mut ack = every_second();
    ack.on_in_order(START, 1000, false);
    let deadline = START + Duration::from_millis(40);
    assert_eq!(ack.deadline(), deadline);
    ack.on_wakeup(START + Duration::from_millis(39));
    assert!(!ack.is_due());
    ack.on_wakeup(deadline);
    assert!(ack.is_due());
    assert_eq!(ack.deadline(), Instant::FAR_FUTURE);
}

#[test]
fn the_deadline_is_the_first_waiting_segments() {
    let config = DelayedAckConfig {
        segments: 3,
        quick: 0,
        timeout: Duration::from_millis(40),
        ..DelayedAckConfig::default()
    };
    let mut ack = DelayedAck::new(&config);
    ack.on_in_order(START, 1000, false);
    ack.on_in_order(START + Duration::from_millis(30), 1000, false);
    assert_eq!(ack.deadline(), START + Duration::from_millis(40));
}

/// Linux: the first 16 segments are acknowledged one by one, and after a pause the next 16.
#[test]
fn the_first_segments_are_acknowledged_at_once() {
    let config = DelayedAckConfig {
        quick: 3,
        ..DelayedAckConfig::default()
    };
    let mut ack = DelayedAck::new(&config);
    let mut take = |milliseconds| {
        ack.on_in_order(START + Duration::from_millis(milliseconds), 1000, false);
        let due = ack.is_due();
        if due {
            ack.on_sent();
        }
        due
    };
    let first: Vec<_> = (1..=6).map(&mut take).collect();
    assert_eq!(first, [true, true, true, false, true, false]);
    assert!(take(7));
    assert!(take(2000), "after a pause");
}

/// Linux, `tcp_event_data_recv`: a silence longer than the receiver's retransmission timeout is a
/// pause. Each acknowledgment of data after a gap counts as one of the quick ones, and the segment
/// that fills the gap ends the silence.
#[test]
fn a_pause_lasts_as_long_as_the_retransmission_timeout() {
    let at = |milliseconds| START + Duration::from_millis(milliseconds);
    let config = DelayedAckConfig {
        quick: 2,
        ..DelayedAckConfig::default()
    };
    let mut ack = DelayedAck::new(&config);
    ack.set_pause(Duration::from_millis(250));
    let mut take = |milliseconds| {
        ack.on_in_order(at(milliseconds), 1000, false);
        let due = ack.is_due();
        ack.on_sent();
        due
    };
    assert_eq!([1, 2, 3].map(&mut take), [true, true, false]);
    assert!(!take(253), "250 ms are none");
    assert_eq!([504, 505, 506].map(&mut take), [true, true, false]);
    let behind = Disorder::default();
    ack.on_disorder(at(700), &behind);
    ack.on_sent();
    let filling = Disorder {
        in_order: true,
        ..behind
    };
    ack.on_disorder(at(757), &filling);
    ack.on_sent();
    let mut next = |milliseconds| {
        ack.on_in_order(at(milliseconds), 1000, false);
        let due = ack.is_due();
        ack.on_sent();
        due
    };
    assert_eq!([758, 759].map(&mut next), [true, false]);
}

/// Linux, `__tcp_ack_snd_check`: three acknowledgments of a gap leave at once, later ones 1.1 ms
/// later and one for all, and a further gap has three more. Measured on 6.12: of segments 1.2 ms
/// apart the fourth's is 1.1 ms late. A round trip of 4 ms leaves 0.2 ms.
#[test]
fn the_fourth_acknowledgment_of_a_gap_stands_for_those_after_it() {
    let at = |micros| START + Duration::from_micros(micros);
    let mut ack = DelayedAck::new(&DelayedAckConfig {
        compressed: true,
        ..DelayedAckConfig::default()
    });
    let mut take = |micros: u64, gap: u64, rtt: u64| {
        let disorder = Disorder {
            gap: Some(gap),
            round_trip: Some(Duration::from_millis(rtt)),
            ..Disorder::default()
        };
        ack.on_disorder(at(micros), &disorder);
        if ack.is_due() {
            ack.on_sent();
            return None;
        }
        Some((ack.deadline() - START).as_nanos() / 1000)
    };
    for micros in [1000, 1500, 2000] {
        assert_eq!(take(micros, 7, 50), None);
    }
    assert_eq!(take(2500, 7, 50), Some(3600));
    assert_eq!(take(3000, 7, 50), Some(3600));
    assert_eq!(take(3100, 9, 50), None, "another gap");
    assert_eq!(take(4000, 9, 4), None);
    assert_eq!(take(4100, 9, 4), None);
    assert_eq!(take(4200, 9, 4), Some(4500));
    ack.on_wakeup(at(4500));
    assert!(ack.is_due());
}

#[test]
fn a_fin_and_a_demand_do_not_wait() {
    let mut ack = every_second();
    ack.on_in_order(START, 1000, true);
    assert!(ack.is_due());
    let mut ack = every_second();
    ack.demand();
    assert!(ack.is_due());
}

/// Full segments are of 1000 bytes, each is read as it arrives, and all but the first arrive
/// separately.
fn linux() -> DelayedAck {
    let mut ack = DelayedAck::new(&DelayedAckConfig {
        on_reading: true,
        fin_at_once: false,
        ..DelayedAckConfig::default()
    });
    take(&mut ack, 1000, true, false);
    ack.on_sent();
    ack
}

/// Takes and reads a segment; returns whether it is acknowledged at once.
fn take(ack: &mut DelayedAck, bytes: u64, pushed: bool, fin: bool) -> bool {
    if pushed {
        ack.on_pushed();
    }
    let at = START + Duration::from_millis(1);
    ack.on_in_order(at, bytes + u64::from(fin), fin);
    ack.on_all_read();
    core::mem::replace(&mut ack.due, false)
}

/// Measured on Linux 6.18, a segment at a time, to an application that reads: 45 ms for a full one,
/// no delay for one that is pushed or short.
#[test]
fn what_was_pushed_or_is_short_is_acknowledged_when_it_is_read() {
    for (bytes, pushed, at_once) in [
        (1000, false, false),
        (1000, true, true),
        (100, false, true),
        (100, true, true),
    ] {
        let taken = take(&mut linux(), bytes, pushed, false);
        assert_eq!(taken, at_once, "{bytes} {pushed}");
    }
    let mut unread = linux();
    unread.on_pushed();
    unread.on_in_order(START, 1000, false);
    assert!(!unread.is_due());
}

/// Measured on Linux 6.18: the acknowledgment of a FIN waits as long as data's (41 to 60 ms),
/// without data or with a short segment; with a full one, which it makes longer than full, it does
/// not, nor if nothing was ever received (4 ms).
#[test]
fn a_fin_is_acknowledged_as_the_data_that_comes_with_it() {
    for (bytes, at_once) in [(0, false), (100, false), (1000, true)] {
        let taken = take(&mut linux(), bytes, bytes > 0, true);
        assert_eq!(taken, at_once, "{bytes}");
    }
    let mut fresh = DelayedAck::new(&DelayedAckConfig {
        on_reading: true,
        fin_at_once: false,
        quick: 16,
        ..DelayedAckConfig::default()
    });
    assert!(take(&mut fresh, 0, false, true));
}

/// Linux, `tcp_event_data_sent`: once data answers data, the acknowledgment waits for the next
/// answer, until one does not come in time.
#[test]
fn an_application_that_answers_needs_no_acknowledgment_of_its_own() {
    let mut ack = linux();
    assert!(take(&mut ack, 100, true, false));
    ack.on_data_sent(START + Duration::from_millis(2));
    ack.on_sent();
    assert!(!take(&mut ack, 100, true, false));
    ack.on_wakeup(ack.deadline());
    ack.on_sent();
    assert!(take(&mut ack, 100, true, false));
}
