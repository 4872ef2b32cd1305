//! The packets of a flow as on the wire: in the order of time, and as segments.
//!
//! Buffers of several processors or interfaces are written one after the other, so that a file may
//! hold packets out of order. Segmentation and receive offload (TSO, GSO, GRO) pass several
//! segments as one packet: on the wire, and for losses, they are separate.

use airtcp_packet::Flags;
use airtcp_units::{Duration, Instant};

use crate::flow::{Flow, Packets};
use crate::packet::{Packet, Way};
use crate::survey::Survey;

/// Maximum displacement that is sorted; beyond it, a clock was set, or the file holds several
/// captures.
pub(super) const SORTED_WITHIN: Duration = Duration::from_millis(500);

/// A flow's packets in the order of time.
pub(super) enum InOrder<'a> {
    /// In the order of the file.
    AsWritten(&'a Survey, &'a Flow),
    /// Sorted; or, if a clock was set back, with times held until it has caught up.
    Mended(Vec<Packet>),
}

impl<'a> InOrder<'a> {
    /// The packets of `flow`.
    pub fn of(survey: &'a Survey, flow: &'a Flow) -> Self {
        let mut latest = Instant::ZERO;
        let is_ordered = survey.packets_of(flow).all(|packet| {
            let is_later = packet.time >= latest;
            latest = packet.time;
            is_later
        });
        if is_ordered {
            return Self::AsWritten(survey, flow);
        }
        let mut packets: Vec<Packet> = survey.packets_of(flow).collect();
        if survey.longest_step_back <= SORTED_WITHIN {
            packets.sort_by_key(|packet| packet.time);
        } else {
            let mut latest = Instant::ZERO;
            for packet in &mut packets {
                latest = latest.max(packet.time);
                packet.time = latest;
            }
        }
        Self::Mended(packets)
    }

    /// The packets as captured.
    pub fn packets(&self) -> Ordered<'_> {
        match self {
            Self::AsWritten(survey, flow) => Ordered::AsWritten(survey.packets_of(flow)),
            Self::Mended(packets) => Ordered::Mended(packets.iter()),
        }
    }

    /// The packets, with data in direction `way` as segments of `mss` bytes where offload
    /// aggregated them: where they exceed the negotiated `longest`.
    pub fn segments(
        &self,
        way: Way,
        mss: u32,
        longest: u32,
    ) -> impl Iterator<Item = Packet> + Clone {
        self.packets().flat_map(move |packet| {
            let is_whole = packet.way != way || mss == 0;
            Segments {
                mss: if is_whole { u32::MAX } else { mss },
                longest: if is_whole { u32::MAX } else { longest },
                rest: Some(packet),
            }
        })
    }
}

/// Packets in the order of time.
#[derive(Clone)]
pub(super) enum Ordered<'a> {
    AsWritten(Packets<'a>),
    Mended(std::slice::Iter<'a, Packet>),
}

impl Iterator for Ordered<'_> {
    type Item = Packet;

    fn next(&mut self) -> Option<Packet> {
        match self {
            Self::AsWritten(packets) => packets.next(),
            Self::Mended(packets) => packets.next().copied(),
        }
    }
}

/// The segments of a packet.
#[derive(Clone)]
struct Segments {
    mss: u32,
    /// Maximum length of a packet that is a single segment.
    longest: u32,
    rest: Option<Packet>,
}

impl Iterator for Segments {
    type Item = Packet;

    fn next(&mut self) -> Option<Packet> {
        let mut first = self.rest.take()?;
        let payload = first.segment.payload_bytes;
        if payload <= self.longest || first.segment.flags.contains(Flags::SYN) {
            return Some(first);
        }
        self.longest = self.mss;
        let mut rest = first;
        rest.segment.sequence = rest.segment.sequence + self.mss;
        rest.segment.payload_bytes -= self.mss;
        // The first carries CWR, the last ends a push or the stream (RFC 3168 §6.1.2; behaviour of
        // devices: Linux, `tcp_gso_segment`).
        rest.segment.flags = without(rest.segment.flags, Flags::CWR);
        self.rest = Some(rest);
        first.segment.payload_bytes = self.mss;
        first.segment.flags = without(without(first.segment.flags, Flags::PSH), Flags::FIN);
        Some(first)
    }
}

fn without(flags: Flags, flag: Flags) -> Flags {
    Flags::from_bits(flags.bits() & !flag.bits())
}

#[cfg(test)]
mod tests {
    use airtcp_packet::{Segment, SequenceNumber};

    use super::*;

    #[test]
    fn what_offload_joined_is_segments_again() {
        let packet = Packet {
            segment: Segment {
                sequence: SequenceNumber(u32::MAX - 999),
                payload_bytes: 2500,
                flags: Flags::ACK | Flags::PSH | Flags::FIN | Flags::CWR,
                ..Segment::default()
            },
            ..Packet::default()
        };
        let parts = Segments {
            mss: 1000,
            longest: 1000,
            rest: Some(packet),
        };
        let seen: Vec<(u32, u32, u8)> = parts
            .map(|part| {
                let segment = part.segment;
                let flags = segment.flags.bits();
                (segment.sequence.0, segment.payload_bytes, flags)
            })
            .collect();
        let (ack, last) = (Flags::ACK.bits(), (Flags::PSH | Flags::FIN).bits());
        let expected = [
            (u32::MAX - 999, 1000, ack | Flags::CWR.bits()),
            (0, 1000, ack),
            (1000, 500, ack | last),
        ];
        assert_eq!(seen, expected);
    }
}
