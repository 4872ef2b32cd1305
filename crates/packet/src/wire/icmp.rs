//! ICMP errors about our packets (RFC 792, RFC 4443), which quote the packet.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::checksum::Sum;
use super::parse::{u16_at, u32_at};
use super::{Addresses, IPV4_HEADER_BYTES, IPV6_HEADER_BYTES, WireError};
use super::{PROTOCOL_ICMP, PROTOCOL_ICMPV6, PROTOCOL_TCP};
use crate::SequenceNumber;

/// The fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The packet is larger than the next link takes (RFC 1191 §4, RFC 8201 §4).
    TooBig {
        /// MTU of the next link, in bytes of IP.
        mtu: u32,
    },
    /// It cannot be delivered, now or later: no such protocol or port, or forbidden (RFC 1122
    /// §4.2.3.9 calls these hard errors).
    Unreachable,
}

/// An error about a packet with TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IcmpError {
    /// The fault.
    pub trouble: Trouble,
    /// Sender and receiver of the packet.
    pub addresses: Addresses<SocketAddr>,
    /// The packet's sequence number.
    pub sequence: SequenceNumber,
    /// Length that the packet states, IP header included.
    pub packet_bytes: u32,
}

/// ICMP's header, and the part of TCP's that every error quotes (RFC 792: 64 bits).
const ICMP_HEADER_BYTES: usize = 8;
const QUOTED_TCP_BYTES: usize = 8;

/// Reads an IPv4 or IPv6 packet that carries an ICMP error about TCP.
///
/// # Errors
/// The first fault in the bytes, or [`WireError::NotTcp`] for any other packet; never panics.
pub fn parse_icmp(bytes: &[u8]) -> Result<IcmpError, WireError> {
    match bytes.first().ok_or(WireError::Truncated)? >> 4 {
        4 => parse_icmpv4(bytes),
        6 => parse_icmpv6(bytes),
        _ => Err(WireError::Version),
    }
}

fn parse_icmpv4(bytes: &[u8]) -> Result<IcmpError, WireError> {
    let (fixed, header_bytes) = ipv4_header(bytes)?;
    if fixed[9] != PROTOCOL_ICMP {
        return Err(WireError::NotTcp);
    }
    if u16_at(fixed, 6) & 0x3fff != 0 {
        return Err(WireError::Fragment);
    }
    let total = usize::from(u16_at(fixed, 2));
    let message = bytes.get(header_bytes..total).ok_or(WireError::Truncated)?;
    if Sum::default().add(&bytes[..header_bytes]).finish() != 0 {
        return Err(WireError::IpChecksum);
    }
    if Sum::default().add(message).finish() != 0 {
        return Err(WireError::IcmpChecksum);
    }
    let (icmp, quoted) = message
        .split_first_chunk::<ICMP_HEADER_BYTES>()
        .ok_or(WireError::Truncated)?;
    let trouble = match (icmp[0], icmp[1]) {
        (3, 4) => Trouble::TooBig {
            mtu: u16_at(icmp, 6).into(),
        },
        (3, 2 | 3 | 9 | 10 | 13) => Trouble::Unreachable,
        _ => return Err(WireError::NotTcp),
    };
    let (fixed, header_bytes) = ipv4_header(quoted)?;
    let address = |at: usize| IpAddr::V4(Ipv4Addr::from_bits(u32_at(fixed, at)));
    let packet = Quoted {
        protocol: fixed[9],
        addresses: [address(12), address(16)],
        packet_bytes: u16_at(fixed, 2).into(),
    };
    packet.error(trouble, quoted.get(header_bytes..))
}

fn parse_icmpv6(bytes: &[u8]) -> Result<IcmpError, WireError> {
    let (header, rest) = bytes
        .split_first_chunk::<IPV6_HEADER_BYTES>()
        .ok_or(WireError::Truncated)?;
    if header[6] != PROTOCOL_ICMPV6 {
        return Err(WireError::NotTcp);
    }
    let message = rest
        .get(..usize::from(u16_at(header, 4)))
        .ok_or(WireError::Truncated)?;
    let sum = Sum::default()
        .add(&header[8..40])
        .add(&header[4..6])
        .add(&[0, PROTOCOL_ICMPV6])
        .add(message);
    if sum.finish() != 0 {
        return Err(WireError::IcmpChecksum);
    }
    let (icmp, quoted) = message
        .split_first_chunk::<ICMP_HEADER_BYTES>()
        .ok_or(WireError::Truncated)?;
    let trouble = match (icmp[0], icmp[1]) {
        (2, _) => Trouble::TooBig {
            mtu: u32_at(icmp, 4),
        },
        (1, 1 | 4) => Trouble::Unreachable,
        _ => return Err(WireError::NotTcp),
    };
    let (header, rest) = quoted
        .split_first_chunk::<IPV6_HEADER_BYTES>()
        .ok_or(WireError::Truncated)?;
    let address = |at: usize| {
        let octets: [u8; 16] = core::array::from_fn(|index| header[at + index]);
        IpAddr::V6(Ipv6Addr::from(octets))
    };
    let packet = Quoted {
        protocol: header[6],
        addresses: [address(8), address(24)],
        packet_bytes: u32::from(u16_at(header, 4)) + IPV6_HEADER_BYTES as u32,
    };
    packet.error(trouble, Some(rest))
}

