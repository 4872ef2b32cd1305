//! Small cases, worked out on paper.

use super::*;
use crate::frame::Admission;
use crate::pipe::{Pipe, PipeConfig};
use crate::{Delay, ErrorModel, Service};
use airtcp_units::BitRate;

const MILLI: u64 = 1_000_000;

/// A thousand packets that all arrived at time 0, one served every 4 ms: always above the target of
/// 5 ms except the first two. The first departure above is at 8 ms, so that the first drop is at
/// the first departure from 108 ms on. Then 100/√1 ms, 100/√2, 100/√3, ... from that: 208, 278.7,
/// 336.4, 386.4, 431.2 ms, each at the next departure.
#[test]
fn drops_follow_the_control_law() {
    for ecn in [false, true] {
        let config = CoDelConfig {
            ecn,
            ..CoDelConfig::default()
        };
        let mut queue = queue(Discipline::CoDel(config), QueueLimit::Unlimited);
        for number in 0..1000 {
            assert!(queue.push(waiting(0, number, 0, 1500, Ecn::Capable0)));
        }
        let (mut drops, mut marks) = (Vec::new(), Vec::new());
        for departure in 0..110 {
            let now = departure * 4;
            let step = step(&mut queue, now * MILLI);
            drops.extend(step.dropped.iter().map(|_| now));
            if step.served.unwrap().1 {
                marks.push(now);
            }
        }
        let expected = vec![108, 208, 280, 340, 388, 432];
        let none = Vec::new();
        let found = if ecn {
            (none, expected)
        } else {
            (expected, none)
        };
        assert_eq!((drops, marks), found);
    }
}

/// A queue of no more than one largest packet is never dropped from, however long it waits.
#[test]
fn the_last_packet_is_never_dropped() {
    let mut queue = queue(
        Discipline::CoDel(CoDelConfig::default()),
        QueueLimit::Unlimited,
    );
    for number in 0..50 {
        let now = number as u64 * 500 * MILLI;
        queue.push(waiting(now, number, 0, 1500, Ecn::NotCapable));
        let step = step(&mut queue, now + 400 * MILLI);
        assert_eq!(step.served, Some((number, false)));
        assert!(step.dropped.is_empty());
    }
}

/// Endpoints that do not understand marks lose packets where others are marked.
#[test]
fn what_cannot_be_marked_is_dropped() {
    let config = CoDelConfig {
        ecn: true,
        ..CoDelConfig::default()
    };
    let mut queue = queue(Discipline::CoDel(config), QueueLimit::Unlimited);
    for number in 0..100 {
        queue.push(waiting(0, number, 0, 1500, Ecn::NotCapable));
    }
    let steps: Vec<Step> = (0..40).map(|k| step(&mut queue, k * 4 * MILLI)).collect();
    assert!(
        steps
            .iter()
            .all(|step| step.served.is_some_and(|(_, marked)| !marked))
    );
    assert_eq!(steps[27].dropped, [27]);
}

/// Two flows of one queue each; the quantum is 1500 bytes. Flow 0 has five packets of 1500 queued,
/// flow 1 then sends one of 300: it is new, and goes first except for the packet whose turn has
/// begun.
#[test]
fn new_flows_go_first_and_old_ones_take_turns() {
    let config = FqCoDelConfig::default();
    let mut queue = queue(Discipline::FqCoDel(config), QueueLimit::Packets(10_240));
    for number in 0..5 {
        queue.push(waiting(0, number, 0, 1500, Ecn::NotCapable));
    }
    let mut served = vec![step(&mut queue, 0).served.unwrap().0];
    for (number, bytes) in [(10, 300), (11, 1200), (12, 300)] {
        queue.push(waiting(0, number, 1, bytes, Ecn::NotCapable));
    }
    while let Some((number, _)) = step(&mut queue, 0).served {
        served.push(number);
    }
    // Flow 0 has used its quantum and goes to the old flows; flow 1 sends its 1500 bytes.
    assert_eq!(served, [0, 10, 11, 1, 12, 2, 3, 4]);
}

