use airtcp_units::Duration;
use proptest::prelude::*;

use super::*;
use crate::frame::{PacketClass, Urgency};
use crate::scheduler::deadline::{Counted, DeadlineOrder, Weighed};

const ROUND_TRIP: Duration = Duration::from_millis(50);
/// The length of a sender's timer.
const TIMER: Duration = Duration::from_millis(1000);

fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

/// A packet with a sender's timer that expires at that many milliseconds.
fn offer(expires: u64) -> Offer {
    offer_in_flight(expires, 0)
}

/// The same, from a sender with `in_flight` segments in flight.
fn offer_in_flight(expires: u64, in_flight: u32) -> Offer {
    Offer {
        bytes: 1500,
        flow: 0,
        class: PacketClass::Data,
        urgency: Some(Urgency {
            expires: at(expires),
            timeout: TIMER,
            round_trip: ROUND_TRIP,
            in_flight,
        }),
    }
}

fn dynamic() -> TransmitQueue<char> {
    let order = RetransmissionOrder::Deadline(DeadlineOrder::default());
    TransmitQueue::new(QueueLimit::Unlimited, order)
}

/// Sends the next packet at `now`, and that fails.
fn fail(queue: &mut TransmitQueue<char>, now: u64) -> Option<char> {
    let sent = queue.select(at(now))?;
    sent.failures += 1;
    sent.fragment_failures += 1;
    let packet = sent.packet;
    queue.put_back();
    Some(packet)
}

/// Mahmoodi et al. §III-A on a hand-made sequence, round trips of 50 ms, so that less than 100 ms
/// left is urgent. RTO is the time left to the timer.
#[test]
fn follows_algorithm_1_step_by_step() {
    let mut queue = dynamic();
    for (packet, expires) in [('a', 900), ('b', 400), ('c', 600)] {
        assert!(queue.push(1, offer(expires), packet));
    }
    // t = 0: nothing failed yet, first in first out: a fails. Its n is 0, its weight 900: Q1.
    assert_eq!(fail(&mut queue, 0), Some('a'));
    assert_eq!([0, 1, 2].map(|times| queue.retries(times)), [1, 0, 0]);
    // t = 10: Q1 goes before new packets: a, which fails for the second time. n = 1, weight 10⁴ +
    // 890: Q2.
    assert_eq!(fail(&mut queue, 10), Some('a'));
    assert_eq!([0, 1, 2].map(|times| queue.retries(times)), [0, 1, 0]);
    // t = 20: Q1 is empty; b, never sent, goes before Q2. It fails: n = 0, weight 380: Q1.
    assert_eq!(fail(&mut queue, 20), Some('b'));
    // t = 30: b a second time: n = 1, weight 10⁴ + 370: Q2, before a, whose timer expires later.
    assert_eq!(fail(&mut queue, 30), Some('b'));
    // t = 40: c for the first time: Q1. t = 50: c once more: Q2 holds b (400), c (600), a (900).
    assert_eq!(fail(&mut queue, 40), Some('c'));
    assert_eq!(fail(&mut queue, 50), Some('c'));
    assert_eq!([0, 1, 2].map(|times| queue.retries(times)), [0, 3, 0]);
    // t = 60: b for the third time: n = 2, weight 2·10⁴ + 340: Q3.
    assert_eq!(fail(&mut queue, 60), Some('b'));
    assert_eq!([0, 1, 2].map(|times| queue.retries(times)), [0, 2, 1]);
    // t = 299: b has 101 ms left, two round trips are 100: it waits, and c goes.
    assert_eq!(fail(&mut queue, 299), Some('c'));
    // t = 301: 99 ms left: b goes before a, though Q2 is served before Q3. It fails, n = 3, the
    // weight is 3·10⁴ + 99: dropped.
    assert_eq!(fail(&mut queue, 301), Some('b'));
    let dropped = queue
        .take_expired()
        .map(|waiting| (waiting.packet, waiting.failures));
    assert_eq!(dropped, Some(('b', 4)));
    // t = 650: c's timer has expired at 600: it is not retransmitted. a, of Q2, is.
    assert_eq!(
        queue.select(at(650)).map(|waiting| waiting.packet),
        Some('a')
    );
    assert_eq!(
        queue.take_expired().map(|waiting| waiting.packet),
        Some('c')
    );
    assert_eq!(queue.take_expired(), None);
    assert_eq!(queue.finish().map(|waiting| waiting.packet), Some('a'));
    assert!(queue.is_empty());
    assert_eq!(queue.bytes(), 0);
}

