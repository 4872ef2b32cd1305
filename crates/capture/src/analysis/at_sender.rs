//! Converts a capture at the receiver to its sender's view.
//!
//! A timestamp dates a packet by the sender's clock. The minimum differences between arrival and
//! timestamp are the path without a queue, and a line below all of them removes the drift between
//! the two clocks (Moon, Skelly and Towsley, "Estimation and removal of clock skew", 1999). A
//! packet that fills a hole later was lost just before the packet that revealed the hole. Shifting
//! the answers by the rest of a round trip then makes every analysis of a sender's capture possible
//! here.

use std::collections::HashMap;

use airtcp_units::{Duration, Instant};

use super::path_phases::Phase;
use super::way_back::{self, Answers, Prompted, WINDOW};
use crate::packet::{Packet, Way};

/// Ticks of timestamp clocks, in nanoseconds: Linux with and without `tcp_usec_ts`, and kernels
/// that count jiffies. A coarser clock is too imprecise.
const TICKS: [f64; 4] = [1e3, 1e6, 4e6, 1e7];
/// Maximum relative distance from one of these ticks; the first and last packet queued differently.
const NEAR_TICK: f64 = 0.1;
/// Maximum relative drift between two clocks.
const DRIFT: f64 = 200e-6;
/// Minimum number of packets to detect a clock.
const MIN_PACKETS: usize = 50;

/// A packet lost upstream of the capture: the packet that repaired it, and the first arrival sent
/// after it, as indices into the segments of the data direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpstreamLoss {
    pub repair: u32,
    pub before: u32,
}

/// The packets as they passed the sender, in its order and renumbered; `None` if the timestamps
/// show no clock. `base` is the shortest round trip; on a path that changes each of `phases`, as
/// data shows them by the clock, has another on the way back.
pub fn packets(
    packets: impl Iterator<Item = Packet> + Clone,
    way: Way,
    base: Duration,
    phases: &[Phase],
    missing: &[UpstreamLoss],
) -> Option<Vec<Packet>> {
    let clock = Clock::of(packets.clone().filter(|packet| packet.way == way))?;
    let prompted = prompted(packets.clone(), way, &clock);
    let back = way_back::phases(&prompted, clock.tick());
    // Phases of the way back itself are more precise, and show on a full link, too.
    let phases = if back.is_empty() { phases } else { &back };
    let bases = match phases {
        [] => vec![base],
        _ => way_back::by_phase(&prompted, phases, base),
    };
    let mut last_answer = Instant::ZERO;
    let mut moved: Vec<(Instant, u64, Packet)> = Vec::new();
    let mut lost: HashMap<u32, Vec<u32>> = HashMap::new();
    for one in missing {
        lost.entry(one.before).or_default().push(one.repair);
    }
    let repairs: HashMap<u32, Packet> = {
        let mut places: Vec<u32> = missing.iter().map(|one| one.repair).collect();
        places.sort_unstable();
        (0..)
            .zip(packets.clone().filter(|packet| packet.way == way))
            .filter(|(place, _)| places.binary_search(place).is_ok())
            .collect()
    };
    // When the sender first received each timestamp of the receiver.
    let mut had: HashMap<u32, Instant> = HashMap::new();
    // When it first received the receiver's data, by the end of each segment: an answer may share
    // its timestamp with the acknowledgment before it.
    let mut answered: HashMap<u32, Instant> = HashMap::new();
    let mut unwrapped = Unwrapped::default();
    let mut place = 0;
    for (order, packet) in (1..).zip(packets) {
        if packet.way != way {
            let phase = phases.partition_point(|phase| phase.from <= packet.time);
            let base = bases.get(phase.saturating_sub(1)).copied();
            // On a path that becomes shorter the answers keep their order.
            let time = (packet.time + base.unwrap_or_default()).max(last_answer);
            last_answer = time;
            if let Some(both) = packet.segment.timestamps {
                had.entry(both.value).or_insert(time);
            }
            if packet.segment.payload_bytes > 0 {
                let end = packet.segment.sequence + packet.segment.sequence_length();
                answered.entry(end.0).or_insert(time);
            }
            moved.push((time, 2 * order, packet));
            continue;
        }
        let time = match packet.segment.timestamps {
            Some(both) => {
                let early = clock.at(unwrapped.next(both.value));
                let late = early + clock.tick();
                let prompted = had.get(&both.echo).copied().unwrap_or(early);
                let answer = answered.get(&packet.segment.acknowledgment.0).copied();
                prompted.max(answer.unwrap_or(early)).clamp(early, late)
            }
            None => packet.time,
        };
        for repair in lost.get(&place).into_iter().flatten() {
            if let Some(repair) = repairs.get(repair) {
                moved.push((time, 2 * order - 1, *repair));
            }
        }
        moved.push((time, 2 * order, packet));
        place += 1;
    }
    moved.sort_by_key(|(time, order, _)| (*time, *order));
    let numbered = (1..).zip(moved);
    let at_its_time = numbered.map(|(number, (time, _, packet))| Packet {
        time,
        number,
        ..packet
    });
    Some(at_its_time.collect())
}

