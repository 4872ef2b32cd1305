//! IPv4 and IPv6 with extension headers, and the encapsulated TCP header.

use airtcp_packet::Ecn;
use airtcp_packet::wire::{WireError, parse_tcp_header};

use super::{Datagram, Endpoint, Frame, Other, Tcp, tunnel, udp};

/// Protocol numbers (IANA).
mod protocol {
    pub const HOP_BY_HOP: u8 = 0;
    pub const ICMP: u8 = 1;
    pub const IPV4: u8 = 4;
    pub const TCP: u8 = 6;
    pub const UDP: u8 = 17;
    pub const IPV6: u8 = 41;
    pub const ROUTING: u8 = 43;
    pub const FRAGMENT: u8 = 44;
    pub const GRE: u8 = 47;
    pub const ESP: u8 = 50;
    pub const AUTHENTICATION: u8 = 51;
    pub const ICMPV6: u8 = 58;
    pub const DESTINATION: u8 = 60;
    pub const ETHER_IP: u8 = 97;
    pub const L2TP: u8 = 115;
    pub const MOBILITY: u8 = 135;
}

const IPV4_HEADER_BYTES: usize = 20;
const IPV6_HEADER_BYTES: usize = 40;
/// More fragments, and the offset (RFC 791 §3.1).
const FRAGMENT_MASK: u16 = 0x3fff;
/// The same for IPv6's fragment header (RFC 8200 §4.5).
const IPV6_FRAGMENT_MASK: u16 = 0xfff9;
/// RFC 4291 §2.5.5.2.
const MAPPED: u128 = 0xffff << 32;

/// Fields of both versions about their payload.
struct Packet<'a> {
    /// The IP payload; its `wire_bytes` are from the IP header.
    payload: Frame<'a>,
    source: u128,
    destination: u128,
    protocol: u8,
    identification: Option<u16>,
    hops: u8,
    ecn: u8,
}

/// Decodes an IP packet of the version in its first nibble.
#[inline]
pub fn decode(frame: Frame<'_>) -> Result<Tcp, Other> {
    let packet = match frame.byte(0)? >> 4 {
        4 => version_4(frame)?,
        6 => version_6(frame)?,
        _ => return Err(Other::Malformed),
    };
    if packet.protocol == protocol::TCP {
        return tcp(&packet);
    }
    carried(packet)
}

/// Payload of an IP packet other than TCP, possibly a tunnel.
#[inline(never)]
fn carried(packet: Packet<'_>) -> Result<Tcp, Other> {
    match packet.protocol {
        protocol::UDP => {
            let found = udp::decode(packet.payload);
            if matches!(found, Err(Other::Quic)) {
                note_quic(&packet);
            }
            found
        }
        protocol::IPV4 | protocol::IPV6 => {
            let mut inner = packet.payload.inner()?;
            inner.carrier.ip_in_ip = true;
            decode(inner)
        }
        protocol::GRE => tunnel::gre(packet.payload),
        protocol::ETHER_IP => tunnel::ether_ip(packet.payload),
        protocol::L2TP => tunnel::pseudowire(packet.payload),
        protocol::ESP => Err(Other::Ipsec),
        protocol::ICMP | protocol::ICMPV6 => Err(Other::Icmp),
        _ => Err(Other::Ip),
    }
}

/// Passes the datagram to the caller that asked for QUIC.
fn note_quic(packet: &Packet<'_>) {
    let Some(noted) = packet.payload.quic else {
        return;
    };
    let port = |at| packet.payload.u16(at).unwrap_or_default();
    let payload = packet.payload.skip(udp::HEADER_BYTES);
    let Ok(payload) = payload else { return };
    noted.set(Some(Datagram {
        source: Endpoint {
            address: packet.source,
            port: port(0),
        },
        destination: Endpoint {
            address: packet.destination,
            port: port(2),
        },
        wire_bytes: payload.wire_bytes,
        from: payload.bytes.len(),
    }));
}