/// A packet of several frames: each may fail as often, or all of them together.
#[test]
fn failures_of_another_frame_count_where_the_parameter_says() {
    let queues = |counted| {
        let order = DeadlineOrder {
            counted,
            ..DeadlineOrder::default()
        };
        let mut queue =
            TransmitQueue::new(QueueLimit::Unlimited, RetransmissionOrder::Deadline(order));
        assert!(queue.push(1, offer(900), 'a'));
        // Its first frame fails twice and arrives, its second fails once.
        let sent = queue.select(at(0)).expect("a packet");
        (sent.failures, sent.fragment_failures, sent.fragments_done) = (3, 1, 1);
        queue.put_back();
        [0, 1, 2].map(|times| queue.retries(times))
    };
    assert_eq!(queues(Counted::Frame), [1, 0, 0]);
    assert_eq!(queues(Counted::Packet), [0, 0, 1]);
}

#[test]
fn what_was_never_sent_waits_where_the_parameter_says() {
    let turns = |ahead_of_fresh| {
        let order = DeadlineOrder {
            ahead_of_fresh,
            ..DeadlineOrder::default()
        };
        let mut queue =
            TransmitQueue::new(QueueLimit::Unlimited, RetransmissionOrder::Deadline(order));
        for packet in ['a', 'b', 'c'] {
            assert!(queue.push(1, offer(9000), packet));
        }
        [0, 1, 2, 3].map(|now| fail(&mut queue, now).unwrap())
    };
    assert_eq!(turns(0), ['a', 'b', 'c', 'a']);
    assert_eq!(turns(1), ['a', 'a', 'b', 'b']);
    assert_eq!(turns(3), ['a', 'a', 'a', 'a']);
}

#[test]
fn the_head_of_the_line_stays_there() {
    let mut queue = TransmitQueue::new(QueueLimit::Packets(2), RetransmissionOrder::HeadOfLine);
    assert!(queue.push(1, offer(10), 'a'));
    assert!(queue.select(at(0)).is_some());
    // The chosen packet takes no room.
    assert!(queue.push(1, offer(10), 'b') && queue.push(1, offer(10), 'c'));
    assert!(!queue.push(1, offer(10), 'd'));
    for now in [1, 20, 3000] {
        assert_eq!(fail(&mut queue, now), Some('a'));
        assert_eq!(queue.take_expired(), None);
    }
    assert_eq!(queue.finish().map(|waiting| waiting.failures), Some(3));
    assert_eq!(
        queue.select(at(3001)).map(|waiting| waiting.packet),
        Some('b')
    );
    assert_eq!((queue.len(), queue.bytes()), (1, 1500));
}

#[test]
fn a_limit_in_bytes_counts_what_waits() {
    let mut queue = TransmitQueue::new(QueueLimit::Bytes(3000), RetransmissionOrder::HeadOfLine);
    assert!(queue.push(1, offer(10), 'a'));
    assert!(queue.select(at(0)).is_some());
    let admitted = ['b', 'c', 'd'].map(|packet| queue.push(1, offer(10), packet));
    assert_eq!(admitted, [true, true, false]);
}

/// The order as the paper writes it: weights, and everything re-sorted each time.
#[derive(Default)]
struct Model {
    fresh: Vec<(u64, u64)>,
    failed: Vec<(u64, u64, u64)>,
    expired: Vec<u64>,
}

