//! One connection, observed through its headers.

use std::net::IpAddr;

use airtcp_link::agent::Toward;
use airtcp_packet::{Flags, Segment, SequenceNumber};
use airtcp_units::{Duration, Instant};

use super::difference::Sample;
use crate::agents::hold_limit::RoundTrip;
use crate::packets::packet_view::{Assignment, PacketView};

/// Maximum gap between two acknowledgments of new data in which the sender is assumed to have had
/// data to send.
const REST: Duration = Duration::from_secs(2);
/// Minimum age for a connection's goodput to be used in the test.
const RIPE: Duration = Duration::from_secs(60);

/// Whether a connection begins with this segment.
pub(super) fn begins(segment: &Segment) -> bool {
    segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::ACK)
}

/// The data of one direction, and its acknowledgments.
#[derive(Clone, Copy, Debug, Default)]
struct Data {
    /// The lowest byte seen.
    first: Option<SequenceNumber>,
    /// One past the highest byte seen.
    edge: Option<SequenceNumber>,
    segments: u64,
    again: u64,
    acknowledged: Option<SequenceNumber>,
    acknowledged_bytes: u64,
    /// Time of the last acknowledgment of data, and the total time with data in flight.
    progressed: Option<Instant>,
    busy: Duration,
    /// Duplicates reported by its receiver (RFC 2883).
    duplicates: u64,
}

/// A host's timestamp, and the time at which it passed: its echo gives the round trip on that side.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    waits: Option<(u32, Instant)>,
    newest: Option<u32>,
    /// The latest round trip on that side.
    latest: Option<Duration>,
}

/// A connection.
#[derive(Clone, Debug)]
pub struct Connection {
    pub(super) assignment: Assignment,
    /// The mobile's address.
    pub(super) station: IpAddr,
    begun: Instant,
    last: Instant,
    /// Whether data of one side was acknowledged by the other.
    is_confirmed: bool,
    /// Whether its goodput has been used in the test.
    is_judged: bool,
    /// Data towards the mobile, and from it.
    data: [Data; 2],
    /// The mobile's side: from a packet towards it to its echo; and the wired side.
    sides: [Side; 2],
    /// Mean and mean deviation (RFC 6298 §2), in nanoseconds.
    smoothed: Option<(f64, f64)>,
    ends: u8,
    is_reset: bool,
}

/// A connection's measurements, for its group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Bits per second while it had data in flight, in the direction with more data.
    pub goodput_bps: Option<f64>,
    /// The smoothed round trip, in milliseconds.
    pub round_trip_ms: Option<f64>,
    /// Acknowledged bytes, in the direction with more data.
    pub bytes: u64,
    /// Segments with data.
    pub segments: u64,
    /// Retransmitted segments.
    pub again: u64,
    /// Duplicates reported by receivers.
    pub duplicates: u64,
}

const fn index(toward: Toward) -> usize {
    match toward {
        Toward::Mobile => 0,
        Toward::Wired => 1,
    }
}

impl Connection {
    pub(super) const fn new(now: Instant, station: IpAddr, assignment: Assignment) -> Self {
        const DATA: Data = Data {
            first: None,
            edge: None,
            segments: 0,
            again: 0,
            acknowledged: None,
            acknowledged_bytes: 0,
            progressed: None,
            busy: Duration::ZERO,
            duplicates: 0,
        };
        const SIDE: Side = Side {
            waits: None,
            newest: None,
            latest: None,
        };
        Self {
            assignment,
            station,
            begun: now,
            last: now,
            is_confirmed: false,
            is_judged: false,
            data: [DATA; 2],
            sides: [SIDE; 2],
            smoothed: None,
            ends: 0,
            is_reset: false,
        }
    }

    pub(super) const fn last(&self) -> Instant {
        self.last
    }

    /// Whether it is established: data from one side was acknowledged by the other. Forged packets
    /// get at most a reset in response.
    pub(super) const fn is_confirmed(&self) -> bool {
        self.is_confirmed
    }