/// The times from an answer to the data that it prompts.
fn prompted(packets: impl Iterator<Item = Packet>, way: Way, clock: &Clock) -> Vec<Prompted> {
    let mut answers = Answers::default();
    let mut unwrapped = Unwrapped::default();
    let mut found: Vec<Prompted> = packets
        .filter_map(|packet| {
            let both = packet.segment.timestamps?;
            if packet.way == way {
                answers.prompt(both.echo, clock.at(unwrapped.next(both.value)))
            } else {
                answers.leaves(both.value, packet.time);
                None
            }
        })
        .collect();
    found.sort_by_key(|one| one.answered);
    found
}

/// Timestamps unwrapped beyond 2³², from the first one seen.
#[derive(Debug, Default)]
struct Unwrapped {
    last: Option<(u32, i64)>,
}

impl Unwrapped {
    fn next(&mut self, value: u32) -> i64 {
        let (before, count) = self.last.unwrap_or((value, 0));
        let count = count + i64::from(value.wrapping_sub(before).cast_signed());
        self.last = Some((value, count));
        count
    }
}

/// The sender's clock: the arrival time of a packet without queueing, by its timestamp.
#[derive(Clone, Copy, Debug)]
struct Clock {
    /// Nanoseconds of a tick, by the local clock.
    slope: f64,
    /// The time of timestamp 0, in nanoseconds.
    origin: f64,
}

impl Clock {
    fn of(data: impl Iterator<Item = Packet>) -> Option<Self> {
        let mut unwrapped = Unwrapped::default();
        let mut points: Vec<(i64, u64)> = data
            .filter_map(|packet| {
                let value = packet.segment.timestamps?.value;
                Some((unwrapped.next(value), packet.time.as_nanos()))
            })
            .collect();
        if points.len() < MIN_PACKETS {
            return None;
        }
        points.sort_unstable();
        let (first, last) = (points.first()?, points.last()?);
        let ticks = (last.0 - first.0) as f64;
        let rough = (last.1 as f64 - first.1 as f64) / ticks.max(1.0);
        let near = |tick: &&f64| (rough / **tick - 1.0).abs() <= NEAR_TICK;
        let tick = *TICKS.iter().find(near)?;
        let mean = points.iter().map(|point| point.0 as f64).sum::<f64>() / points.len() as f64;
        let hull = hull_slope(&points, mean);
        // A path that becomes longer or shorter is no drift.
        let slope = if (hull / tick - 1.0).abs() <= DRIFT {
            hull
        } else {
            median_slope(&points, tick)
        };
        let slope = slope.clamp(tick * (1.0 - DRIFT), tick * (1.0 + DRIFT));
        let origin = points
            .iter()
            .map(|(value, nanos)| *nanos as f64 - slope * *value as f64)
            .fold(f64::INFINITY, f64::min);
        Some(Self { slope, origin })
    }

    /// The time of a timestamp, rounded down to nanoseconds.
    fn at(&self, value: i64) -> Instant {
        Instant::from_nanos((self.origin + self.slope * value as f64).max(0.0) as u64)
    }

    fn tick(&self) -> Duration {
        Duration::from_nanos(self.slope as u64)
    }
}

/// The slope of the edge of the lower hull of ordered `points` at `mean`: that of the line below
/// all points with the smallest total distance.
fn hull_slope(points: &[(i64, u64)], mean: f64) -> f64 {
    let mut hull: Vec<(f64, f64)> = Vec::new();
    for (value, nanos) in points {
        let point = (*value as f64, *nanos as f64);
        if hull.last().is_some_and(|last| last.0 == point.0) {
            // The earliest of equal timestamps comes first.
            continue;
        }
        while let [.., one, other] = hull.as_slice()
            && (other.0 - one.0) * (point.1 - one.1) <= (other.1 - one.1) * (point.0 - one.0)
        {
            hull.pop();
        }
        hull.push(point);
    }
    let edge = hull
        .windows(2)
        .find(|edge| edge[1].0 >= mean)
        .or_else(|| hull.windows(2).next_back());
    edge.map_or(0.0, |edge| {
        (edge[1].1 - edge[0].1) / (edge[1].0 - edge[0].0)
    })
}