impl Model {
    /// Frames sent at `now` (ms) that fail; packets are (name, expiry).
    fn fail(&mut self, now: u64) -> Option<u64> {
        let (gone, rest) = self
            .failed
            .drain(..)
            .partition(|&(_, expires, _)| expires <= now);
        self.failed = rest;
        self.expired
            .extend(Vec::from_iter(gone).iter().map(|&(name, ..)| name));
        let weight = |&(_, expires, n): &(u64, u64, u64)| 10_000 * n + (expires - now).min(9_999);
        self.failed.sort_by_key(weight);
        let heads: Vec<_> = (0..3)
            .filter_map(|n| self.failed.iter().find(|packet| packet.2 == n).copied())
            .collect();
        let urgent = heads.iter().filter(|(_, expires, _)| expires - now < 100);
        let urgent = urgent.min_by_key(|(_, expires, _)| *expires).copied();
        let first = self.failed.first().copied().filter(|packet| packet.2 == 0);
        let (name, expires, n) = if let Some(packet) = urgent.or(first) {
            self.failed.retain(|other| other.0 != packet.0);
            (packet.0, packet.1, packet.2 + 1)
        } else if !self.fresh.is_empty() {
            let (name, expires) = self.fresh.remove(0);
            (name, expires, 0)
        } else if self.failed.is_empty() {
            return None;
        } else {
            let packet = self.failed.remove(0);
            (packet.0, packet.1, packet.2 + 1)
        };
        if n < 3 {
            self.failed.push((name, expires, n));
        } else {
            self.expired.push(name);
        }
        Some(name)
    }
}

proptest! {
    /// Against the weights of the paper, re-sorted for every transmission. No two timers expire in
    /// the same millisecond: their order would be the model's choice.
    #[test]
    fn agrees_with_the_weights(
        steps in prop::collection::vec((any::<bool>(), 0_u64..60, 1_u64..9_000), 1..150)
    ) {
        let order = RetransmissionOrder::Deadline(DeadlineOrder::default());
        let mut queue: TransmitQueue<u64> = TransmitQueue::new(QueueLimit::Unlimited, order);
        let mut model = Model::default();
        let (mut now, mut expiries) = (0, std::collections::BTreeSet::new());
        let mut expired = Vec::new();
        for (name, (adds, pause, time_left)) in (0..).zip(steps) {
            now += pause;
            let mut expires = now + time_left;
            while !expiries.insert(expires) {
                expires += 1;
            }
            if adds && expires < now + 9_999 {
                prop_assert!(queue.push(1, offer(expires), name));
                model.fresh.push((name, expires));
                continue;
            }
            let sent = queue.select(at(now)).map(|waiting| {
                waiting.failures += 1;
                waiting.fragment_failures += 1;
                waiting.packet
            });
            queue.put_back();
            while let Some(waiting) = queue.take_expired() {
                expired.push(waiting.packet);
            }
            prop_assert_eq!(sent, model.fail(now));
            let mut given_up = model.expired.clone();
            given_up.sort_unstable();
            expired.sort_unstable();
            prop_assert_eq!(&expired, &given_up);
            prop_assert_eq!(queue.len(), model.fresh.len() + model.failed.len());
            prop_assert_eq!(queue.bytes(), 1500 * queue.len() as u64);
        }
    }
}

/// A weight of 50 ms a segment: of two senders with 900 and 600 ms left, that with ten segments in
/// flight goes first (400 against 600), and expired packets are dropped wherever they rank.
#[test]
fn a_window_in_flight_goes_before_less_time_left() {
    let order = RetransmissionOrder::Deadline(DeadlineOrder {
        window_weight: Duration::from_millis(50),
        ahead_of_fresh: 0,
        ..DeadlineOrder::default()
    });
    let mut queue = TransmitQueue::new(QueueLimit::Unlimited, order);
    for (packet, expires, in_flight) in [('a', 900, 10), ('b', 600, 0)] {
        assert!(queue.push(1, offer_in_flight(expires, in_flight), packet));
        assert_eq!(fail(&mut queue, 0), Some(packet));
    }
    assert_eq!(fail(&mut queue, 10), Some('a'));
    // Q1 holds only b, Q2 a; b fails too, and a goes first as before.
    assert_eq!(fail(&mut queue, 20), Some('b'));
    assert_eq!(fail(&mut queue, 30), Some('a'));
    assert_eq!([0, 1, 2].map(|times| queue.retries(times)), [0, 1, 1]);
    // b's timer expires at 600, though a ranks at 400 and is not due before 900.
    assert_eq!(
        queue.select(at(650)).map(|waiting| waiting.packet),
        Some('a')
    );
    assert_eq!(
        queue.take_expired().map(|waiting| waiting.packet),
        Some('b')
    );
}

