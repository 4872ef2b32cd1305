//! Exchanges worked out by hand, in microseconds. 802.11b with long preambles, data at 11 Mbit/s
//! and the rest at 1 Mbit/s: SIFS 10, DIFS 50, EIFS 364, RTS 352, CTS and ACK 304. A frame of 1500
//! bytes takes 192 + 1091 = 1283. A failure: 10 + 20 + 192 until that is known and DIFS, 272
//! together. The contention window is 0, so that every back-off is.

use super::scenario::Scenario;
use super::*;
use crate::error::ErrorModel;
use crate::frame::{Fate, FrameKind};
use crate::mac::damage::Outage;
use crate::mac::history::{Arrival, History};
use crate::scheduler::deadline::DeadlineOrder;
use Fate::{Collided, Damaged, Received};
use FrameKind::{Ack, Cts, Data, Rts};

/// Fills a frame of 1500 bytes.
const WHOLE: u32 = 1464;

fn attempts(limit: u32) -> RetryLimit {
    NonZeroU32::new(limit).map_or(RetryLimit::Unlimited, RetryLimit::Attempts)
}

fn exact(stations: u32, limit: u32) -> BssConfig {
    let own = StationConfig {
        short_retry_limit: attempts(limit),
        long_retry_limit: attempts(limit),
        ..station()
    };
    BssConfig {
        contention_window: Some((0, 0)),
        mobile: own,
        access_point: own,
        ..config(stations)
    }
}

/// Of every `period` frames the last `lost` are damaged.
fn damaging(period: u32, lost: u32) -> DamageConfig {
    DamageConfig {
        model: ErrorModel::Block { period, lost },
        ..DamageConfig::default()
    }
}

/// Packets are given to the first station, or at a time to another.
fn run(config: &BssConfig, packets: &[(u64, u32, u32)]) -> History {
    let arrivals = packets.iter().map(|&(micros, from, bytes)| {
        let to = u32::from(from == ACCESS_POINT);
        data(micros, (from, to), bytes)
    });
    run_all(config, arrivals.collect())
}

fn data(at: u64, (from, to): (u32, u32), bytes: u32) -> Arrival {
    Arrival {
        at,
        from,
        to,
        bytes,
        flow: 0,
        class: PacketClass::Data,
        expires_after: None,
    }
}

fn run_all(config: &BssConfig, arrivals: Vec<Arrival>) -> History {
    let scenario = Scenario {
        config: config.clone(),
        arrivals,
        seed: 1,
    };
    scenario.run().0
}

/// Sender, start, end, kind and fate of each frame.
fn frames(history: &History) -> Vec<(u32, u64, u64, FrameKind, Fate)> {
    let frames = history.frames.iter();
    frames
        .map(|sent| (sent.station, sent.start, sent.end, sent.frame, sent.fate))
        .collect()
}

/// Given to a station at 0, before the medium has been idle for DIFS: a back-off of 0, so that the
/// first starts at 50. It is given up once that has failed, and the next starts 272 later.
#[test]
fn a_limit_of_one_is_one_attempt() {
    let config = BssConfig {
        damage: damaging(1, 1),
        ..exact(1, 1)
    };
    let history = run(&config, &[(0, 1, WHOLE), (0, 1, WHOLE)]);
    assert_eq!(
        frames(&history),
        [(1, 50, 1333, Data, Damaged), (1, 1605, 2888, Data, Damaged)]
    );
    assert_eq!(history.discarded, [(0, 1, false), (1, 1, false)]);
}

/// The second of two mobiles has two attempts, one more than the first and the access point.
#[test]
fn a_mobile_has_its_own_limit_in_both_directions() {
    let config = BssConfig {
        damage: damaging(1, 1),
        station_retry_limits: StationRetryLimits::both_ways(&[attempts(1), attempts(2)]),
        ..exact(2, 5)
    };
    // One after the other, so that they do not collide.
    let all = [(1, 0), (2, 0), (0, 1), (0, 2)];
    let arrivals = (0..).zip(all);
    let arrivals = arrivals.map(|(place, ends)| data(place * 10_000, ends, WHOLE));
    let history = run_all(&config, arrivals.collect());
    let attempts: Vec<_> = history
        .discarded
        .iter()
        .map(|given_up| given_up.1)
        .collect();
    assert_eq!(attempts, [1, 2, 1, 2]);
}

