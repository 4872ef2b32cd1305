//! CAKE by hand, from `net/sched/sch_cake.c`.

use std::collections::VecDeque;

use airtcp_packet::{Ecn, Flags, SackBlock, Segment, SequenceNumber, Timestamps};

use super::ack_filter::superfluous;
use super::cobalt::{Cobalt, Limits};
use super::*;
use crate::frame::Transmission;

const LIMITS: Limits = Limits {
    target: Duration::from_millis(5),
    interval: Duration::from_millis(100),
    packet_time: Duration::ZERO,
};

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn before(now: Instant) -> Instant {
    Instant::from_nanos(now.as_nanos() - 1)
}

fn waiting<P>(now: Instant, flow: u32, bytes: u32, packet: P) -> QueuedPacket<P> {
    QueuedPacket {
        packet,
        transmission: Transmission {
            bytes,
            flow,
            index: 0,
        },
        is_lost: false,
        since: now,
    }
}

/// When packets that all came at `since` are signalled, one taken every 4 ms.
fn signals(cobalt: &mut Cobalt, since: u64, is_capable: bool) -> Vec<u64> {
    let mut found = Vec::new();
    for now in (since..since + 340).step_by(4) {
        let verdict = cobalt.verdict(&LIMITS, at(now), at(since), is_capable, u32::MAX);
        if verdict != Verdict::Passes {
            assert_eq!(verdict == Verdict::IsMarked, is_capable);
            found.push(now - since);
        }
    }
    found
}

/// The first packet above the target is at 8 ms, the first signal 100 ms later, then 100/√2,
/// 100/√3, ... after that: 178.7, 236.4, 286.4, 331.2 ms.
#[test]
fn signals_follow_the_control_law() {
    for is_capable in [false, true] {
        let mut cobalt = Cobalt::default();
        signals(&mut cobalt, 0, is_capable);
        cobalt.verdict(&LIMITS, at(9000), at(9000), is_capable, u32::MAX);
        assert_eq!(cobalt.count, 0);
        let found = signals(&mut cobalt, 10_000, is_capable);
        assert_eq!(found, [108, 180, 240, 288, 332]);
        assert_eq!(cobalt.count, 6);
    }
}

/// In a new queue the first signal does not wait for an interval but for the next packet; the
/// others follow the law: 78.7, 136.4, 186.4, 231.2, 272.0, 309.8 ms. Linux 6.12 drops the seventh
/// of ten segments that a sender begins with at 10 Mbit/s: the first that leaves after one that has
/// waited for 6 ms.
#[test]
fn a_new_queue_signals_at_once() {
    let mut cobalt = Cobalt::default();
    let found = signals(&mut cobalt, 0, false);
    assert_eq!(found, [12, 80, 140, 188, 232, 272, 312]);
    let mut cobalt = Cobalt::default();
    let dropped = (0..10).find(|place| {
        let leaves = Instant::ZERO + Duration::from_micros(1200) * *place;
        cobalt.verdict(&LIMITS, leaves, at(0), false, u32::MAX) == Verdict::IsDropped
    });
    assert_eq!(dropped, Some(6));
}

/// Once the delay is short the count falls at the pace at which it rose: by one at 100 ms over the
/// root of the remaining count, and a packet after a long pause finds it at zero.
#[test]
fn the_count_falls_as_it_rose() {
    let mut cobalt = Cobalt::default();
    for now in (0..340).step_by(4) {
        cobalt.verdict(&LIMITS, at(now), at(0), false, u32::MAX);
    }
    // The next signal would be at 309.8 + 100/√8 = 345.1 ms.
    let mut counts = Vec::new();
    for now in [344, 360, 376, 416, 420, 460] {
        cobalt.verdict(&LIMITS, at(now), at(now), false, u32::MAX);
        counts.push(cobalt.count);
    }
    // At 360 the count is 7 and the next 345.1 + 37.8 = 382.9; then 423.7 for 6, 468.5 for 5.
    assert_eq!(counts, [8, 7, 7, 6, 6, 5]);
    cobalt.verdict(&LIMITS, at(9000), at(9000), false, u32::MAX);
    assert_eq!((cobalt.count, cobalt.next), (0, at(9100)));
}