/// Fotiadis & Siris §V: stations take turns, failed packets stay at the head of their queue, and
/// each queue has the limit for itself.
#[test]
fn stations_take_turns_and_keep_what_failed_at_their_head() {
    let mut queue = TransmitQueue::new(QueueLimit::Packets(2), RetransmissionOrder::ByStation);
    for (to, packet) in [(1, 'a'), (1, 'b'), (2, 'x')] {
        assert!(queue.push(to, offer(900), packet));
    }
    assert!(!queue.push(1, offer(900), 'c'), "station 1 has two");
    assert!(queue.push(2, offer(900), 'y'), "station 2 has one");
    assert_eq!(fail(&mut queue, 0), Some('a'));
    assert_eq!(queue.select(at(1)).map(|one| one.packet), Some('x'));
    queue.finish();
    assert_eq!(fail(&mut queue, 2), Some('a'));
    assert_eq!(queue.select(at(3)).map(|one| one.packet), Some('y'));
    queue.finish();
    assert_eq!(queue.len(), 2);
    assert_eq!(queue.bytes(), 3000);
    for expected in ['a', 'b'] {
        assert_eq!(queue.select(at(4)).map(|one| one.packet), Some(expected));
        queue.finish();
    }
    assert!(queue.is_empty());
}

/// The largest number of retransmissions is that of the queues: n of them, and the packet is given
/// up at the failure after.
#[test]
fn a_packet_is_retransmitted_as_often_as_there_are_queues() {
    for most in [1, 2, 3, 7] {
        let order = RetransmissionOrder::Deadline(DeadlineOrder {
            retransmissions: most,
            ..DeadlineOrder::default()
        });
        let mut queue = TransmitQueue::new(QueueLimit::Unlimited, order);
        assert!(queue.push(1, offer(9000), 'a'));
        for time in 0..=most {
            assert_eq!(fail(&mut queue, u64::from(time)), Some('a'), "{most}");
        }
        assert!(queue.select(at(100)).is_none());
        let given_up = queue.take_expired().map(|waiting| waiting.packet);
        assert_eq!(given_up, Some('a'), "{most}");
    }
}

/// The weight of RTO, of two retries: a failed first, b has less time left, c has the shortest
/// timer.
#[test]
fn the_weight_is_what_the_reading_makes_it() {
    let queue_of = |weighed, drops_expired| {
        let order = RetransmissionOrder::Deadline(DeadlineOrder {
            weighed,
            drops_expired,
            urgent_round_trips: 0,
            ahead_of_fresh: 0,
            ..DeadlineOrder::default()
        });
        let mut queue = TransmitQueue::new(QueueLimit::Unlimited, order);
        for (packet, expires, timer) in [('a', 900, 800), ('b', 600, 700), ('c', 950, 500)] {
            let mut offer = offer(expires);
            if let Some(urgency) = &mut offer.urgency {
                urgency.timeout = Duration::from_millis(timer);
            }
            assert!(queue.push(1, offer, packet));
            assert_eq!(fail(&mut queue, 0), Some(packet));
        }
        queue
    };
    for (weighed, first) in [
        (Weighed::TimeLeft, 'b'),
        (Weighed::Length, 'c'),
        (Weighed::Nothing, 'a'),
    ] {
        assert_eq!(fail(&mut queue_of(weighed, true), 10), Some(first));
        // At 920 only c's timer still runs.
        assert_eq!(fail(&mut queue_of(weighed, true), 920), Some('c'));
        assert_eq!(fail(&mut queue_of(weighed, false), 920), Some(first));
    }
}
