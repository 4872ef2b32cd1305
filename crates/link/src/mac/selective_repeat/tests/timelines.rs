//! Step by step, by hand.

use super::*;
use crate::frame::{Fate, Occupancy, Urgency};
use crate::scheduler::deadline::DeadlineOrder;

/// A report of a packet: time, name, outcome, and number of attempts.
type Line = (u64, u64, &'static str, u32);

fn lines(all: &[(Instant, Outcome<u64>)]) -> Vec<Line> {
    all.iter()
        .map(|(now, outcome)| {
            let (packet, what, attempts) = match *outcome {
                Outcome::Delivered {
                    packet, attempts, ..
                } => (packet, "delivered", attempts),
                Outcome::Acknowledged {
                    packet, attempts, ..
                } => (packet, "acknowledged", attempts),
                Outcome::Retried {
                    packet, attempts, ..
                } => (packet, "retried", attempts),
                Outcome::Discarded {
                    packet, attempts, ..
                } => (packet, "discarded", attempts),
                Outcome::Dropped { packet } => (packet, "dropped", 0),
            };
            let millisecond = (*now - Instant::ZERO).as_nanos() / MILLISECOND.as_nanos();
            (millisecond, packet, what, attempts)
        })
        .collect()
}

/// Every third frame is damaged; 2 ms each way, retransmission 5 ms after the last bit.
fn third() -> SelectiveRepeatConfig {
    config(ErrorModel::Block { period: 3, lost: 1 }, 2, 5)
}

/// 0, 1, 2 leave at 0, 1, 2 ms; 2 is damaged, its last bit leaves at 3, its timer expires at 8. 3
/// and 4 follow at 3 and 4, 5, the sixth frame, is damaged too (last bit 6, timer 11). 2 is
/// retransmitted at 8, 5 at 11.
#[test]
fn frames_overtake_the_one_that_is_retransmitted() {
    let told = lines(&outcomes(&third(), &[0; 6]));
    let expected: [Line; 14] = [
        (3, 0, "delivered", 1),
        (4, 1, "delivered", 1),
        (5, 0, "acknowledged", 1),
        (6, 3, "delivered", 1),
        (6, 1, "acknowledged", 1),
        (7, 4, "delivered", 1),
        (8, 3, "acknowledged", 1),
        (8, 2, "retried", 1),
        (9, 4, "acknowledged", 1),
        (11, 2, "delivered", 2),
        (11, 5, "retried", 1),
        (13, 2, "acknowledged", 2),
        (14, 5, "delivered", 2),
        (16, 5, "acknowledged", 2),
    ];
    assert_eq!(told, expected);
}

/// The same with a reordering buffer: 3 and 4 wait for 2.
#[test]
fn a_reordering_buffer_holds_what_has_overtaken() {
    let config = SelectiveRepeatConfig {
        handover: Handover::InOrder,
        ..third()
    };
    let told = lines(&outcomes(&config, &[0; 6]));
    let delivered: Vec<_> = told
        .iter()
        .filter(|(_, _, what, _)| *what == "delivered")
        .map(|&(at, packet, _, attempts)| (at, packet, attempts))
        .collect();
    let expected = [
        (3, 0, 1),
        (4, 1, 1),
        (11, 2, 2),
        (11, 3, 1),
        (11, 4, 1),
        (14, 5, 2),
    ];
    assert_eq!(delivered, expected);
}

/// With one attempt 2 is given up when its timer expires at 8; the receiver learns of it at 10.
#[test]
fn what_is_given_up_is_waited_for_no_longer() {
    let mut config = SelectiveRepeatConfig {
        handover: Handover::InOrder,
        ..third()
    };
    config.access_point.retry_limit = attempts(1);
    let told = lines(&outcomes(&config, &[0; 5]));
    let of = |wanted| -> Vec<_> {
        told.iter()
            .filter(|(_, _, what, _)| *what == wanted)
            .map(|&(at, packet, _, attempts)| (at, packet, attempts))
            .collect()
    };
    assert_eq!(of("discarded"), [(8, 2, 1)]);
    let expected = [(3, 0, 1), (4, 1, 1), (10, 3, 1), (10, 4, 1)];
    assert_eq!(of("delivered"), expected);
    assert_eq!(of("retried"), []);
}

/// A window of two: 2 waits for the acknowledgment of 0 at 5. Where numbers count, 2 is damaged at
/// 5 (timer 11), 3 follows at 6 when 1 is acknowledged, and 4 must wait until 2 is acknowledged at
/// 16; where outstanding frames count it goes when 3 is acknowledged at 11, before 2's
/// retransmission, which is due at 11 too, no: a due retransmission goes first.
#[test]
fn a_window_holds_the_sender_up() {
    let starts = |window: fn(NonZeroU32) -> Window| {
        let config = SelectiveRepeatConfig {
            window: window(NonZeroU32::new(2).unwrap()),
            ..third()
        };
        transmissions(&config, &[0; 5])
    };
    let numbers = [
        (0, 0, 1),
        (1, 0, 1),
        (5, 0, 1),
        (6, 0, 1),
        (11, 0, 2),
        (16, 0, 1),
        (22, 0, 2),
    ];
    assert_eq!(starts(Window::Numbers), numbers);
    let outstanding = [
        (0, 0, 1),
        (1, 0, 1),
        (5, 0, 1),
        (6, 0, 1),
        (11, 0, 2),
        (12, 0, 1),
        (18, 0, 2),
    ];
    assert_eq!(starts(Window::Outstanding), outstanding);
}

/// Watches starts, flows and attempt numbers.
#[derive(Default)]
struct Starts(Vec<(u64, u32, u32)>, Vec<(u32, Fate)>);

impl ChannelObserver for Starts {
    fn occupied(&mut self, occupancy: &Occupancy) {
        let start = (occupancy.start - Instant::ZERO).as_nanos() / MILLISECOND.as_nanos();
        self.0.push((start, occupancy.flow, occupancy.attempt));
        self.1.push((occupancy.flow, occupancy.fate));
    }
}

fn watched(config: &SelectiveRepeatConfig, flows: &[u32]) -> Starts {
    let mut link = SelectiveRepeatLink::new(config, Stream::new(7, "link")).unwrap();
    let mut starts = Starts::default();
    for (packet, &flow) in flows.iter().enumerate() {
        let packet = packet as u64;
        assert!(link.push(
            Instant::ZERO,
            (ACCESS_POINT, MOBILE),
            offer(flow),
            packet,
            &mut starts
        ));
    }
    while link.next_wakeup() < Instant::FAR_FUTURE {
        link.on_wakeup(link.next_wakeup(), &mut starts);
    }
    starts
}

fn transmissions(config: &SelectiveRepeatConfig, flows: &[u32]) -> Vec<(u64, u32, u32)> {
    watched(config, flows).0
}

/// The n-th transmission of a flow meets its n-th draw, whatever another flow transmits.
#[test]
fn a_flow_that_sends_more_shifts_no_draw_of_another() {
    let config = config(independent(0.4), 1, 4);
    let fates = |flows: &[u32]| -> Vec<Fate> {
        let all = watched(&config, flows).1;
        let of_one = all.iter().filter(|(flow, _)| *flow == 1);
        of_one.map(|(_, fate)| *fate).collect()
    };
    let alone = fates(&[1; 100]);
    let with_other: Vec<u32> = (0..400).map(|packet| u32::from(packet % 4 == 3)).collect();
    assert!(alone.contains(&Fate::Damaged) && alone.len() > 120);
    assert_eq!(fates(&with_other), alone);
}

/// Both directions have a separate line and draws: packets of the mobile arrive as if the access
/// point had no packets.
#[test]
fn directions_do_not_share_the_line() {
    let mut link = SelectiveRepeatLink::new(&third(), Stream::new(1, "link")).unwrap();
    for packet in 0..3 {
        assert!(link.push(
            Instant::ZERO,
            (ACCESS_POINT, MOBILE),
            offer(0),
            packet,
            &mut ()
        ));
        assert!(link.push(
            Instant::ZERO,
            (MOBILE, ACCESS_POINT),
            offer(0),
            10 + packet,
            &mut ()
        ));
    }
    assert_eq!(
        (
            link.queued_packets(MOBILE, MOBILE),
            link.queued_packets(ACCESS_POINT, MOBILE)
        ),
        (2, 2)
    );
    let mut arrived = Vec::new();
    while let Some((now, some)) = step(&mut link) {
        for outcome in some {
            if let Outcome::Delivered {
                packet, from, to, ..
            } = outcome
            {
                assert_eq!((from, to), if packet < 10 { (0, 1) } else { (1, 0) });
                arrived.push(((now - Instant::ZERO).as_nanos() / 1_000_000, packet));
            }
        }
    }
    let expected = [(3, 10), (3, 0), (4, 11), (4, 1), (11, 12), (11, 2)];
    assert_eq!(arrived, expected);
}

/// Two frames fail and are due for retransmission while the line is busy with others: by deadline
/// the one whose sender's timer expires first goes first, although it failed later; after three
/// failed retransmissions a frame is dropped.
#[test]
fn retransmissions_can_be_ordered_by_deadline() {
    let run = |order| {
        let mut config = config(
            ErrorModel::Block {
                period: 10,
                lost: 10,
            },
            1,
            2,
        );
        config.access_point.order = order;
        config.access_point.retry_limit = attempts(2);
        let mut link = SelectiveRepeatLink::new(&config, Stream::new(1, "link")).unwrap();
        for (packet, expires) in [(0, 900), (1, 500)] {
            let urgency = Urgency {
                expires: Instant::ZERO + MILLISECOND * expires,
                timeout: MILLISECOND * expires,
                round_trip: MILLISECOND,
                in_flight: 0,
            };
            let offer = Offer {
                bytes: if packet == 0 { BYTES } else { 3 * BYTES },
                urgency: Some(urgency),
                ..offer(0)
            };
            assert!(link.push(
                Instant::ZERO,
                (ACCESS_POINT, MOBILE),
                offer,
                packet,
                &mut ()
            ));
        }
        let mut all = Vec::new();
        while let Some((now, some)) = step(&mut link) {
            all.extend(some.into_iter().map(|outcome| (now, outcome)));
        }
        lines(&all)
    };
    // 0 leaves at 0 and its retransmission is due at 3, while 1 (1 to 4) is on the line; 0 goes at
    // 4, 1 is due at 6, and goes then.
    let first_due: [Line; 4] = [
        (3, 0, "retried", 1),
        (6, 1, "retried", 1),
        (7, 0, "discarded", 2),
        (11, 1, "discarded", 2),
    ];
    assert_eq!(run(RetransmissionOrder::HeadOfLine), first_due);
    let by_deadline = run(RetransmissionOrder::Deadline(DeadlineOrder::default()));
    let discarded: Vec<_> = by_deadline
        .iter()
        .filter(|(_, _, what, _)| *what == "discarded")
        .map(|&(_, packet, _, attempts)| (packet, attempts))
        .collect();
    assert_eq!(discarded, [(0, 4), (1, 4)]);
}

/// A queue of one packet takes one that waits, and one that goes at once besides.
#[test]
fn what_finds_no_room_is_refused() {
    let mut config = config(ErrorModel::None, 1, 4);
    for limit in [QueueLimit::Packets(1), QueueLimit::Bytes(u64::from(BYTES))] {
        config.access_point.queue = limit;
        let mut link = SelectiveRepeatLink::new(&config, Stream::new(1, "link")).unwrap();
        let admitted: Vec<_> = (0..3)
            .map(|packet| {
                link.push(
                    Instant::ZERO,
                    (ACCESS_POINT, MOBILE),
                    offer(0),
                    packet,
                    &mut (),
                )
            })
            .collect();
        assert_eq!(admitted, [true, true, false], "{limit:?}");
    }
    // A packet larger than the queue may be in transit; it may not wait.
    config.access_point.queue = QueueLimit::Bytes(1);
    let mut link = SelectiveRepeatLink::new(&config, Stream::new(1, "link")).unwrap();
    assert!(link.push(Instant::ZERO, (ACCESS_POINT, MOBILE), offer(0), 0, &mut ()));
    assert!(!link.push(Instant::ZERO, (ACCESS_POINT, MOBILE), offer(0), 1, &mut ()));
}