/// BLUE rises by 1/256 with each overflow, at most once in a target, and falls by 1/4096.
#[test]
fn overflows_raise_a_probability_that_empty_turns_lower() {
    let mut cobalt = Cobalt::default();
    for now in [10, 12, 16, 18, 22] {
        cobalt.on_overflow(&LIMITS, at(now));
    }
    assert_eq!(cobalt.probability, 3 << 24);
    let mut drops = 0_u32;
    for draw in 0..256 {
        let verdict = cobalt.verdict(&LIMITS, at(23), at(23), true, draw << 24);
        drops += u32::from(verdict == Verdict::IsDropped);
    }
    assert_eq!(drops, 3);
    cobalt.on_empty(&LIMITS, at(24));
    assert_eq!(cobalt.probability, 3 << 24);
    cobalt.on_empty(&LIMITS, at(30));
    assert_eq!(cobalt.probability, (3 << 24) - (1 << 20));
}

fn ack(number: u32) -> Segment {
    Segment {
        acknowledgment: SequenceNumber(number),
        flags: Flags::ACK,
        timestamps: Some(Timestamps {
            value: number,
            echo: number,
        }),
        ..Segment::default()
    }
}

fn with_block(mut segment: Segment, start: u32, end: u32) -> Segment {
    segment.tail.push(SackBlock {
        start: SequenceNumber(start),
        end: SequenceNumber(end),
    });
    segment
}

fn found(filter: AckFilter, segments: &[Segment]) -> Option<usize> {
    let queue: VecDeque<QueuedPacket<Segment>> = segments
        .iter()
        .map(|&segment| waiting(at(0), 0, 52, segment))
        .collect();
    superfluous(filter, &queue)
}

/// Of two that the newest covers the older one is dropped; a single one only if the filter is
/// aggressive and nothing lies between.
#[test]
fn covered_acknowledgments_are_dropped() {
    let three = [ack(1000), ack(2000), ack(3000)];
    assert_eq!(found(AckFilter::Off, &three), None);
    assert_eq!(found(AckFilter::On, &three), Some(0));
    assert_eq!(found(AckFilter::On, &three[..2]), None);
    assert_eq!(found(AckFilter::Aggressive, &three[..2]), Some(0));
    assert_eq!(found(AckFilter::Aggressive, &three[..1]), None);
    let data = Segment {
        payload_bytes: 100,
        ..ack(2500)
    };
    assert_eq!(
        found(AckFilter::Aggressive, &[ack(1000), data, ack(3000)]),
        None
    );
    assert_eq!(
        found(AckFilter::On, &[ack(1000), data, ack(2000), ack(3000)]),
        Some(0)
    );
    // The newest may carry data: it acknowledges all the same.
    assert_eq!(found(AckFilter::On, &[ack(1000), ack(2000), data]), Some(0));
}

/// Acknowledgments with other information stay: duplicates, older clocks, options, SACKed ranges
/// that are not repeated, duplicate SACKs, the end of a stream, congestion echoes.
#[test]
fn what_says_something_of_its_own_stays() {
    let with_flags = |flags, number| Segment {
        flags: Flags::ACK | flags,
        ..ack(number)
    };
    for kept in [
        ack(3000),
        ack(4000),
        with_flags(Flags::FIN, 1000),
        with_flags(Flags::PSH, 1000),
        Segment {
            mss: Some(1460),
            ..ack(1000)
        },
        Segment {
            timestamps: Some(Timestamps {
                value: 3001,
                echo: 0,
            }),
            ..ack(1000)
        },
        with_block(ack(1000), 5000, 6000),
        with_block(ack(1000), 500, 900),
    ] {
        assert_eq!(
            found(AckFilter::On, &[kept, kept, ack(3000)]),
            None,
            "{kept:?}"
        );
    }
    // Covered by a block that holds more.
    let (small, large) = (
        with_block(ack(1000), 5000, 6000),
        with_block(ack(1000), 5000, 7000),
    );
    assert_eq!(found(AckFilter::On, &[small, small, large]), Some(0));
    assert_eq!(found(AckFilter::On, &[large, large, small]), None);
    assert_eq!(found(AckFilter::On, &[small, small, small]), None);
    // The last one before the echo changes stays.
    let echo = |number| with_flags(Flags::ECE, number);
    assert_eq!(
        found(AckFilter::On, &[ack(1000), echo(2000), ack(3000)]),
        None
    );
    assert_eq!(
        found(
            AckFilter::On,
            &[ack(1000), echo(1500), echo(2000), ack(3000)]
        ),
        Some(1)
    );
    assert_eq!(found(AckFilter::Aggressive, &[echo(2000), ack(3000)]), None);
}

