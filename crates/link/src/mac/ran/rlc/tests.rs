//! A transmitter and a receiver over a channel that loses PDUs and statuses.

use std::num::NonZeroU32;

use airtcp_units::{Duration, Instant};
use proptest::prelude::*;

use super::*;
use crate::frame::RetryLimit;
use crate::mac::ran::config::{RlcConfig, RlcMode};
use crate::random::Stream;

fn config(mode: RlcMode) -> RlcConfig {
    RlcConfig {
        mode,
        window: NonZeroU32::new(16).unwrap(),
        poll_pdu: NonZeroU32::new(4),
        poll_byte: None,
        poll_retransmit: Duration::from_millis(30),
        status_prohibit: Duration::from_millis(5),
        reordering: Duration::from_millis(10),
        max_retransmissions: RetryLimit::Unlimited,
    }
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn bytes(start: u64, end: u64) -> Bytes {
    Bytes { start, end }
}

fn pdu(number: u64, part: (u64, u64), poll: bool) -> DataPdu {
    let whole = bytes(number * 100, number * 100 + 100);
    DataPdu {
        number,
        whole,
        part: bytes(whole.start + part.0, whole.start + part.1),
        poll,
        retransmissions: 0,
    }
}

/// TS 36.322 §5.1.3.2 by hand: 0 arrives, 1 is missing, 2 and 3 arrive. `t-Reordering` begins with
/// 2 and expires 10 ms later: the status acknowledges below 4 and misses 1. A second status waits
/// for `t-StatusProhibit`.
#[test]
fn a_gap_is_reported_when_the_timer_expires() {
    let mut receiver = Receiver::new(Generation::Lte, config(RlcMode::Acknowledged));
    receiver.on_pdu(at(0), &pdu(0, (0, 100), false));
    receiver.on_pdu(at(2), &pdu(2, (0, 100), false));
    receiver.on_pdu(at(3), &pdu(3, (0, 40), true));
    receiver.on_time(at(11));
    assert_eq!(receiver.status(at(11), 100), None);
    receiver.on_time(at(12));
    let (status, size) = receiver.status(at(12), 100).unwrap();
    assert_eq!((status.acknowledged, status.missing), (3, vec![(1, None)]));
    assert_eq!(size, Status::bytes(1));
    assert_eq!(receiver.in_order(), 100);
    // The rest of 3 arrives, and its poll is answered once 3 is reported, at the next expiry.
    receiver.on_pdu(at(13), &pdu(3, (40, 100), false));
    assert!(!receiver.wants_status(at(16)), "t-StatusProhibit runs");
    let (status, _) = receiver.status(at(17), 100).unwrap();
    assert_eq!((status.acknowledged, status.missing), (4, vec![(1, None)]));
    receiver.on_pdu(at(20), &pdu(1, (0, 100), false));
    assert_eq!(receiver.in_order(), 400);
    assert!(receiver.is_idle());
}

/// A status that lacks room ends before the first number that it cannot name.
#[test]
fn a_status_is_cut_to_its_room() {
    let mut receiver = Receiver::new(Generation::Lte, config(RlcMode::Acknowledged));
    for number in [1, 3, 5] {
        receiver.on_pdu(at(0), &pdu(number, (0, 100), false));
    }
    // The timer began with 1, and begins again for what arrived since.
    receiver.on_time(at(10));
    receiver.on_time(at(20));
    assert_eq!(receiver.status(at(20), Status::bytes(0) - 1), None);
    let (status, _) = receiver.status(at(20), Status::bytes(2)).unwrap();
    assert_eq!(
        (status.acknowledged, status.missing),
        (4, vec![(0, None), (2, None)])
    );
}

/// NR: the rest of a packet of which segments arrive in order is no gap; a segment that overtakes
/// is.
#[test]
fn a_packet_in_progress_is_no_gap_in_nr() {
    let mut receiver = Receiver::new(Generation::Nr, config(RlcMode::Acknowledged));
    receiver.on_pdu(at(0), &pdu(0, (0, 40), false));
    receiver.on_time(at(99));
    assert!(!receiver.wants_status(at(99)));
    receiver.on_pdu(at(100), &pdu(0, (60, 100), false));
    receiver.on_time(at(110));
    let (status, _) = receiver.status(at(110), 100).unwrap();
    assert_eq!(
        (status.acknowledged, status.missing),
        (1, vec![(0, Some(bytes(40, 60)))])
    );
}

/// UM: the gap is skipped, and what follows is delivered.
#[test]
fn unacknowledged_mode_skips() {
    let mut receiver = Receiver::new(Generation::Lte, config(RlcMode::Unacknowledged));
    receiver.on_pdu(at(0), &pdu(0, (0, 100), false));
    receiver.on_pdu(at(1), &pdu(2, (0, 100), false));
    assert_eq!(receiver.in_order(), 100);
    receiver.on_time(at(11));
    assert_eq!(receiver.in_order(), 300);
}

/// The last PDU polls, `t-PollRetransmit` repeats the poll, and the retransmission counter ends the
/// link.
#[test]
fn the_last_pdu_is_polled_for_until_it_is_acknowledged() {
    let mut transmitter = Transmitter::new(
        Generation::Lte,
        RlcConfig {
            max_retransmissions: RetryLimit::Attempts(NonZeroU32::new(2).unwrap()),
            ..config(RlcMode::Acknowledged)
        },
    );
    transmitter.number(bytes(0, 100));
    let (sent, size) = transmitter.send(200).unwrap();
    assert_eq!((sent.part, size), (bytes(0, 100), 105));
    let mut pdus = [sent];
    transmitter.leave(at(0), &mut pdus, true);
    assert!(pdus[0].poll);
    for expiry in [30, 60, 90] {
        assert!(!transmitter.take_failure());
        transmitter.on_time(at(expiry - 1), true);
        assert!(transmitter.retransmit(0, 200).is_none());
        transmitter.on_time(at(expiry), true);
        // In a smaller block, in parts.
        let (first, _) = transmitter.retransmit(0, 68).unwrap();
        let (second, size) = transmitter.retransmit(0, 68).unwrap();
        assert_eq!(
            (first.part, second.part, size),
            (bytes(0, 60), bytes(60, 100), 47)
        );
        let mut pdus = [first, second];
        transmitter.leave(at(expiry), &mut pdus, true);
        assert!(!pdus[0].poll && pdus[1].poll);
    }
    assert!(
        transmitter.take_failure(),
        "RETX_COUNT has reached maxRetxThreshold"
    );
    let all = Status {
        acknowledged: 1,
        missing: Vec::new(),
    };
    transmitter.on_status(&all);
    assert!(transmitter.is_idle());
}

/// A tenth to a half of all blocks and statuses are lost, blocks have any size: everything arrives
/// once, and the stream without a gap. 3 ms each way; a block a millisecond.
fn everything_arrives(generation: Generation, loss: f64, seed: u64) {
    let stream = Stream::new(seed, "rlc");
    let config = config(RlcMode::Acknowledged);
    let mut transmitter = Transmitter::new(generation, config);
    let mut receiver = Receiver::new(generation, config);
    let (mut numbered, end) = (0, 40_000);
    let mut there: Vec<(u64, Vec<DataPdu>)> = Vec::new();
    let mut back: Vec<(u64, Status)> = Vec::new();
    let mut taken = 0;
    for millis in 0..60_000 {
        let now = at(millis);
        for (_, pdus) in there.extract_if(.., |(due, _)| *due == millis) {
            for pdu in pdus {
                receiver.on_pdu(now, &pdu);
            }
        }
        for (_, status) in back.extract_if(.., |(due, _)| *due == millis) {
            transmitter.on_status(&status);
        }
        transmitter.on_time(now, numbered == end);
        receiver.on_time(now);
        let mut left = 20 + (stream.draw(3 * millis) % 300);
        let mut pdus = Vec::new();
        while let Some((pdu, size)) = transmitter.retransmit(0, left) {
            pdus.push(pdu);
            left = left.saturating_sub(size);
        }
        while left > 2 * MAX_HEADER && (numbered < end || transmitter.has_unsent_part()) {
            if !transmitter.has_unsent_part() {
                if !transmitter.is_open() {
                    break;
                }
                let length = match generation {
                    Generation::Lte => left - MAX_HEADER,
                    Generation::Nr => 150,
                };
                let whole = bytes(numbered, (numbered + length).min(end));
                transmitter.number(whole);
                numbered = whole.end;
            }
            let (pdu, size) = transmitter.send(left).unwrap();
            pdus.push(pdu);
            left = left.saturating_sub(size);
        }
        transmitter.leave(now, &mut pdus, numbered == end);
        if !pdus.is_empty() && stream.uniform(3 * millis + 1) >= loss {
            there.push((millis + 3, pdus));
        }
        if let Some((status, _)) = receiver.status(now, 60)
            && stream.uniform(3 * millis + 2) >= loss
        {
            back.push((millis + 3, status));
        }
        while receiver.take_complete().is_some() {
            taken += 1;
        }
        if numbered == end && transmitter.is_idle() {
            assert_eq!(receiver.in_order(), end);
            if generation == Generation::Nr {
                assert_eq!(taken, end.div_ceil(150));
            }
            return;
        }
    }
    panic!("not all has arrived");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn all_arrives_over_a_channel_that_loses(
        is_nr in any::<bool>(), loss in 0.0..0.5, seed in any::<u64>(),
    ) {
        let generation = if is_nr { Generation::Nr } else { Generation::Lte };
        everything_arrives(generation, loss, seed);
    }
}