    /// The logarithm of its goodput, once: at the minimum age or at its end, whichever comes first.
    /// That reveals its group, so no later goodput may be used.
    pub(super) fn judge(&mut self, is_at_end: bool) -> Option<f64> {
        if self.is_judged || !(is_at_end || self.last - self.begun >= RIPE) {
            return None;
        }
        self.is_judged = true;
        self.summary().sample().log_goodput
    }

    /// Whether both sides have closed it, or one has reset it.
    pub(super) const fn is_over(&self) -> bool {
        self.ends == 3 || self.is_reset
    }

    /// The round trip and Linux's timer, which adds the larger of the deviation and its floor
    /// (tcp_rtt_estimator).
    pub(super) fn round_trip(&self, floor: Duration) -> Option<RoundTrip> {
        let (mean, deviation) = self.smoothed?;
        let floored = (4.0 * deviation).max(floor.as_nanos() as f64);
        Some(RoundTrip {
            smoothed: Duration::from_nanos(mean as u64),
            timeout: Duration::from_nanos((mean + floored) as u64),
        })
    }

    pub(super) fn see(&mut self, now: Instant, packet: &PacketView, stands_for: u32) {
        self.last = now;
        let (segment, way) = (&packet.segment, index(packet.toward));
        self.is_reset |= segment.flags.contains(Flags::RST);
        if segment.flags.contains(Flags::FIN) {
            self.ends |= 1 << way;
        }
        self.data[way].see(segment, stands_for);
        self.is_confirmed |= self.data[1 - way].is_acknowledged_by(segment);
        self.data[1 - way].see_acknowledgment(now, segment);
        self.time(now, segment, way);
    }

    /// A packet completes a round trip on the side that it comes from, and starts one on the side
    /// to which it goes.
    fn time(&mut self, now: Instant, segment: &Segment, way: usize) {
        let Some(stamps) = segment.timestamps else {
            return;
        };
        if self.sides[1 - way].close(now, stamps.echo) {
            let halves = [self.sides[0].latest, self.sides[1].latest];
            if let [Some(mobile), Some(wired)] = halves {
                self.sample((mobile + wired).as_nanos() as f64);
            }
        }
        // An empty segment is not answered, but an acknowledgment lets its receiver send: both
        // carry a new timestamp, which is echoed.
        self.sides[way].open(now, stamps.value);
    }

    /// RFC 6298 §2.2 and §2.3.
    fn sample(&mut self, nanos: f64) {
        self.smoothed = Some(match self.smoothed {
            None => (nanos, nanos / 2.0),
            Some((mean, deviation)) => (
                mean + (nanos - mean) / 8.0,
                deviation + ((nanos - mean).abs() - deviation) / 4.0,
            ),
        });
    }

    pub(super) fn summary(&self) -> Summary {
        let more = self
            .data
            .iter()
            .max_by_key(|data| data.acknowledged_bytes)
            .filter(|data| data.busy > Duration::ZERO);
        Summary {
            goodput_bps: more
                .map(|data| data.acknowledged_bytes as f64 * 8.0 / data.busy.as_secs_f64()),
            round_trip_ms: self.smoothed.map(|(mean, _)| mean / 1e6),
            bytes: more.map_or(0, |data| data.acknowledged_bytes),
            segments: self.data.iter().map(|data| data.segments).sum(),
            again: self.data.iter().map(|data| data.again).sum(),
            duplicates: self.data.iter().map(|data| data.duplicates).sum(),
        }
    }
}

impl Summary {
    /// Its measurements, as a sample among others.
    pub(super) fn sample(&self) -> Sample {
        let thousands = self.segments as f64 / 1e3;
        Sample {
            log_goodput: self.goodput_bps.filter(|rate| *rate > 0.0).map(f64::ln),
            round_trip_ms: self.round_trip_ms,
            again_per_1000: Some(self.again as f64 / thousands),
            duplicates_per_1000: Some(self.duplicates as f64 / thousands),
        }
    }
}