#[inline]
fn version_4(frame: Frame<'_>) -> Result<Packet<'_>, Other> {
    let header = frame.array::<IPV4_HEADER_BYTES>(0)?;
    let header_bytes = usize::from(header[0] & 0x0f) * 4;
    let total = u32::from(u16::from_be_bytes([header[2], header[3]]));
    if header_bytes < IPV4_HEADER_BYTES {
        return Err(Other::Malformed);
    }
    if u16::from_be_bytes([header[6], header[7]]) & FRAGMENT_MASK != 0 {
        return Err(Other::Fragment);
    }
    let address = |at: usize| {
        let octets: [u8; 4] = std::array::from_fn(|index| header[at + index]);
        MAPPED | u128::from(u32::from_be_bytes(octets))
    };
    let mut payload = frame.skip(header_bytes)?;
    // Zero if a network card is to segment a longer packet; then only the frame gives its length.
    if total != 0 {
        payload.wire_bytes = total
            .checked_sub(header_bytes as u32)
            .ok_or(Other::Malformed)?;
    }
    Ok(Packet {
        payload,
        source: address(12),
        destination: address(16),
        protocol: header[9],
        identification: Some(u16::from_be_bytes([header[4], header[5]])),
        hops: header[8],
        ecn: header[1],
    })
}

fn version_6(frame: Frame<'_>) -> Result<Packet<'_>, Other> {
    let header = frame.array::<IPV6_HEADER_BYTES>(0)?;
    let address = |at: usize| {
        let octets: [u8; 16] = std::array::from_fn(|index| header[at + index]);
        u128::from_be_bytes(octets)
    };
    let mut payload = frame.skip(IPV6_HEADER_BYTES)?;
    let length = u32::from(u16::from_be_bytes([header[4], header[5]]));
    // Zero for a jumbogram, or a packet for a network card to segment.
    if length != 0 {
        payload.wire_bytes = length;
    }
    let mut protocol = header[6];
    loop {
        let bytes = match protocol {
            protocol::HOP_BY_HOP
            | protocol::ROUTING
            | protocol::DESTINATION
            | protocol::MOBILITY => (usize::from(payload.byte(1)?) + 1) * 8,
            protocol::FRAGMENT => {
                if payload.u16(2)? & IPV6_FRAGMENT_MASK != 0 {
                    return Err(Other::Fragment);
                }
                8
            }
            protocol::AUTHENTICATION => (usize::from(payload.byte(1)?) + 2) * 4,
            _ => break,
        };
        protocol = payload.byte(0)?;
        payload = payload.skip(bytes)?;
    }
    Ok(Packet {
        payload,
        source: address(8),
        destination: address(24),
        protocol,
        identification: None,
        hops: header[7],
        // The traffic class spans the first two bytes (RFC 8200 §3).
        ecn: header[1] >> 4,
    })
}

#[inline]
fn tcp(packet: &Packet<'_>) -> Result<Tcp, Other> {
    let header = parse_tcp_header(packet.payload.bytes).map_err(|error| match error {
        WireError::Truncated => Other::Cut,
        _ => Other::Malformed,
    })?;
    let mut segment = header.segment;
    segment.payload_bytes = packet
        .payload
        .wire_bytes
        .checked_sub(header.bytes as u32)
        .ok_or(Other::Malformed)?;
    segment.ecn = Ecn::from_bits(packet.ecn);
    Ok(Tcp {
        source: Endpoint {
            address: packet.source,
            port: header.ports[0],
        },
        destination: Endpoint {
            address: packet.destination,
            port: header.ports[1],
        },
        segment,
        are_options_cut: packet.payload.bytes.len() < header.bytes,
        identification: packet.identification,
        hops: packet.hops,
        radio: packet.payload.radio,
        carrier: packet.payload.carrier,
    })
}
