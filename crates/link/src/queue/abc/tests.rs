//! The router's arithmetic by hand, and the loop of router and sender on a link of constant rate.

use std::sync::Arc;

use airtcp_units::BitRate;

use super::*;
use crate::frame::Transmission;
use crate::pipe::{Pipe, PipeConfig};
use crate::random::Stream;
use crate::trace::mahimahi::MahimahiTrace;
use crate::{Delay, Discipline, Service};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packet(Ecn);

impl EcnField for Packet {
    fn ecn(&self) -> Ecn {
        self.0
    }

    fn brake(&mut self) {
        assert_eq!(self.0, Ecn::Capable1, "only an accelerate becomes a brake");
        self.0 = Ecn::Capable0;
    }
}

fn at(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1000)
}

fn waiting(now: Instant, ecn: Ecn) -> QueuedPacket<Packet> {
    QueuedPacket {
        packet: Packet(ecn),
        transmission: Transmission {
            bytes: 1500,
            flow: 0,
            index: 0,
        },
        is_lost: false,
        since: now,
    }
}

/// A queue that always holds `waits` packets after a departure each millisecond, over a link that
/// could carry `could` bytes in 20 ms; the share of accelerates among departures after the first
/// window.
fn share(config: AbcConfig, waits: usize, could: u64) -> f64 {
    let mut queue = Abc::new(config, QueueLimit::Unlimited);
    for _ in 0..waits {
        queue.push(waiting(at(0), Ecn::Capable1));
    }
    let mut accelerates = 0;
    for ms in 1..=2000 {
        let now = at(ms * 1000);
        queue.push(waiting(now, Ecn::Capable1));
        queue.note_capacity(could);
        let Packet(ecn) = queue.dequeue(now).unwrap().packet;
        accelerates += u32::from(ms > 1000 && ecn == Ecn::Capable1);
    }
    f64::from(accelerates) / 1000.0
}

/// The formulas of §3: 20 packets leave in 20 ms, as many as could. Up to d_t = 50 ms of queue, 50
/// packets with the one that leaves, f = 0.98/2; with 100 packets x = 100 ms and f = (0.98 −
/// 50/133)/2; with 200, none. A link that could carry twice as much doubles f and halves the delay;
/// one of three times as much lets all accelerate.
#[test]
fn the_share_of_accelerates_is_the_formulas() {
    let config = AbcConfig::default();
    for (waits, could, expected) in [
        (0, 30_000, 0.49),
        (49, 30_000, 0.49),
        (99, 30_000, (0.98 - 50.0 / 133.0) / 2.0),
        (199, 30_000, 0.0),
        (0, 60_000, 0.98),
        (149, 60_000, 0.98 - 25.0 / 133.0),
        (0, 90_000, 1.0),
        (0, 15_000, 0.245),
    ] {
        let found = share(config, waits, could);
        let difference = (found - expected).abs();
        assert!(difference < 0.002, "{waits} {could}: {found}, {expected}");
    }
    let patient = AbcConfig {
        eta: 0.9,
        delta: Duration::from_millis(266),
        target: Duration::from_millis(20),
        ..config
    };
    let found = share(patient, 99, 30_000);
    assert!(
        (found - (0.9 - 80.0 / 266.0) / 2.0).abs() < 0.002,
        "{found}"
    );
}

/// A brake of another router stays one, and packets of other senders pass as they came.
#[test]
fn only_accelerates_are_changed() {
    let mut queue = Abc::new(AbcConfig::default(), QueueLimit::Packets(300));
    let fields = [Ecn::NotCapable, Ecn::Capable0, Ecn::CongestionExperienced];
    for number in 0..300 {
        queue.push(waiting(at(0), fields[number % 3]));
    }
    assert!(!queue.push(waiting(at(0), Ecn::Capable1)), "no room");
    for number in 0..300 {
        queue.note_capacity(1500);
        let served = queue.dequeue(at(1000 * number as u64)).unwrap();
        assert_eq!(served.packet, Packet(fields[number % 3]));
    }
}

