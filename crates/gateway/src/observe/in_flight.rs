//! Data in flight to each station, for agents that need failed attempts: a driver reports the
//! station, but not the packet.

use std::num::NonZeroUsize;

use airtcp_link::agent::{FlowKey, Toward};
use airtcp_packet::Segment;
use lru::LruCache;

use crate::packets::packet_view::PacketView;
use crate::stations::Mac;

/// A mobile's connection.
#[derive(Clone, Copy, Debug, Default)]
struct Connection {
    /// The mobile's radio, once it has sent a packet.
    station: Option<Mac>,
    /// The last data sent to it, until acknowledged.
    data: Option<Segment>,
}

/// The data in flight.
#[derive(Debug)]
pub struct InFlight {
    connections: LruCache<FlowKey, Connection>,
}

impl InFlight {
    /// Creates an empty one, with room for `most` connections.
    pub fn new(most: NonZeroUsize) -> Self {
        Self {
            connections: LruCache::new(most),
        }
    }

    /// Processes a packet that has passed; `station` is the radio it came from.
    pub fn see(&mut self, flow: FlowKey, packet: &PacketView, station: Option<Mac>) {
        let segment = &packet.segment;
        let one = self
            .connections
            .get_or_insert_mut(flow, Connection::default);
        match packet.toward {
            Toward::Mobile if segment.payload_bytes > 0 => {
                let is_further = |data: Segment| segment.sequence.after(data.sequence);
                if one.data.is_none_or(is_further) {
                    one.data = Some(*segment);
                }
            }
            Toward::Mobile => {}
            Toward::Wired => {
                one.station = station.or(one.station);
                let is_left = |data: &Segment| {
                    let end = data.sequence + data.payload_bytes;
                    end.after(segment.acknowledgment)
                };
                one.data = one.data.filter(is_left);
            }
        }
    }

    /// The connections with data in flight to a station, with the last segment of each, in an
    /// arbitrary but reproducible order.
    pub fn to(&self, station: Mac) -> Vec<(FlowKey, Segment)> {
        let mut found: Vec<_> = self
            .connections
            .iter()
            .filter(|(_, one)| one.station == Some(station))
            .filter_map(|(&flow, one)| Some((flow, one.data?)))
            .collect();
        found.sort_unstable_by_key(|&(flow, _)| flow);
        found
    }
}

#[cfg(test)]
mod tests {
    use airtcp_packet::{Flags, SequenceNumber};

    use super::*;
    use crate::packets::packet_view::Ends;

    const STATION: Mac = [2, 0, 0, 0, 0, 1];

    fn packet(toward: Toward, sequence: u32, bytes: u32, acknowledgment: u32) -> PacketView {
        PacketView {
            ends: Ends {
                mobile: "10.0.0.2:4000".parse().unwrap(),
                wired: "10.0.1.2:443".parse().unwrap(),
            },
            toward,
            segment: Segment {
                sequence: SequenceNumber(sequence),
                acknowledgment: SequenceNumber(acknowledgment),
                payload_bytes: bytes,
                flags: Flags::ACK,
                ..Segment::default()
            },
        }
    }

    #[test]
    fn data_is_under_way_until_it_is_acknowledged() {
        let mut all = InFlight::new(NonZeroUsize::MIN);
        all.see(1, &packet(Toward::Wired, 0, 0, 100), Some(STATION));
        assert_eq!(all.to(STATION), []);
        for sequence in [100, 1100] {
            all.see(1, &packet(Toward::Mobile, sequence, 1000, 0), None);
        }
        let first = |all: &InFlight| {
            all.to(STATION)
                .first()
                .map(|(flow, data)| (*flow, data.sequence.0))
        };
        assert_eq!(first(&all), Some((1, 1100)));
        // A retransmission is not the last segment, and half of it is not all.
        all.see(1, &packet(Toward::Mobile, 100, 1000, 0), None);
        all.see(1, &packet(Toward::Wired, 0, 0, 1100), Some(STATION));
        assert_eq!(first(&all), Some((1, 1100)));
        assert_eq!(all.to([9; 6]), []);
        all.see(1, &packet(Toward::Wired, 0, 0, 2100), Some(STATION));
        assert_eq!(first(&all), None);
    }
}