fn cake(config: CakeConfig) -> Cake<u32> {
    Cake::new(config, QueueLimit::Unlimited, Stream::new(1, "cake"))
}

/// Bytes of each flow among `count` packets, taken by a link that is never idle, with every flow
/// always having some to send.
fn shares(config: CakeConfig, flows: &[u32], count: usize) -> Vec<f64> {
    let mut cake = cake(config);
    let mut now = at(0);
    for &flow in flows {
        for _ in 0..20 {
            cake.push(waiting(now, flow, 1000, flow), |_| ());
        }
    }
    let mut served = vec![0.0; flows.len()];
    for _ in 0..count {
        now = now.max(cake.release()) + Duration::from_micros(1);
        let taken = cake
            .dequeue(now, |_| panic!("nothing waits for long"))
            .unwrap();
        let place = flows.iter().position(|&flow| flow == taken.packet).unwrap();
        served[place] += 1.0 / count as f64;
        cake.push(waiting(now, taken.packet, 1000, taken.packet), |_| ());
    }
    served
}

fn near(found: &[f64], expected: &[f64]) {
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 0.01, "{found} and {expected}");
    }
}

/// Four flows of one host and one of another: half for each host, and an eighth for each of the
/// four. Without hosts a fifth each.
#[test]
fn hosts_get_the_same() {
    let config = CakeConfig {
        interval: Duration::from_secs(1000),
        target: Duration::from_secs(100),
        ..CakeConfig::default()
    };
    let flows = [0, 2, 4, 6, 1];
    near(&shares(config, &flows, 20_000), &[0.2; 5]);
    let two = CakeConfig {
        hosts: Some(2),
        ..config
    };
    near(
        &shares(two, &flows, 20_000),
        &[0.125, 0.125, 0.125, 0.125, 0.5],
    );
}

/// Best effort, background (CS1) and voice (EF), all always with something to send: without a rate
/// by weights of 1, 1/16 and 1/4; with one the others get these shares of the rate, and best effort
/// the rest.
#[test]
fn tins_share_by_their_weights() {
    let config = CakeConfig {
        interval: Duration::from_secs(1000),
        target: Duration::from_secs(100),
        code_points: CodePoints::new([0, 8, 46]).unwrap(),
        ..CakeConfig::default()
    };
    let whole = 1.0 + 1.0 / 16.0 + 0.25;
    near(
        &shares(config, &[0, 1, 2], 20_000),
        &[1.0 / whole, 1.0 / 16.0 / whole, 0.25 / whole],
    );
    let shaped = CakeConfig {
        rate: Some(BitRate::from_bps(8_000_000)),
        ..config
    };
    near(&shares(shaped, &[0, 1, 2], 20_000), &[0.6875, 0.0625, 0.25]);
    let best_effort = CakeConfig {
        tins: Tins::BestEffort,
        ..config
    };
    near(&shares(best_effort, &[0, 1, 2], 20_000), &[1.0 / 3.0; 3]);
}

/// 1500 bytes at 12 Mbit/s take a millisecond, whenever the link is ready; after a pause the first
/// packet goes at once, with no burst after it.
#[test]
fn a_shaper_spaces_packets() {
    let mut cake = cake(CakeConfig {
        rate: Some(BitRate::from_bps(12_000_000)),
        ..CakeConfig::default()
    });
    let mut take = |start: u64| {
        for _ in 0..4 {
            cake.push(waiting(at(start), 0, 1500, 0), |_| ());
        }
        let mut times = Vec::new();
        while cake.packets() > 0 {
            let now = cake.release();
            assert!(now == at(start) || cake.dequeue(before(now), |_| ()).is_none());
            assert!(cake.dequeue(now, |_| ()).is_some());
            times.push(now);
        }
        times
    };
    assert_eq!(take(0), [at(0), at(1), at(2), at(3)]);
    assert_eq!(take(500), [at(500), at(501), at(502), at(503)]);
}

