//! Conversion of real packets to a network's packets, and back.

use std::net::SocketAddr;

use airtcp_network::Content;
use airtcp_packet::wire::{self, WireError};
use airtcp_packet::{Ecn, Segment};

/// A packet's description for the network.
#[derive(Clone, Copy, Debug)]
pub struct PacketFacts {
    /// Its content.
    pub content: Content,
    /// Source and destination, of a TCP segment.
    pub ends: Option<(SocketAddr, SocketAddr)>,
}

/// Parses a packet. `None` for packets that no link should carry: multicast, used by the kernel to
/// find neighbours and routers, and anything that is not IP.
pub fn describe(bytes: &[u8]) -> Option<PacketFacts> {
    let version = bytes.first()? >> 4;
    let destination_is_group = match version {
        4 => bytes.get(16)? >> 4 == 0xe,
        6 => *bytes.get(24)? == 0xff,
        _ => return None,
    };
    if destination_is_group {
        return None;
    }
    let parsed = if version == 4 {
        wire::parse(bytes).map(|packet| {
            let ends = packet.addresses;
            (packet.segment, ends.source.into(), ends.destination.into())
        })
    } else {
        wire::parse_ipv6(bytes).map(|packet| {
            let ends = packet.addresses;
            (packet.segment, ends.source.into(), ends.destination.into())
        })
    };
    Some(match parsed {
        Ok((segment, source, destination)) => PacketFacts {
            content: Content::Segment(segment),
            ends: Some((source, destination)),
        },
        // A packet that the codec cannot parse is carried by its size.
        Err(_) => PacketFacts {
            content: Content::Other(u32::try_from(bytes.len()).unwrap_or(u32::MAX)),
            ends: None,
        },
    })
}

/// Writes the network's changes to a segment into the packet's bytes: `was` is the segment as
/// parsed.
///
/// A queue's mark changes only the two bits of the ECN field, so that options and header fields
/// unknown to the codec are preserved; an agent's changes are written by the codec.
///
/// # Errors
///
/// The bytes are not a TCP packet, or the segment no longer fits.
pub fn write_changes(bytes: &mut Vec<u8>, was: &Segment, is: &Segment) -> Result<(), WireError> {
    let marked = Segment {
        ecn: is.ecn,
        ..*was
    };
    if *is == marked {
        mark(bytes, is.ecn);
        return Ok(());
    }
    rewrite(bytes, is)
}

/// Sets the ECN field (RFC 3168 §5).
fn mark(bytes: &mut [u8], ecn: Ecn) {
    let Some(version) = bytes.first().map(|first| first >> 4) else {
        return;
    };
    if version == 6 && bytes.len() > 1 {
        // The traffic class spans the first two bytes; its lowest bits are bits 4 and 5 of the
        // second (RFC 8200 §3).
        bytes[1] = bytes[1] & !0x30 | ecn.bits() << 4;
    } else if version == 4 && bytes.len() >= 20 {
        let before = u16::from_be_bytes([bytes[0], bytes[1]]);
        bytes[1] = bytes[1] & !3 | ecn.bits();
        let after = u16::from_be_bytes([bytes[0], bytes[1]]);
        let checksum = u16::from_be_bytes([bytes[10], bytes[11]]);
        bytes[10..12].copy_from_slice(&updated(checksum, before, after).to_be_bytes());
    }
}