/// The median slope between the earliest arrivals of subsequent windows of ordered `points`.
fn median_slope(points: &[(i64, u64)], tick: f64) -> f64 {
    let late = |point: &(i64, u64)| point.1 as f64 - tick * point.0 as f64;
    let mut earliest: Vec<(i64, u64)> = Vec::new();
    let mut end = f64::NEG_INFINITY;
    for point in points {
        let since_first = tick * point.0 as f64;
        match earliest.last_mut() {
            Some(last) if since_first < end => {
                if late(point) < late(last) {
                    *last = *point;
                }
            }
            _ => {
                earliest.push(*point);
                end = since_first + WINDOW.as_nanos() as f64;
            }
        }
    }
    let mut slopes: Vec<f64> = earliest
        .windows(2)
        .filter(|pair| pair[1].0 > pair[0].0)
        .map(|pair| (pair[1].1 as f64 - pair[0].1 as f64) / (pair[1].0 - pair[0].0) as f64)
        .collect();
    if slopes.is_empty() {
        return tick;
    }
    let half = slopes.len() / 2;
    *slopes.select_nth_unstable_by(half, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use airtcp_packet::{Flags, Segment, SequenceNumber, Timestamps};

    use super::*;

    const BASE: Duration = Duration::from_millis(40);

    /// Packet `number` of the data: sent in millisecond `sent_ms` of a clock that runs 50 ppm fast,
    /// and arriving `late_us` later than the path's delay.
    fn data(number: u64, sent_ms: u64, late_us: u64) -> Packet {
        Packet {
            time: Instant::from_nanos(sent_ms * 1_000_050 + 20_000_000 + late_us * 1000),
            number,
            way: Way::FromClient,
            segment: Segment {
                sequence: SequenceNumber(number as u32 * 1000),
                payload_bytes: 1000,
                flags: Flags::ACK,
                timestamps: Some(Timestamps {
                    value: (u32::MAX - 300).wrapping_add(sent_ms as u32),
                    echo: 7,
                }),
                ..Segment::default()
            },
            ..Packet::default()
        }
    }

    /// A queue that grows and drains, over a clock that wraps and drifts.
    #[test]
    fn departures_are_told_from_timestamps() {
        let queue = |number: u64| (number % 100) * 900;
        let seen: Vec<Packet> = (1..1000)
            .map(|number| data(number, number * 10, queue(number)))
            .collect();
        let moved = packets(seen.iter().copied(), Way::FromClient, BASE, &[], &[]).unwrap();
        for (number, packet) in (1..).zip(&moved) {
            let sent = Instant::from_nanos(number * 10 * 1_000_050 + 20_000_000);
            let off = packet.time.as_nanos().abs_diff(sent.as_nanos());
            assert!(off < 20_000, "packet {number} is off by {off} ns");
            assert_eq!(packet.number, number);
        }
    }

    #[test]
    fn what_was_lost_stands_before_what_revealed_it() {
        let mut seen: Vec<Packet> = (1..200).map(|number| data(number, number * 2, 0)).collect();
        // Segment 50 is lost; its repair arrives in place of packet 80.
        let lost = seen[49].segment.sequence;
        seen[79].segment.sequence = lost;
        seen.remove(49);
        let missing = [UpstreamLoss {
            repair: 78,
            before: 49,
        }];
        let moved = packets(seen.into_iter(), Way::FromClient, BASE, &[], &missing).unwrap();
        assert_eq!(moved.len(), 199);
        let places: Vec<usize> = (0..moved.len())
            .filter(|at| moved[*at].segment.sequence == lost)
            .collect();
        assert_eq!(places, [49, 79]);
        assert_eq!(moved[49].time, moved[50].time);
    }

    /// A path that becomes 30 ms longer both ways after half of the time: no drift of the clock,
    /// and answers come later, too.
    #[test]
    fn a_longer_way_back_is_seen_in_each_phase() {
        let change = Instant::from_nanos(10_000_000_000);
        let mut seen = Vec::new();
        for number in 1..2000 {
            let is_longer = number >= 1000;
            let mut one = data(number, number * 10, if is_longer { 30_000 } else { 0 });
            // An answer that left the time of a way back before, which this data echoes.
            let back = if is_longer { 70 } else { 40 };
            let left = Instant::from_nanos(number * 10_000_500 + 20_000_000)
                .as_nanos()
                .saturating_sub(back * 1_000_000);
            if let Some(both) = one.segment.timestamps.as_mut() {
                both.echo = number as u32;
            }
            let answer = Segment {
                flags: Flags::ACK,
                timestamps: Some(Timestamps {
                    value: number as u32,
                    echo: 0,
                }),
                ..Segment::default()
            };
            seen.push(Packet {
                time: Instant::from_nanos(left),
                number,
                way: Way::FromServer,
                segment: answer,
                ..Packet::default()
            });
            seen.push(one);
        }
        seen.sort_by_key(|packet| packet.time);
        let phase = |from, base| Phase {
            from,
            base: Duration::from_millis(base),
        };
        let phases = [phase(Instant::ZERO, 40), phase(change, 70)];
        let moved = packets(seen.into_iter(), Way::FromClient, BASE, &phases, &[]).unwrap();
        // Each answer comes when the data leaves that it prompts.
        let answers = moved
            .iter()
            .filter(|packet| packet.way == Way::FromServer)
            .filter_map(|packet| Some((packet.segment.timestamps?.value, packet.time)));
        let came: HashMap<u32, Instant> = answers.collect();
        let sent = moved
            .iter()
            .filter(|packet| packet.way == Way::FromClient)
            .filter_map(|packet| Some((packet.segment.timestamps?.echo, packet.time)));
        let is_near = |number: u32| !(990..1010).contains(&number) && number > 10;
        for (number, time) in sent.filter(|(number, _)| is_near(*number)) {
            let off = time.as_nanos().abs_diff(came[&number].as_nanos());
            assert!(off < 3_000_000, "data {number} leaves {off} ns off");
        }
    }

    /// The receiver acknowledges a request, and answers it 300 µs later with the same timestamp:
    /// the next request, which acknowledges the answer, leaves after it.
    #[test]
    fn a_request_leaves_after_the_answer_that_it_acknowledges() {
        let answer_at = |number: u64| SequenceNumber(number as u32 * 100);
        let mut seen = Vec::new();
        for number in 1..100 {
            // A round trip of 40 ms, most of it towards the sender.
            let mut request = data(number, number * 40, 0);
            let own = 5000 + number as u32;
            if let Some(both) = request.segment.timestamps.as_mut() {
                both.echo = own - 1;
            }
            request.segment.acknowledgment = answer_at(number);
            let back = |after_us: u64, payload_bytes: u32| Packet {
                time: request.time + Duration::from_micros(after_us),
                way: Way::FromServer,
                segment: Segment {
                    sequence: answer_at(number),
                    payload_bytes,
                    flags: Flags::ACK,
                    timestamps: Some(Timestamps {
                        value: own,
                        echo: 0,
                    }),
                    ..Segment::default()
                },
                ..Packet::default()
            };
            seen.extend([request, back(10, 0), back(310, 100)]);
        }
        let base = Duration::from_micros(39_900);
        let moved = packets(seen.into_iter(), Way::FromClient, base, &[], &[]).unwrap();
        let mut before: Option<&Packet> = None;
        for packet in &moved {
            if packet.way == Way::FromClient
                && let Some(before) = before
            {
                let is_answer = before.way == Way::FromServer && before.segment.payload_bytes > 0;
                assert!(is_answer, "a request at {:?} follows an ACK", packet.time);
            }
            before = Some(packet);
        }
        assert_eq!(moved.len(), 3 * 99);
    }

    #[test]
    fn without_a_clock_nothing_is_dated() {
        let few = (1..20).map(|number| data(number, number, 0));
        assert_eq!(packets(few, Way::FromClient, BASE, &[], &[]), None);
        // A counter that is not a clock.
        let strange = (1..200).map(|number| data(number, number * number, 0));
        let strange = strange.map(|packet| Packet {
            time: Instant::from_nanos(packet.number * 3_333_333),
            ..packet
        });
        assert_eq!(packets(strange, Way::FromClient, BASE, &[], &[]), None);
    }
}