impl Data {
    /// Whether a segment of the other side acknowledges some of this data. A reset does not: a host
    /// without such a connection answers its data with one (RFC 9293 §3.10.7.1).
    fn is_acknowledged_by(&self, segment: &Segment) -> bool {
        let (Some(first), Some(edge)) = (self.first, self.edge) else {
            return false;
        };
        let acknowledgment = segment.acknowledgment;
        segment.flags.contains(Flags::ACK)
            && !segment.flags.contains(Flags::RST)
            && acknowledgment.after(first)
            && !acknowledgment.after(edge)
    }

    /// A retransmission that represents segments not examined counts as that many: the edge then
    /// lags by a few segments, a retransmission by a window.
    fn see(&mut self, segment: &Segment, stands_for: u32) {
        if segment.payload_bytes == 0 {
            return;
        }
        self.segments += u64::from(stands_for);
        let end = segment.sequence + segment.payload_bytes;
        if self.first.is_none_or(|first| first.after(segment.sequence)) {
            self.first = Some(segment.sequence);
        }
        if self.edge.is_some_and(|edge| !end.after(edge)) {
            self.again += u64::from(stands_for);
        } else {
            self.edge = Some(end);
        }
    }

    fn see_acknowledgment(&mut self, now: Instant, segment: &Segment) {
        if !segment.flags.contains(Flags::ACK) {
            return;
        }
        let acknowledgment = segment.acknowledgment;
        self.duplicates += u64::from(reports_duplicate(segment));
        let Some(before) = self.acknowledged else {
            self.acknowledged = Some(acknowledgment);
            return;
        };
        if !acknowledgment.after(before) {
            return;
        }
        self.acknowledged = Some(acknowledgment);
        let bytes = acknowledgment.distance(before).unsigned_abs();
        if let Some(progressed) = self.progressed
            && now - progressed <= REST
        {
            self.acknowledged_bytes += u64::from(bytes);
            self.busy += now - progressed;
        }
        self.progressed = Some(now);
    }
}

/// Whether the first block of a SACK option reports a duplicate: it is below the acknowledgment, or
/// within the second block (RFC 2883 §4).
fn reports_duplicate(segment: &Segment) -> bool {
    let blocks = segment.tail.blocks();
    let Some(first) = blocks.first() else {
        return false;
    };
    let within = blocks
        .get(1)
        .is_some_and(|second| !second.start.after(first.start) && !first.end.after(second.end));
    within || !first.end.after(segment.acknowledgment)
}

impl Side {
    /// Only the first packet with each timestamp is timed, one at a time.
    fn open(&mut self, now: Instant, value: u32) {
        let is_new = self
            .newest
            .is_none_or(|newest| SequenceNumber(value).after(SequenceNumber(newest)));
        if is_new {
            self.newest = Some(value);
            if self.waits.is_none() {
                self.waits = Some((value, now));
            }
        }
    }

    /// Whether `echo` completes a round trip. The echo of a later timestamp means that this one was
    /// lost.
    fn close(&mut self, now: Instant, echo: u32) -> bool {
        let Some((value, then)) = self.waits else {
            return false;
        };
        if SequenceNumber(value).after(SequenceNumber(echo)) {
            return false;
        }
        self.waits = None;
        if value == echo {
            self.latest = Some(now - then);
        }
        value == echo
    }
}

#[cfg(test)]
mod tests {
    use airtcp_packet::{SackBlock, Timestamps};

    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    struct Wire {
        connection: Connection,
        ends: crate::packets::packet_view::Ends,
    }

    impl Wire {
        fn new() -> Self {
            Self {
                connection: Connection::new(
                    ms(0),
                    [10, 0, 0, 1].into(),
                    Assignment {
                        is_treated: true,
                        chance: 0.5,
                        is_by_station: false,
                    },
                ),
                ends: crate::packets::packet_view::Ends {
                    mobile: "10.0.0.1:1000".parse().unwrap(),
                    wired: "10.0.0.2:80".parse().unwrap(),
                },
            }
        }

        fn see(&mut self, at: u64, toward: Toward, segment: Segment) {
            let packet = PacketView {
                ends: self.ends,
                toward,
                segment,
            };
            self.connection.see(ms(at), &packet, 1);
        }
    }

