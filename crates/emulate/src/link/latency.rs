//! Latency of the data carried by a link, measured at the sender independently of the kernel's TCP
//! estimates. The terms are as in `airtcp run`:
//!
//! - A *delay* is a data packet's time from leaving the sender's device until the receiver's takes
//!   it.
//! - A *round trip* lasts until the acknowledgment triggered by its arrival is back.
//!
//! An acknowledgment answers, among the packets that arrived since the previous one, the packet
//! with the end that it reports: by its number, or by its first SACK block, which holds the most
//! recent arrival (RFC 2018 §4). If no packet has that end, as with duplicates, it answers the last
//! arrival.

use std::collections::VecDeque;

use airtcp_packet::{Segment, SequenceNumber};
use airtcp_units::{Duration, Instant};
use serde::Serialize;

/// Latencies of a link's data packets.
#[derive(Debug)]
pub struct Latency {
    /// State of packets in flight, by packet number modulo the length.
    waiting: Vec<InFlight>,
    /// Unanswered arrivals at the receiver of each flow, oldest first.
    arrived: Vec<VecDeque<Arrival>>,
    round_trips: Vec<Duration>,
    delays: Vec<Duration>,
}

/// Departure time of a data packet in flight, or of the data packet that it answers.
#[derive(Clone, Copy, Debug, Default)]
struct InFlight {
    number: u64,
    sent: Option<Instant>,
}

/// A data packet at the receiver.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    /// One past the end of its data.
    end: SequenceNumber,
    sent: Instant,
}

impl Latency {
    /// Creates a measurement of a link on which at most `places` packets are in flight.
    pub fn new(places: usize) -> Self {
        Self {
            waiting: vec![InFlight::default(); places.max(1)],
            arrived: Vec::new(),
            round_trips: Vec::new(),
            delays: Vec::new(),
        }
    }

    /// Records that the packet with this number and this content leaves one end at `now`; `is_data`
    /// if it is the sender's.
    pub fn on_sent(
        &mut self,
        now: Instant,
        number: u64,
        flow: u32,
        is_data: bool,
        segment: &Segment,
    ) {
        let sent = if is_data {
            (segment.payload_bytes > 0).then_some(now)
        } else {
            self.answered(flow, segment)
        };
        *self.place(number) = InFlight { number, sent };
    }

    /// Records that the packet reaches the other end at `now`. Returns whether it is a timed
    /// packet, for the first time.
    pub fn on_delivered(
        &mut self,
        now: Instant,
        number: u64,
        flow: u32,
        is_data: bool,
        segment: &Segment,
    ) -> bool {
        let place = self.place(number);
        // A packet repeated by an agent arrives twice: the first copy is the timed one.
        let Some(sent) = place.sent.take_if(|_| place.number == number) else {
            return false;
        };
        if is_data {
            self.delays.push(now - sent);
            let end = segment.sequence + segment.payload_bytes;
            self.flow(flow).push_back(Arrival { end, sent });
        } else {
            self.round_trips.push(now - sent);
        }
        true
    }

    /// The mean of the shortest 95 % of the round trips in milliseconds, by nearest rank: the
    /// aggregate of draft-ietf-ippm-responsiveness. `None` without any.
    pub fn trimmed_mean_ms(&self) -> Option<f64> {
        let mut sorted = self.round_trips.clone();
        sorted.sort_unstable();
        sorted.truncate((sorted.len() * 95).div_ceil(100));
        let sum: f64 = sorted.iter().map(|one| one.as_millis_f64()).sum();
        (!sorted.is_empty()).then(|| sum / sorted.len() as f64)
    }

    /// The measured latencies.
    pub fn quantiles(&self) -> Quantiles {
        let [min_rtt_ms, rtt_p50_ms, rtt_p95_ms, rtt_p99_ms] = quantiles(&self.round_trips);
        let [_, delay_p50_ms, delay_p95_ms, delay_p99_ms] = quantiles(&self.delays);
        Quantiles {
            min_rtt_ms,
            rtt_p50_ms,
            rtt_p95_ms,
            rtt_p99_ms,
            delay_p50_ms,
            delay_p95_ms,
            delay_p99_ms,
        }
    }