/// Where the link does not report its capacity, departures show it: aggregates of ten packets, each
/// taking 5 ms with more behind it, are two packets a millisecond; a batch that empties the queue,
/// however late the next packet comes, says nothing, and neither does the time after it.
#[test]
fn departures_from_a_backlog_show_the_capacity() {
    let window = Duration::from_millis(20);
    let mut backlogged = Backlogged::default();
    let aggregate = |backlogged: &mut Backlogged, ms: u64, leaves_some: bool| {
        for packet in 0..10 {
            let some = packet < 9 || leaves_some;
            backlogged.count(at(ms * 1000), 1500, some, window);
        }
    };
    aggregate(&mut backlogged, 1, true);
    assert_eq!(backlogged.rate(), None, "one alone has taken no time yet");
    for ms in [6, 11, 16] {
        aggregate(&mut backlogged, ms, true);
        let rate = backlogged.rate().unwrap();
        assert!((rate - 3e6).abs() < 1.0, "{ms}: {rate}");
    }
    aggregate(&mut backlogged, 21, false);
    aggregate(&mut backlogged, 30, true);
    let rate = backlogged.rate().unwrap();
    assert!(
        (rate - 3e6).abs() < 1.0,
        "the idle time does not count: {rate}"
    );
    aggregate(&mut backlogged, 100, true);
    let rate = backlogged.rate().unwrap();
    assert!(
        (rate - 15_000.0 / 0.07).abs() < 1.0,
        "the last took 70 ms: {rate}"
    );
    aggregate(&mut backlogged, 121, false);
    aggregate(&mut backlogged, 200, false);
    assert_eq!(backlogged.rate(), None, "nothing waited for another");
}

/// A pipe reports its link's capacity: opportunities that were missed count, too.
#[test]
fn a_pipe_knows_what_its_link_could_carry() {
    let trace = MahimahiTrace::parse(b"1\n1\n2\n5\n", "four in five").unwrap();
    let services = [
        (Service::Constant(BitRate::from_bps(12_000_000)), 30_000),
        // Twenty milliseconds are four laps: 16 opportunities.
        (Service::Mahimahi(Arc::new(trace)), 24_000),
    ];
    for (service, expected) in services {
        let server = crate::service::Server::new(service, Stream::new(1, "abc"));
        for until in [at(25_000), at(38_400), at(1_000_000)] {
            let found = server.capacity(until, Duration::from_millis(20));
            assert_eq!(found, Some(expected), "{until:?}");
        }
    }
    // The end is in, the beginning is not.
    let trace = MahimahiTrace::parse(b"10\n20\n", "every ten").unwrap();
    let server =
        crate::service::Server::new(Service::Mahimahi(Arc::new(trace)), Stream::new(1, "abc"));
    let ten = Duration::from_millis(10);
    assert_eq!(server.capacity(at(30_000), ten), Some(1500));
    assert_eq!(server.capacity(at(29_999), ten), Some(1500));
    assert_eq!(server.capacity(at(9_999), ten), Some(0));
}

/// A sender with the window of §3, packet by packet over a link of a packet a millisecond and a
/// round trip of 100 ms: it fills η of the link, and the queue stays near or below the delay that
/// is left alone.
#[test]
fn the_loop_settles_at_the_target_utilization() {
    let mut pipe = Pipe::new(
        PipeConfig {
            discipline: Discipline::Abc(AbcConfig::default()),
            ..PipeConfig::line(
                Service::Constant(BitRate::from_bps(12_000_000)),
                Delay::Constant(Duration::from_millis(99)),
            )
        },
        Stream::new(1, "loop"),
    );
    let (mut window, mut in_flight, mut index) = (10.0_f64, 0.0_f64, 0);
    let (mut now, mut delivered, mut queued) = (at(0), 0, 0);
    while now < at(40_000_000) {
        while in_flight + 1.0 <= window {
            let transmission = Transmission {
                bytes: 1500,
                flow: 0,
                index,
            };
            pipe.push(now, transmission, Packet(Ecn::Capable1));
            index += 1;
            in_flight += 1.0;
        }
        now = pipe.next_wakeup();
        while let Some(Packet(ecn)) = pipe.pop(now) {
            in_flight -= 1.0;
            window += match ecn {
                Ecn::Capable1 => 1.0 + 1.0 / window,
                _ => -1.0 + 1.0 / window,
            };
            window = window.max(2.0);
            if now > at(20_000_000) {
                delivered += 1;
                queued = queued.max(pipe.queued_packets(now));
            }
        }
    }
    let utilization = f64::from(delivered) / 20_000.0;
    assert!((0.96..=1.0).contains(&utilization), "{utilization}");
    assert!(queued <= 55, "{queued} packets are {queued} ms");
}