/// The IP header of a packet that an error quotes.
struct Quoted {
    protocol: u8,
    addresses: [IpAddr; 2],
    packet_bytes: u32,
}

impl Quoted {
    fn error(self, trouble: Trouble, tcp: Option<&[u8]>) -> Result<IcmpError, WireError> {
        if self.protocol != PROTOCOL_TCP {
            return Err(WireError::NotTcp);
        }
        let tcp: &[u8; QUOTED_TCP_BYTES] = tcp
            .and_then(<[u8]>::first_chunk)
            .ok_or(WireError::Truncated)?;
        let [source, destination] = self.addresses;
        Ok(IcmpError {
            trouble,
            addresses: Addresses {
                source: SocketAddr::new(source, u16_at(tcp, 0)),
                destination: SocketAddr::new(destination, u16_at(tcp, 2)),
            },
            sequence: SequenceNumber(u32_at(tcp, 4)),
            packet_bytes: self.packet_bytes,
        })
    }
}

/// The fixed part of an IPv4 header, and the length of the whole header.
fn ipv4_header(bytes: &[u8]) -> Result<(&[u8; IPV4_HEADER_BYTES], usize), WireError> {
    let fixed: &[u8; IPV4_HEADER_BYTES] = bytes.first_chunk().ok_or(WireError::Truncated)?;
    if fixed[0] >> 4 != 4 {
        return Err(WireError::Version);
    }
    let header_bytes = usize::from(fixed[0] & 0x0f) * 4;
    if header_bytes < IPV4_HEADER_BYTES {
        return Err(WireError::HeaderLength);
    }
    if bytes.len() < header_bytes {
        return Err(WireError::Truncated);
    }
    Ok((fixed, header_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 792, p. 4, with RFC 1191 §4's next-hop MTU of 1400, about a segment of 1500 bytes from
    /// 10.0.0.1:5000 to 10.1.0.2:80 with sequence number 0x01020304.
    fn fragmentation_needed() -> Vec<u8> {
        let mut quoted = vec![0x45, 0, 0x05, 0xdc, 0, 1, 0x40, 0, 64, 6, 0, 0];
        quoted.extend([10, 0, 0, 1, 10, 1, 0, 2]);
        quoted.extend([0x13, 0x88, 0, 80, 1, 2, 3, 4]);
        let mut message = vec![3, 4, 0, 0, 0, 0, 0x05, 0x78];
        message.extend(&quoted);
        let sum = Sum::default().add(&message).finish();
        message[2..4].copy_from_slice(&sum.to_be_bytes());
        let mut packet = vec![0x45, 0xc0, 0, 0, 0, 0, 0, 0, 64, 1, 0, 0];
        packet.extend([10, 0, 0, 254, 10, 0, 0, 1]);
        let total = (packet.len() + message.len()) as u16;
        packet[2..4].copy_from_slice(&total.to_be_bytes());
        let sum = Sum::default().add(&packet).finish();
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet.extend(message);
        packet
    }

    #[test]
    fn fragmentation_needed_says_what_fits() {
        let error = parse_icmp(&fragmentation_needed()).unwrap();
        assert_eq!(error.trouble, Trouble::TooBig { mtu: 1400 });
        assert_eq!(error.addresses.source, "10.0.0.1:5000".parse().unwrap());
        assert_eq!(error.addresses.destination, "10.1.0.2:80".parse().unwrap());
        assert_eq!(error.sequence, SequenceNumber(0x0102_0304));
        assert_eq!(error.packet_bytes, 1500);
    }

    /// RFC 4443 §3.2: the MTU is a separate word.
    #[test]
    fn packet_too_big_of_ipv6() {
        let mut quoted = vec![0x60, 0, 0, 0, 0x05, 0xb4, 6, 64];
        quoted.extend([0x20; 16]);
        quoted.extend([0x30; 16]);
        quoted.extend([0x13, 0x88, 0, 80, 1, 2, 3, 4]);
        let mut message = vec![2, 0, 0, 0, 0, 0, 0x05, 0x14];
        message.extend(&quoted);
        let mut packet = vec![0x60, 0, 0, 0, 0, message.len() as u8, 58, 64];
        packet.extend([0x40; 16]);
        packet.extend([0x20; 16]);
        let sum = Sum::default()
            .add(&packet[8..40])
            .add(&[0, message.len() as u8, 0, 58])
            .add(&message)
            .finish();
        message[2..4].copy_from_slice(&sum.to_be_bytes());
        packet.extend(message);
        let error = parse_icmp(&packet).unwrap();
        assert_eq!(error.trouble, Trouble::TooBig { mtu: 1300 });
        assert_eq!(error.packet_bytes, 1500);
        assert!(error.addresses.source.is_ipv6());
    }

    /// Truncated or altered errors are refused without a panic.
    #[test]
    fn damaged_errors_are_refused() {
        let packet = fragmentation_needed();
        for length in 0..packet.len() {
            assert!(parse_icmp(&packet[..length]).is_err(), "{length}");
        }
        for byte in 0..packet.len() {
            let mut damaged = packet.clone();
            damaged[byte] ^= 0x10;
            // The ICMP checksum covers the first quoted header and all that follows.
            assert!(parse_icmp(&damaged).is_err(), "{byte}");
        }
    }
}