    /// Departure time of the data packet answered by this segment of the receiver, if any has
    /// arrived.
    fn answered(&mut self, flow: u32, segment: &Segment) -> Option<Instant> {
        let arrived = self.flow(flow);
        let latest_block = segment.tail.blocks().first().map(|block| block.end);
        let is_reported = |one: &Arrival| {
            one.end == segment.acknowledgment || latest_block.is_some_and(|end| one.end == end)
        };
        let place = arrived.iter().rposition(is_reported);
        let last = place.or_else(|| arrived.len().checked_sub(1))?;
        arrived.drain(..=last).next_back().map(|one| one.sent)
    }

    fn place(&mut self, number: u64) -> &mut InFlight {
        let places = self.waiting.len() as u64;
        &mut self.waiting[(number % places) as usize]
    }

    fn flow(&mut self, flow: u32) -> &mut VecDeque<Arrival> {
        let flow = flow as usize;
        if self.arrived.len() <= flow {
            self.arrived.resize_with(flow + 1, VecDeque::new);
        }
        &mut self.arrived[flow]
    }
}

/// Latencies over all flows in milliseconds, in the names of `airtcp run`; null if no packet was
/// timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Quantiles {
    /// The shortest round trip of a data packet.
    pub min_rtt_ms: Option<f64>,
    /// Median of the round trips.
    pub rtt_p50_ms: Option<f64>,
    /// Their 95th percentile.
    pub rtt_p95_ms: Option<f64>,
    /// Their 99th percentile.
    pub rtt_p99_ms: Option<f64>,
    /// Median of the delays from sender to receiver.
    pub delay_p50_ms: Option<f64>,
    /// Their 95th percentile.
    pub delay_p95_ms: Option<f64>,
    /// Their 99th percentile.
    pub delay_p99_ms: Option<f64>,
}

/// Minimum, median, 95th and 99th percentile, by nearest rank.
fn quantiles(durations: &[Duration]) -> [Option<f64>; 4] {
    let mut sorted = durations.to_vec();
    sorted.sort_unstable();
    [0, 50, 95, 99].map(|percent: usize| {
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).map(|one| one.as_millis_f64())
    })
}

#[cfg(test)]
mod tests {
    use airtcp_packet::{Flags, SackBlock};

    use super::*;

    const SEGMENT: u32 = 1000;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn data(index: u32) -> Segment {
        Segment {
            sequence: SequenceNumber(7) + index * SEGMENT,
            payload_bytes: SEGMENT,
            flags: Flags::ACK,
            ..Segment::default()
        }
    }

    /// Acknowledges everything below the data packet `index`.
    fn acknowledgment(index: u32) -> Segment {
        Segment {
            acknowledgment: data(index).sequence,
            flags: Flags::ACK,
            ..Segment::default()
        }
    }

    fn millis(durations: &[Duration]) -> Vec<f64> {
        durations.iter().map(|one| one.as_millis_f64()).collect()
    }

    /// Two packets arrive, and one acknowledgment answers the second (RFC 9293 §3.8.6.3).
    #[test]
    fn a_delayed_acknowledgment_answers_the_packet_that_triggered_it() {
        let mut latency = Latency::new(8);
        latency.on_sent(at(0), 1, 0, true, &data(0));
        latency.on_sent(at(2), 2, 0, true, &data(1));
        latency.on_delivered(at(10), 1, 0, true, &data(0));
        latency.on_delivered(at(12), 2, 0, true, &data(1));
        latency.on_sent(at(12), 3, 0, false, &acknowledgment(2));
        latency.on_delivered(at(22), 3, 0, false, &acknowledgment(2));
        assert_eq!(millis(&latency.delays), [10.0, 10.0]);
        assert_eq!(millis(&latency.round_trips), [20.0]);
    }