/// The first, fifth and so on arrive. 1333 + 10 + 304 = 1647, + 50 = 1697 for the second packet,
/// which fails three times: 1697 + 1283 + 272 = 3252, 4807, 6362.
#[test]
fn without_a_limit_it_goes_on() {
    let config = BssConfig {
        damage: damaging(4, 3),
        ..exact(1, 0)
    };
    let history = run(&config, &[(0, 1, WHOLE), (0, 1, WHOLE)]);
    assert_eq!(
        frames(&history),
        [
            (1, 50, 1333, Data, Received),
            (0, 1343, 1647, Ack, Received),
            (1, 1697, 2980, Data, Damaged),
            (1, 3252, 4535, Data, Damaged),
            (1, 4807, 6090, Data, Damaged),
            (1, 6362, 7645, Data, Received),
            (0, 7655, 7959, Ack, Received),
        ]
    );
    assert_eq!(history.delivered, [(1333, 0, 1), (7645, 1, 4)]);
}

/// The medium is idle for long when they arrive at 100: both send at once, without back-off. They
/// fail: 1383 + 272 = 1655 for the senders; the access point received an undecodable frame and
/// waits for EIFS, so that they are first once more. Then 2938 + 364 = 3302.
#[test]
fn colliders_wait_for_an_answer_and_others_for_eifs() {
    let packets = [(100, 1, WHOLE), (100, 2, WHOLE), (200, 0, WHOLE)];
    let history = run(&exact(2, 2), &packets);
    assert_eq!(
        frames(&history),
        [
            (1, 100, 1383, Data, Collided),
            (2, 100, 1383, Data, Collided),
            (1, 1655, 2938, Data, Collided),
            (2, 1655, 2938, Data, Collided),
            (0, 3302, 4585, Data, Received),
            (1, 4595, 4899, Ack, Received),
        ]
    );
    assert_eq!(history.discarded, [(0, 2, false), (1, 2, false)]);
}

/// 100 bytes of IP make a frame of 136: 192 + 99 = 291. Its sender waits until 391 + 222, senses
/// the other's frame until 1383, and sends DIFS after it; the other's wait is longer.
#[test]
fn a_short_frame_waits_for_the_longer_one() {
    let history = run(&exact(2, 2), &[(100, 1, 100), (100, 2, WHOLE)]);
    assert_eq!(
        frames(&history),
        [
            (1, 100, 391, Data, Collided),
            (2, 100, 1383, Data, Collided),
            (1, 1433, 1724, Data, Received),
            (0, 1734, 2038, Ack, Received),
            (2, 2088, 3371, Data, Received),
            (0, 3381, 3685, Ack, Received),
        ]
    );
}

/// A station that has given up a packet in a collision need not wait for EIFS: with nothing to send
/// its back-off of 0 is over at 1383 + 272 = 1655, and a packet that arrives at 1700 is sent at
/// once, though listeners wait until 1383 + 364 = 1747.
#[test]
fn who_has_collided_is_ready_before_others() {
    let packets = [
        (100, 1, WHOLE),
        (100, 2, WHOLE),
        (200, 0, WHOLE),
        (1700, 1, WHOLE),
    ];
    let history = run(&exact(2, 1), &packets);
    assert_eq!(
        frames(&history)[2..],
        [
            (1, 1700, 2983, Data, Received),
            (0, 2993, 3297, Ack, Received),
            (0, 3347, 4630, Data, Received),
            (1, 4640, 4944, Ack, Received),
        ]
    );
}

