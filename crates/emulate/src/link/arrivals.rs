//! The data that reaches each station's receiver, every byte counted once: the same definition as
//! `goodput_bps` of `airtcp run`, which no kernel counts. Bytes above a gap count as well.

use airtcp_packet::{Flags, Segment, SequenceNumber};
use airtcp_tcp::{Config, Receiver};
use airtcp_units::Instant;

/// The maximum window (RFC 7323 §2.3): no segment accepted by a receiver is left out.
const LARGEST_BUFFER: u64 = 1 << 30;

/// The streams of a link's stations: the last measured connection of each.
#[derive(Debug)]
pub struct Arrivals {
    streams: Vec<Option<Stream>>,
    /// End of the count.
    until: Instant,
}

#[derive(Debug)]
struct Stream {
    /// Sequence number of the first byte.
    first: SequenceNumber,
    receiver: Receiver,
}

impl Arrivals {
    /// Creates a count of the arrivals before `until`.
    pub const fn new(until: Instant) -> Self {
        Self {
            streams: Vec::new(),
            until,
        }
    }

    /// Records that the sender of `station` sends this segment: its SYN gives the start of the
    /// stream.
    pub fn on_sent(&mut self, station: usize, segment: &Segment) {
        if !segment.flags.contains(Flags::SYN) {
            return;
        }
        if self.streams.len() <= station {
            self.streams.resize_with(station + 1, || None);
        }
        let first = segment.sequence + 1;
        if self.streams[station]
            .as_ref()
            .is_none_or(|one| one.first != first)
        {
            let config = Config {
                receive_buffer: LARGEST_BUFFER,
                ..Config::default()
            };
            let receiver = Receiver::new(&config, config.mss);
            self.streams[station] = Some(Stream { first, receiver });
        }
    }

    /// Records that the receiver of `station` gets this data segment at `now`.
    pub fn on_delivered(&mut self, now: Instant, station: usize, segment: &Segment) {
        let stream = self.streams.get_mut(station).and_then(Option::as_mut);
        let (Some(stream), true) = (stream, now < self.until) else {
            return;
        };
        let receiver = &mut stream.receiver;
        let relative = SequenceNumber(segment.sequence.0.wrapping_sub(stream.first.0));
        let start = relative.expand(receiver.next_expected());
        let end = start + u64::from(segment.payload_bytes);
        receiver.on_data(now, start..end, false);
        receiver.read(u64::MAX);
    }

    /// Bytes of `station` that have arrived.
    pub fn bytes(&self, station: usize) -> u64 {
        let stream = self.streams.get(station).and_then(Option::as_ref);
        stream.map_or(0, |stream| {
            stream.receiver.received() + stream.receiver.received_behind_gaps()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: u32 = 1000;
    const BEFORE: Instant = Instant::ZERO;
    const END: Instant = Instant::from_nanos(1);

    /// A stream with numbers that wrap after its fourth segment.
    fn syn() -> Segment {
        Segment {
            sequence: SequenceNumber(0_u32.wrapping_sub(4 * SEGMENT + 1)),
            flags: Flags::SYN,
            ..Segment::default()
        }
    }

    fn data(index: u32) -> Segment {
        Segment {
            sequence: syn().sequence + 1 + index * SEGMENT,
            payload_bytes: SEGMENT,
            flags: Flags::ACK,
            ..Segment::default()
        }
    }

    #[test]
    fn every_byte_counts_once_also_behind_a_gap() {
        let mut arrivals = Arrivals::new(END);
        arrivals.on_sent(1, &syn());
        // A retransmitted SYN starts no other stream.
        let order = [
            (0, 1000),
            (2, 2000),
            (2, 2000),
            (6, 3000),
            (1, 4000),
            (0, 4000),
        ];
        for (index, bytes) in order {
            arrivals.on_delivered(BEFORE, 1, &data(index));
            arrivals.on_sent(1, &syn());
            assert_eq!(arrivals.bytes(1), bytes, "segment {index}");
        }
        assert_eq!(arrivals.bytes(0), 0);
    }

    #[test]
    fn arrivals_after_the_end_do_not_count() {
        let mut arrivals = Arrivals::new(END);
        arrivals.on_sent(0, &syn());
        arrivals.on_delivered(END, 0, &data(0));
        assert_eq!(arrivals.bytes(0), 0);
    }

    #[test]
    fn another_connection_begins_anew() {
        let mut arrivals = Arrivals::new(END);
        arrivals.on_sent(0, &syn());
        arrivals.on_delivered(BEFORE, 0, &data(0));
        let sequence = syn().sequence + 77;
        arrivals.on_sent(0, &Segment { sequence, ..syn() });
        assert_eq!(arrivals.bytes(0), 0);
    }
}