    fn data(sequence: u32, stamps: (u32, u32)) -> Segment {
        Segment {
            sequence: SequenceNumber(sequence),
            payload_bytes: 1000,
            flags: Flags::ACK,
            timestamps: Some(Timestamps {
                value: stamps.0,
                echo: stamps.1,
            }),
            ..Segment::default()
        }
    }

    fn ack(acknowledgment: u32, stamps: (u32, u32)) -> Segment {
        Segment {
            acknowledgment: SequenceNumber(acknowledgment),
            payload_bytes: 0,
            ..data(0, stamps)
        }
    }

    /// An upload: 30 ms on the wired side and 12 on the mobile's add up to a round trip of 42, with
    /// 1000 bytes in each of three of them.
    #[test]
    fn a_round_trip_is_the_sum_of_its_sides() {
        let mut wire = Wire::new();
        for round in 0..4_u32 {
            let at = u64::from(round) * 42;
            let stamp = 100 + round;
            wire.see(at, Toward::Wired, data(round * 1000, (stamp, 500 + round)));
            wire.see(
                at + 30,
                Toward::Mobile,
                ack(round * 1000 + 1000, (501 + round, stamp)),
            );
        }
        let trip = wire
            .connection
            .round_trip(Duration::from_millis(200))
            .unwrap();
        assert_eq!(trip.smoothed, Duration::from_millis(42));
        assert_eq!(trip.timeout, Duration::from_millis(242));
        let summary = wire.connection.summary();
        assert_eq!((summary.segments, summary.again), (4, 0));
        // The first acknowledgment starts the clock, the second the measurement.
        let goodput = summary.goodput_bps.unwrap();
        assert!((goodput - 2000.0 * 8.0 / 0.084).abs() < 1.0, "{goodput}");
    }

    #[test]
    fn data_sent_again_and_reported_duplicates_are_counted() {
        let mut wire = Wire::new();
        wire.see(0, Toward::Wired, data(0, (1, 1)));
        wire.see(1, Toward::Wired, data(1000, (1, 1)));
        wire.see(2, Toward::Wired, data(0, (2, 1)));
        let mut duplicate = ack(2000, (2, 1));
        duplicate.tail.push(SackBlock {
            start: SequenceNumber(0),
            end: SequenceNumber(1000),
        });
        wire.see(3, Toward::Mobile, duplicate);
        let mut hole = ack(2000, (3, 1));
        hole.tail.push(SackBlock {
            start: SequenceNumber(3000),
            end: SequenceNumber(4000),
        });
        wire.see(4, Toward::Mobile, hole);
        let summary = wire.connection.summary();
        assert_eq!(
            (summary.segments, summary.again, summary.duplicates),
            (3, 1, 1)
        );
    }

    /// An acknowledgment of sent data establishes a connection; a reset that acknowledges, and an
    /// acknowledgment of other bytes, do not.
    #[test]
    fn only_an_acknowledgment_of_its_data_confirms_it() {
        let mut wire = Wire::new();
        wire.see(0, Toward::Wired, data(5000, (1, 1)));
        for at in [5000, 6001, 4000] {
            wire.see(1, Toward::Mobile, ack(at, (1, 1)));
        }
        let reset = Segment {
            flags: Flags::RST | Flags::ACK,
            ..ack(6000, (1, 1))
        };
        wire.see(2, Toward::Mobile, reset);
        assert!(!wire.connection.is_confirmed());
        wire.see(3, Toward::Mobile, ack(5500, (1, 1)));
        assert!(wire.connection.is_confirmed());
    }

    #[test]
    fn two_ends_or_a_reset_end_it() {
        let fin = Segment {
            flags: Flags::FIN | Flags::ACK,
            ..Segment::default()
        };
        let mut wire = Wire::new();
        wire.see(0, Toward::Wired, fin);
        assert!(!wire.connection.is_over());
        wire.see(1, Toward::Mobile, fin);
        assert!(wire.connection.is_over());
    }
}
