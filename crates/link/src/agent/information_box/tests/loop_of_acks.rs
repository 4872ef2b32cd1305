//! A window that circulates on a path of known delays: the readings of the box in its middle.

use std::collections::BTreeMap;

use airtcp_packet::{SequenceNumber, Timestamps};

use super::super::*;
use crate::random::Stream;

const PACKET: u32 = 1_000;
/// Packets in flight at most.
const WINDOW: u32 = 20;

/// Delays in microseconds.
#[derive(Clone, Copy, Debug)]
struct Path {
    /// From the sender to the access point, and back.
    wired: u64,
    /// Airtimes of packets, one after the other.
    radio: u64,
    /// Upper end of a uniform extra time of each packet.
    jitter: u64,
    /// The tick of both hosts' timestamps.
    tick: u64,
    /// The sender's clock is so far ahead of the mobile's.
    offset: u64,
    /// The access point's clock is so far ahead of the mobile's.
    phase: u64,
}

const PATH: Path = Path {
    wired: 25_000,
    radio: 2_500,
    jitter: 0,
    tick: 1_000,
    offset: 333_000,
    phase: 0,
};

#[derive(Clone, Copy)]
enum Event {
    /// At the access point, towards the mobile.
    Data(Segment),
    Mobile(Segment),
    /// At the access point, towards the sender.
    Ack(Segment),
    Sender(Segment),
}

/// The result of a transfer of `packets`: the mean of the sender's samples, and of the box's round
/// trip at each data segment, in ms; and the box.
struct Outcome {
    true_mean: f64,
    read_mean: f64,
    information: InformationBox,
}

struct World {
    path: Path,
    now: u64,
    events: BTreeMap<(u64, u64), Event>,
    order: u64,
    /// When the radio is free.
    free: u64,
}

impl World {
    fn at(&mut self, time: u64, event: Event) {
        self.order += 1;
        self.events.insert((time, self.order), event);
    }

    fn stamps(&self, offset: u64, echo: u32) -> Option<Timestamps> {
        let value = ((self.now + offset) / self.path.tick) as u32;
        Some(Timestamps { value, echo })
    }
}

/// A handshake that the mobile begins, then slow start up to [`WINDOW`], every packet acknowledged.
fn run(path: Path, method: PassiveMethod, packets: u32) -> Outcome {
    let config = InformationBoxConfig {
        method,
        ..InformationBoxConfig::default()
    };
    let mut information = InformationBox::new(config).unwrap();
    let jitter = Stream::new(1, "test.jitter");
    let mut world = World {
        path,
        now: 1_000_000,
        events: BTreeMap::new(),
        order: 0,
        free: 0,
    };
    let syn = Segment {
        sequence: SequenceNumber(77),
        flags: Flags::SYN,
        timestamps: world.stamps(0, 0),
        ..Segment::default()
    };
    world.at(1_000_000, Event::Ack(syn));
    let mut next = 0_u32;
    let mut window = 2;
    let mut sent_at = BTreeMap::new();
    let (mut true_samples, mut read_samples) = (Vec::new(), Vec::new());
    while let Some(((now, _), event)) = world.events.pop_first() {
        world.now = now;
        let here = Instant::ZERO + Duration::from_micros(now + path.phase);
        match event {
            Event::Data(segment) => {
                information.observe(here, 1, Toward::Mobile, &segment);
                read_samples.extend(information.round_trip(1).map(Duration::as_millis_f64));
                let extra = jitter.draw(world.order) % (path.jitter + 1);
                world.free = world.free.max(now) + path.radio + extra;
                world.at(world.free, Event::Mobile(segment));
            }
            Event::Mobile(segment) => {
                let ack = Segment {
                    sequence: SequenceNumber(78),
                    acknowledgment: segment.sequence + segment.sequence_length(),
                    flags: Flags::ACK,
                    timestamps: world.stamps(0, segment.timestamps.unwrap().value),
                    ..Segment::default()
                };
                world.at(now + 200, Event::Ack(ack));
            }
            Event::Ack(segment) => {
                information.observe(here, 1, Toward::Wired, &segment);
                world.at(now + path.wired, Event::Sender(segment));
            }
            Event::Sender(segment) => {
                let newest_echo = segment.timestamps.unwrap().value;
                let echoed = world.stamps(path.offset, newest_echo);
                if segment.flags.contains(Flags::SYN) {
                    let syn_ack = Segment {
                        sequence: SequenceNumber(u32::MAX),
                        acknowledgment: SequenceNumber(78),
                        flags: Flags::SYN | Flags::ACK,
                        timestamps: echoed,
                        ..Segment::default()
                    };
                    world.at(now + path.wired, Event::Data(syn_ack));
                    continue;
                }
                let acked = segment.acknowledgment.0 / PACKET;
                if let Some(sent) = sent_at.remove(&acked) {
                    true_samples.push((now - sent) as f64 / 1e3);
                    window = (window + 1).min(WINDOW);
                }
                while next < packets && next < acked + window {
                    let segment = Segment {
                        sequence: SequenceNumber(next * PACKET),
                        acknowledgment: SequenceNumber(78),
                        payload_bytes: PACKET,
                        flags: Flags::ACK,
                        timestamps: world.stamps(path.offset, newest_echo),
                        ..Segment::default()
                    };
                    next += 1;
                    sent_at.insert(next, now);
                    world.at(now + path.wired, Event::Data(segment));
                }
            }
        }
    }
    assert_eq!(true_samples.len(), packets as usize);
    let mean = |samples: &[f64]| samples.iter().sum::<f64>() / samples.len() as f64;
    Outcome {
        true_mean: mean(&true_samples),
        read_mean: mean(&read_samples),
        information,
    }
}