/// A slow tin's target is the time of one and a half packets, its interval at least twice that
/// (`cake_set_rate`): at 1 Mbit/s a packet takes 12 ms.
#[test]
fn slow_rates_get_longer_targets() {
    let (target, interval) = (LIMITS.target, LIMITS.interval);
    let of = |mbps: u64| {
        let rate = Some(BitRate::from_bps(mbps * 1_000_000));
        Tins::BestEffort
            .at(rate, target, interval, 1500)
            .next()
            .unwrap()
    };
    let slow = of(1);
    assert_eq!(slow.limits.target, Duration::from_millis(18));
    assert_eq!(slow.limits.interval, Duration::from_millis(113));
    assert_eq!(slow.flow_quantum, 300);
    assert_eq!(
        (of(100).limits.target, of(100).flow_quantum),
        (target, 1500)
    );
    assert_eq!(of(40).flow_quantum, 5_000_000 / 4096);
}

/// More than the queue may hold: the longest queue's head goes.
#[test]
fn the_longest_queue_makes_room() {
    let limit = QueueLimit::Packets(5);
    let mut cake = Cake::new(CakeConfig::default(), limit, Stream::new(1, "cake"));
    let mut dropped = Vec::new();
    for (number, flow) in [(0_u32, 0), (10, 1), (1, 0), (2, 0), (11, 1), (3, 0)] {
        cake.push(waiting(at(0), flow, 1000, number), |lost| {
            dropped.push(lost.packet)
        });
    }
    assert_eq!((dropped, cake.packets(), cake.bytes()), (vec![0], 5, 5000));
}

/// Senders that cannot be marked lose packets, but the last one of a queue never.
#[test]
fn the_last_packet_of_a_queue_is_never_dropped() {
    let mut cake: Cake<Segment> = Cake::new(
        CakeConfig::default(),
        QueueLimit::Unlimited,
        Stream::new(1, "cake"),
    );
    for now in (0..60_000).step_by(500) {
        cake.push(waiting(at(now), 0, 1500, Segment::default()), |_| ());
        let late = at(now + 400);
        let taken = cake.dequeue(late, |_| panic!("it is the last one"));
        assert_eq!(taken.unwrap().packet.ecn, Ecn::NotCapable);
    }
}

/// An empty queue with earlier drops decays next to one that is served: it delays no other.
#[test]
fn a_decaying_queue_holds_nobody_up() {
    let mut cake = cake(CakeConfig::default());
    for number in 0..400 {
        cake.push(waiting(at(0), 0, 1500, number), |_| ());
    }
    for now in (0..).step_by(4) {
        if cake.dequeue(at(now), |_| ()).is_none() {
            break;
        }
    }
    for now in 1601..1700 {
        cake.push(waiting(at(now), 1, 1500, 1), |_| ());
        cake.push(waiting(at(now), 1, 1500, 1), |_| ());
        assert!(cake.dequeue(at(now), |_| ()).is_some());
    }
}

/// The memory of a tin grows with its flows, and not with the hash's values.
#[test]
fn only_sets_with_flows_have_queues() {
    let mut cake = cake(CakeConfig::default());
    let made = |cake: &Cake<u32>| -> usize { cake.tins.iter().map(|tin| tin.flows.made()).sum() };
    assert_eq!(made(&cake), 0);
    for turn in 0..20 {
        for flow in 0..3 {
            cake.push(waiting(at(0), flow, 1500, flow), |_| ());
        }
        assert!((8..=24).contains(&made(&cake)), "{turn}");
    }
}

/// Of two equally long queues that with the smaller hash value makes room, whichever was first.
#[test]
fn equally_long_queues_make_room_in_the_order_of_their_numbers() {
    let first_dropped = |flows: [u32; 2]| {
        let limit = QueueLimit::Packets(3);
        let mut cake = Cake::new(CakeConfig::default(), limit, Stream::new(1, "cake"));
        let mut dropped = Vec::new();
        for flow in [flows[0], flows[1], flows[0], flows[1]] {
            cake.push(waiting(at(0), flow, 1000, flow), |lost| {
                dropped.push(lost.packet);
            });
        }
        dropped[0]
    };
    for other in 1..6 {
        assert_eq!(
            first_dropped([0, other]),
            first_dropped([other, 0]),
            "{other}"
        );
    }
}