/// One packet too many: half of the bytes of the longest queue go, from its head, but no more than
/// 64 packets.
#[test]
fn the_longest_queue_makes_room() {
    for (limit, dropped_at_once) in [(10, 5), (300, 64)] {
        let config = FqCoDelConfig::default();
        let mut queue = queue(Discipline::FqCoDel(config), QueueLimit::Packets(limit));
        queue.push(waiting(0, 9999, 1, 1500, Ecn::NotCapable));
        for number in 0..limit as usize {
            assert!(queue.push(waiting(0, number, 0, 1000, Ecn::NotCapable)));
        }
        let expected: Vec<usize> = (0..dropped_at_once).collect();
        assert_eq!(dropped(&mut queue), expected);
        assert_eq!(queue.packets(), limit as usize + 1 - dropped_at_once);
    }
    let bytes = QueueLimit::Both {
        packets: 100,
        bytes: 4000,
    };
    let config = FqCoDelConfig::default();
    let mut queue = queue(Discipline::FqCoDel(config), bytes);
    for number in 0..5 {
        queue.push(waiting(0, number, 0, 1000, Ecn::NotCapable));
    }
    // Half of 5000 is not reached by two.
    assert_eq!((dropped(&mut queue), queue.bytes()), (vec![0, 1, 2], 2000));
}

/// A pipe at 12 Mbit/s serves 1500 bytes a millisecond. Packets 0 to 3 arrive together: 0 is served
/// at once, the others each when the previous one has left, followed by a delay of 10 ms. Packet 2
/// is lost by the link and takes its millisecond all the same.
#[test]
fn a_pipe_wakes_for_each_departure() {
    let config = PipeConfig {
        policer: None,
        service: Service::Constant(BitRate::from_bps(12_000_000)),
        queue: QueueLimit::Packets(3),
        discipline: Discipline::CoDel(CoDelConfig::default()),
        fec: None,
        error: ErrorModel::Block { period: 3, lost: 1 },
        delay: Delay::Constant(Duration::from_millis(10)),
    };
    let mut pipe: Pipe<usize> = Pipe::new(config, Stream::new(1, "link"));
    let admissions: Vec<Admission> = (0..5)
        .map(|number| {
            let transmission = Transmission {
                bytes: 1500,
                flow: 0,
                index: number as u64,
            };
            pipe.push(Instant::ZERO, transmission, number)
        })
        .collect();
    assert_eq!(admissions[..4], [Admission::Queued; 4]);
    assert_eq!(admissions[4], Admission::Overflow);
    assert_eq!(
        (pipe.queued_packets(Instant::ZERO), pipe.in_flight()),
        (3, 4)
    );
    let (mut wakeups, mut arrived, mut lost) = (Vec::new(), Vec::new(), Vec::new());
    while pipe.next_wakeup() < Instant::FAR_FUTURE {
        let now = pipe.next_wakeup();
        wakeups.push(now.as_nanos() / MILLI);
        while let Some(number) = pipe.pop(now) {
            arrived.push((number, now.as_nanos() / MILLI));
        }
        while let Some(discarded) = pipe.take_discarded() {
            lost.push(discarded);
        }
    }
    assert_eq!(wakeups, [1, 2, 3, 11, 12, 14]);
    assert_eq!(arrived, [(0, 11), (1, 12), (3, 14)]);
    assert_eq!(lost, [(2, Admission::Lost)]);
}

/// Of 1024 queues, 100 flows share some: the expected number in use is 1024·(1 − (1 − 1/1024)^100),
/// which is 95.3, with a standard deviation below √(100·99/2/1024) = 2.2.
#[test]
fn flows_are_spread_over_the_queues() {
    let counts = (0..200).map(|seed| {
        let hash = Stream::new(seed, "hash");
        let config = FqCoDelConfig {
            quantum: 1,
            ..FqCoDelConfig::default()
        };
        let mut queue: ManagedQueue<Packet> =
            ManagedQueue::new(Discipline::FqCoDel(config), QueueLimit::Unlimited, hash).unwrap();
        for flow in 0..100 {
            queue.push(waiting(0, flow, flow as u32, 100, Ecn::NotCapable));
            queue.push(waiting(0, 1000 + flow, flow as u32, 100, Ecn::NotCapable));
        }
        // In the first round each queue sends the packet at its head.
        let first = (0..100).take_while(|_| step(&mut queue, 0).served.unwrap().0 < 1000);
        first.count() as f64
    });
    let mean = counts.sum::<f64>() / 200.0;
    assert!(
        (mean - 95.3).abs() < 5.0 * 2.2 / 200.0_f64.sqrt() + 1.0,
        "{mean}"
    );
}