const EXACT: PassiveMethod = PassiveMethod::Timestamps {
    tick: Duration::from_nanos(1),
};

/// The error that the papers cited claim: below 10 %, for the paper's range of wired round trips
/// (5 to 100 ms), with a queue at the radio and without, with and without jitter, with clocks of 1
/// and 10 ms in the hosts.
#[test]
fn reads_the_round_trip_within_a_tenth() {
    for wired in [2_500, 10_000, 25_000, 50_000] {
        for (radio, jitter) in [(200, 0), (2_500, 0), (2_500, 10_000)] {
            for (tick, method) in [
                (1_000, EXACT),
                (10_000, EXACT),
                (1_000, PassiveMethod::SelfClocking),
            ] {
                let path = Path {
                    wired,
                    radio,
                    jitter,
                    tick,
                    ..PATH
                };
                let outcome = run(path, method, 2_000);
                let error = outcome.read_mean / outcome.true_mean - 1.0;
                assert!(error.abs() < 0.1, "{path:?} {method:?}: {error}");
            }
        }
    }
}

/// Clocks of 500 ms in the hosts, but not in the access point: one sample in 500 ms, so that the
/// average lags behind a queue that grows in a second; after a minute it is right.
#[test]
fn coarse_stamps_cost_samples_not_accuracy() {
    let path = Path {
        wired: 2_500,
        tick: 500_000,
        ..PATH
    };
    let early = run(path, EXACT, 2_000);
    let late = run(path, EXACT, 24_000);
    // The queue of 20 packets of 2.5 ms makes a path of 5 ms one of 50.
    assert!((early.true_mean - 50.0).abs() < 1.0);
    assert!(
        early.read_mean < 0.7 * early.true_mean,
        "{}",
        early.read_mean
    );
    let settled = late.information.round_trip(1).unwrap().as_millis_f64();
    assert!((settled / 50.0 - 1.0).abs() < 0.1, "{settled}");
}

/// The paper's simulator reads everything in ticks of 500 ms. With a round trip of 52.7 ms a
/// reading is 0 or 500 ms; and since the first packet of a stamp follows its host's tick closely,
/// it is the same for a whole transfer: by the phase between the clocks, 0 for nine transfers in
/// ten (the timer is then the floor) and ten times the truth for one. Of 25 phases 20 ms apart a
/// tick falls between two passages in 52.7 / 20 = 2.6.
#[test]
fn a_clock_of_half_a_second_cannot_tell() {
    let tick = Duration::from_millis(500);
    let phases = (0..500_000).step_by(20_000);
    let read: Vec<Duration> = phases
        .map(|phase| {
            let path = Path {
                tick: 500_000,
                phase,
                ..PATH
            };
            let outcome = run(path, PassiveMethod::Timestamps { tick }, 2_000);
            assert!(
                (outcome.true_mean - 52.7).abs() < 0.5,
                "{}",
                outcome.true_mean
            );
            outcome.information.round_trip(1).unwrap()
        })
        .collect();
    assert!(
        read.iter()
            .all(|&read| read == Duration::ZERO || read == tick)
    );
    let high = read.iter().filter(|&&read| read == tick).count();
    assert!((2..=3).contains(&high), "{high}");
}