/// 50 + 352 = 402; 412 + 304 = 716; 726 + 1283 = 2009; 2019 + 304 = 2323. A frame as large as the
/// threshold goes without.
#[test]
fn frames_above_the_threshold_are_cleared() {
    let with = |threshold| BssConfig {
        rts_threshold: Some(threshold),
        ..exact(2, 2)
    };
    assert_eq!(
        frames(&run(&with(1499), &[(0, 1, WHOLE)])),
        [
            (1, 50, 402, Rts, Received),
            (0, 412, 716, Cts, Received),
            (1, 726, 2009, Data, Received),
            (0, 2019, 2323, Ack, Received),
        ]
    );
    assert_eq!(
        frames(&run(&with(1500), &[(0, 1, WHOLE)])),
        [
            (1, 50, 1333, Data, Received),
            (0, 1343, 1647, Ack, Received)
        ]
    );
    // A collision costs an RTS: 100 + 352 + 272 = 724. Never sent themselves, they had no attempt.
    let history = run(&with(1499), &[(100, 1, WHOLE), (100, 2, WHOLE)]);
    assert_eq!(
        frames(&history),
        [
            (1, 100, 452, Rts, Collided),
            (2, 100, 452, Rts, Collided),
            (1, 724, 1076, Rts, Collided),
            (2, 724, 1076, Rts, Collided),
        ]
    );
    assert_eq!(history.discarded, [(0, 0, false), (1, 0, false)]);
}

/// Cut at 500 bytes, 1500 are three times 472 and 56 of payload: 192 + 364 = 556 µs each, and 192 +
/// 62 = 254. The third frame is damaged: 2366 + 272 = 2638, after which the burst goes on.
#[test]
fn fragments_follow_each_other() {
    let config = BssConfig {
        fragmentation_threshold: Some(500),
        damage: damaging(3, 1),
        ..exact(1, 2)
    };
    let history = run(&config, &[(0, 1, WHOLE)]);
    assert_eq!(
        frames(&history),
        [
            (1, 50, 606, Data, Received),
            (0, 616, 920, Ack, Received),
            (1, 930, 1486, Data, Received),
            (0, 1496, 1800, Ack, Received),
            (1, 1810, 2366, Data, Damaged),
            (1, 2638, 3194, Data, Received),
            (0, 3204, 3508, Ack, Received),
            (1, 3518, 3772, Data, Received),
            (0, 3782, 4086, Ack, Received),
        ]
    );
    assert_eq!(history.delivered, [(3772, 0, 2)]);
}

/// Every other frame is damaged: the second, third and fourth fragment fail once each. That is
/// three failures with a limit of 2, but no fragment fails twice.
#[test]
fn retries_are_counted_by_fragment() {
    let config = BssConfig {
        fragmentation_threshold: Some(500),
        damage: damaging(2, 1),
        ..exact(1, 2)
    };
    let history = run(&config, &[(0, 1, WHOLE)]);
    let attempts: Vec<u32> = history
        .delivered
        .iter()
        .map(|&(.., attempts)| attempts)
        .collect();
    assert_eq!(attempts, [4]);
}

/// 114 bytes of IP make a frame of 150, of 302 µs: 50 to 352, its ACK from 362 to 666. The channel
/// is away from 500 to 503 and from 1500 to 1503, in the middle of the ACKs; the sender, which
/// receives them damaged, waits for EIFS: 666 + 364 = 1030.
#[test]
fn a_packet_whose_ack_is_lost_is_delivered_once() {
    let config = BssConfig {
        damage: DamageConfig {
            outage: Some(Outage {
                every: Duration::from_micros(500),
                length: Duration::from_micros(3),
            }),
            ..DamageConfig::default()
        },
        ..exact(1, 2)
    };
    let history = run(&config, &[(0, 1, 114)]);
    assert_eq!(
        frames(&history),
        [
            (1, 50, 352, Data, Received),
            (0, 362, 666, Ack, Damaged),
            (1, 1030, 1332, Data, Received),
            (0, 1342, 1646, Ack, Damaged),
        ]
    );
    assert_eq!(history.delivered, [(352, 0, 1)]);
    assert_eq!(history.discarded, [(0, 2, true)]);
}