/// Updates a checksum after one of its words has changed (RFC 1624 §3, eq. 3).
const fn updated(checksum: u16, before: u16, after: u16) -> u16 {
    let sum = !checksum as u32 + !before as u32 + after as u32;
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

/// Writes a segment changed by an agent into the packet's bytes.
///
/// # Errors
///
/// The bytes are not a TCP packet, or the segment no longer fits.
fn rewrite(bytes: &mut Vec<u8>, segment: &Segment) -> Result<(), WireError> {
    let mut rewritten = Vec::with_capacity(bytes.len());
    if bytes.first().is_some_and(|first| first >> 4 == 4) {
        let packet = wire::parse(bytes)?;
        let identification = u16::from_be_bytes([bytes[4], bytes[5]]);
        let payload = &bytes[packet.payload];
        wire::emit(
            segment,
            &packet.addresses,
            identification,
            payload,
            &mut rewritten,
        )?;
    } else {
        let packet = wire::parse_ipv6(bytes)?;
        let label = u32::from_be_bytes([0, bytes[1] & 0xf, bytes[2], bytes[3]]);
        let payload = &bytes[packet.payload];
        wire::emit_ipv6(segment, &packet.addresses, label, payload, &mut rewritten)?;
    }
    *bytes = rewritten;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddrV4, SocketAddrV6};

    use airtcp_packet::wire::{Addresses, parse, parse_ipv6};
    use airtcp_packet::{Flags, SequenceNumber, Timestamps};

    use super::*;

    fn segment() -> Segment {
        Segment {
            sequence: SequenceNumber(7),
            acknowledgment: SequenceNumber(9),
            payload_bytes: 5,
            window: 100,
            flags: Flags::ACK,
            timestamps: Some(Timestamps { value: 1, echo: 2 }),
            ..Segment::default()
        }
    }

    fn ipv4(payload: &[u8]) -> Vec<u8> {
        let end = |text: &str| text.parse::<SocketAddrV4>().unwrap();
        let addresses = Addresses {
            source: end("10.0.0.1:1000"),
            destination: end("10.0.0.2:80"),
        };
        let mut bytes = Vec::new();
        wire::emit(&segment(), &addresses, 77, payload, &mut bytes).unwrap();
        bytes
    }

    fn ipv6(payload: &[u8]) -> Vec<u8> {
        let end = |text: &str| text.parse::<SocketAddrV6>().unwrap();
        let addresses = Addresses {
            source: end("[fd00::1]:1000"),
            destination: end("[fd00::2]:80"),
        };
        let mut bytes = Vec::new();
        wire::emit_ipv6(&segment(), &addresses, 0xabcde, payload, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_segment_is_described_with_its_ends() {
        for bytes in [ipv4(b"hello"), ipv6(b"hello")] {
            let facts = describe(&bytes).unwrap();
            assert!(matches!(facts.content, Content::Segment(read) if read == segment()));
            assert_eq!(facts.ends.unwrap().0.port(), 1000);
            assert_eq!(facts.ends.unwrap().1.port(), 80);
        }
    }

    #[test]
    fn what_is_no_tcp_passes_by_its_size() {
        let mut bytes = ipv4(b"hello");
        bytes[9] = 17;
        bytes[10..12].fill(0);
        let facts = describe(&bytes).unwrap();
        assert!(matches!(facts.content, Content::Other(size) if size as usize == bytes.len()));
        assert_eq!(facts.ends, None);
    }

    #[test]
    fn groups_and_noise_are_not_carried() {
        let mut group = ipv4(b"");
        group[16] = 224;
        assert!(describe(&group).is_none());
        let mut group = ipv6(b"");
        group[24] = 0xff;
        assert!(describe(&group).is_none());
        assert!(describe(&[]).is_none());
        assert!(describe(&[0x45; 10]).is_none());
        assert!(describe(&[0; 40]).is_none());
    }

    /// A mark changes two bits and the checksum: anything unknown to the codec is preserved.
    #[test]
    fn a_mark_changes_the_ecn_field_alone() {
        let marked = Segment {
            ecn: Ecn::CongestionExperienced,
            ..segment()
        };
        let mut bytes = ipv4(b"hello");
        // A DSCP, a TTL and an urgent pointer that the project's codecs never write.
        bytes[1] |= 0xb8;
        bytes[8] = 7;
        let sum = (0..10).fold(0_u32, |sum, word| {
            let at = 2 * word;
            let value = u32::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
            if at == 10 { sum } else { sum + value }
        });
        let checksum = !(((sum & 0xffff) + (sum >> 16)) as u16);
        bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
        let before = bytes.clone();
        let was = parse(&bytes).unwrap().segment;
        write_changes(&mut bytes, &was, &marked).unwrap();
        assert_eq!(parse(&bytes).unwrap().segment, marked);
        assert_eq!((bytes[1], bytes[8]), (0xbb, 7));
        let changed: Vec<_> = (0..bytes.len())
            .filter(|&at| bytes[at] != before[at])
            .collect();
        assert!(
            changed.iter().all(|at| [1, 10, 11].contains(at)),
            "{changed:?}"
        );

        let mut bytes = ipv6(b"hello");
        let before = bytes.clone();
        let was = parse_ipv6(&bytes).unwrap().segment;
        write_changes(&mut bytes, &was, &marked).unwrap();
        assert_eq!(parse_ipv6(&bytes).unwrap().segment, marked);
        let changed: Vec<_> = (0..bytes.len())
            .filter(|&at| bytes[at] != before[at])
            .collect();
        assert_eq!(changed, [1]);
    }

    /// Only the agent's change is made: the payload and the addresses stay.
    #[test]
    fn a_changed_segment_is_written_with_its_payload() {
        let changed = Segment {
            window: 0,
            timestamps: Some(Timestamps { value: 1, echo: 99 }),
            ..segment()
        };
        let mut bytes = ipv4(b"hello");
        write_changes(&mut bytes, &segment(), &changed).unwrap();
        let read = parse(&bytes).unwrap();
        assert_eq!(read.segment, changed);
        assert_eq!(&bytes[read.payload], b"hello");
        assert_eq!(bytes[4..6], [0, 77]);
        let mut bytes = ipv6(b"hello");
        write_changes(&mut bytes, &segment(), &changed).unwrap();
        let read = parse_ipv6(&bytes).unwrap();
        assert_eq!(read.segment, changed);
        assert_eq!(&bytes[read.payload], b"hello");
        assert_eq!(&bytes[1..4], [0x0a, 0xbc, 0xde]);
    }
}