    /// The emulator hands over four packets at once and reads both acknowledgments afterwards.
    #[test]
    fn acknowledgments_that_are_read_late_answer_their_own_packets() {
        let mut latency = Latency::new(8);
        for index in 0..4 {
            let number = u64::from(index) + 1;
            latency.on_sent(at(number), number, 0, true, &data(index));
        }
        for index in 0..4 {
            latency.on_delivered(at(20), u64::from(index) + 1, 0, true, &data(index));
        }
        for (number, acknowledged) in [(5, 2), (6, 4)] {
            latency.on_sent(at(20), number, 0, false, &acknowledgment(acknowledged));
            latency.on_delivered(at(30), number, 0, false, &acknowledgment(acknowledged));
        }
        assert_eq!(millis(&latency.round_trips), [28.0, 26.0]);
    }

    /// The first packet is lost; its retransmission has a separate round trip.
    #[test]
    fn a_duplicate_answers_what_its_first_block_holds() {
        let mut latency = Latency::new(8);
        for index in 0..3 {
            let number = u64::from(index) + 1;
            latency.on_sent(at(number), number, 0, true, &data(index));
        }
        let mut duplicates = Vec::new();
        for index in 1..3 {
            latency.on_delivered(at(20), u64::from(index) + 1, 0, true, &data(index));
            let mut duplicate = acknowledgment(0);
            let _ = duplicate.tail.push(SackBlock {
                start: data(1).sequence,
                end: data(index + 1).sequence,
            });
            duplicates.push(duplicate);
        }
        for (number, duplicate) in (4..).zip(&duplicates) {
            latency.on_sent(at(20), number, 0, false, duplicate);
            latency.on_delivered(at(30), number, 0, false, duplicate);
        }
        latency.on_sent(at(31), 6, 0, true, &data(0));
        latency.on_delivered(at(40), 6, 0, true, &data(0));
        latency.on_sent(at(40), 7, 0, false, &acknowledgment(3));
        latency.on_delivered(at(50), 7, 0, false, &acknowledgment(3));
        assert_eq!(millis(&latency.round_trips), [28.0, 27.0, 19.0]);
    }

    /// Flows share only the numbers of packets.
    #[test]
    fn flows_are_told_apart() {
        let mut latency = Latency::new(8);
        latency.on_sent(at(0), 1, 0, true, &data(0));
        latency.on_sent(at(5), 2, 1, true, &data(0));
        latency.on_delivered(at(10), 1, 0, true, &data(0));
        latency.on_delivered(at(11), 2, 1, true, &data(0));
        latency.on_sent(at(11), 3, 0, false, &acknowledgment(1));
        latency.on_delivered(at(20), 3, 0, false, &acknowledgment(1));
        assert_eq!(millis(&latency.round_trips), [20.0]);
    }

    #[test]
    fn what_carries_no_data_or_answers_none_is_not_timed() {
        let mut latency = Latency::new(8);
        let handshake = Segment {
            payload_bytes: 0,
            ..data(0)
        };
        latency.on_sent(at(0), 1, 0, true, &handshake);
        latency.on_delivered(at(10), 1, 0, true, &handshake);
        latency.on_sent(at(10), 2, 0, false, &acknowledgment(0));
        latency.on_delivered(at(20), 2, 0, false, &acknowledgment(0));
        assert_eq!(latency.quantiles(), Quantiles::default());
    }

    /// A packet with a reused slot is not timed by the later packet's start.
    #[test]
    fn a_slot_that_was_taken_again_times_the_later_packet() {
        let mut latency = Latency::new(2);
        latency.on_sent(at(0), 1, 0, true, &data(0));
        latency.on_sent(at(5), 3, 0, true, &data(1));
        latency.on_delivered(at(10), 1, 0, true, &data(0));
        latency.on_delivered(at(11), 3, 0, true, &data(1));
        assert_eq!(millis(&latency.delays), [6.0]);
    }

    #[test]
    fn quantiles_are_nearest_ranks() {
        let hundred: Vec<_> = (1..=100).rev().map(Duration::from_millis).collect();
        assert_eq!(quantiles(&hundred), [1.0, 50.0, 95.0, 99.0].map(Some));
        assert_eq!(quantiles(&hundred[99..]), [Some(1.0); 4]);
        assert_eq!(quantiles(&[]), [None; 4]);
    }
}