/// All frames are damaged, two packets, to be sent four times each. In the order of the paper
/// packets that failed twice let new ones pass, and Q2 is served before Q3; with new ones last the
/// first is given up before the second is sent.
#[test]
fn a_deadline_order_chooses_for_each_attempt() {
    for (ahead_of_fresh, expected) in [(1, [1, 2, 1, 2, 3, 3, 4, 4]), (3, [1, 2, 3, 4, 1, 2, 3, 4])]
    {
        let order = DeadlineOrder {
            ahead_of_fresh,
            ..DeadlineOrder::default()
        };
        let mut config = BssConfig {
            damage: damaging(1, 1),
            ..exact(1, 0)
        };
        config.access_point.order = RetransmissionOrder::Deadline(order);
        let history = run(&config, &[(0, 0, WHOLE), (0, 0, WHOLE)]);
        let attempts: Vec<u32> = history.frames.iter().map(|sent| sent.attempt).collect();
        assert_eq!(attempts, expected);
        let starts: Vec<u64> = history.frames.iter().map(|sent| sent.start).collect();
        let every_1555: Vec<u64> = (0..8).map(|place| 50 + place * (1283 + 272)).collect();
        assert_eq!(starts, every_1555);
        assert_eq!(history.discarded, [(0, 4, false), (1, 4, false)]);
    }
}

/// Stations in turn: of two packets for different stations the second goes between the attempts of
/// the first, and the limit of attempts is the usual one.
#[test]
fn stations_take_turns_attempt_by_attempt() {
    let mut config = BssConfig {
        damage: damaging(1, 1),
        ..exact(2, 3)
    };
    config.access_point.order = RetransmissionOrder::ByStation;
    let arrivals = [1, 2].map(|to| data(0, (ACCESS_POINT, to), WHOLE));
    let history = run_all(&config, arrivals.to_vec());
    let attempts: Vec<u32> = history.frames.iter().map(|sent| sent.attempt).collect();
    assert_eq!(attempts, [1, 1, 2, 2, 3, 3]);
    assert_eq!(history.discarded, [(0, 3, false), (1, 3, false)]);
}

/// A window that grows from 0: after three failures the fourth frame is up to 7 slots late, and the
/// next packet is not, whichever order gives the first one up.
#[test]
fn giving_up_resets_the_window() {
    let new_ones_last = DeadlineOrder {
        ahead_of_fresh: 3,
        ..DeadlineOrder::default()
    };
    let orders = [
        RetransmissionOrder::HeadOfLine,
        RetransmissionOrder::Deadline(new_ones_last),
    ];
    for order in orders {
        let mut config = BssConfig {
            damage: damaging(1, 1),
            contention_window: Some((0, 1023)),
            ..exact(1, 4)
        };
        config.access_point.order = order;
        let history = run(&config, &[(0, 0, WHOLE); 20]);
        assert_eq!(history.discarded.len(), 20);
        let sent = &history.frames;
        let pauses = sent
            .windows(2)
            .map(|pair| (pair[1].start - pair[0].end - 272) / 20);
        let mut latest = [0; 4];
        for (place, slots) in (1..).zip(pauses) {
            latest[place % 4] = latest[place % 4].max(slots);
        }
        // After 0, 1, 2 and 3 failures the window is 0, 1, 3 and 7. Twenty draws have chance 2 %
        // or less to spare the larger half of a window, and these do not.
        assert_eq!(latest[0], 0, "{order:?}");
        assert_eq!(latest[1], 1, "{order:?}");
        assert!((2..=3).contains(&latest[2]), "{order:?}: {latest:?}");
        assert!((4..=7).contains(&latest[3]), "{order:?}: {latest:?}");
    }
}
