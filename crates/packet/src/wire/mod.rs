//! The wire codec: segments as the bytes of real IPv4 and IPv6 packets, and back.
//!
//! Writes segments as Linux does: options in its order and padding, "don't fragment" set. Reads
//! segments of any stack: options in any order, IPv4 options, link-layer padding after the packet.

mod checksum;
mod emit;
mod icmp;
mod parse;
#[cfg(test)]
mod tests;

use core::fmt;
use core::net::{SocketAddrV4, SocketAddrV6};
use core::ops::Range;

pub use emit::{
    TcpChecksum, emit, emit_headers, emit_headers_ipv6, emit_ipv6, emit_pieces, emit_pieces_ipv6,
};
pub use icmp::{IcmpError, Trouble, parse_icmp};
pub use parse::{Checksums, parse, parse_ipv6, parse_ipv6_with, parse_tcp_header, parse_with};

use crate::Segment;

/// Sender and receiver of a segment: IPv4 by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Addresses<A = SocketAddrV4> {
    /// Address and port of the sender.
    pub source: A,
    /// Address and port of the receiver.
    pub destination: A,
}

/// Sender and receiver of a segment over IPv6. Flow label and scope are not part of a packet's
/// addresses and are zero when parsed.
pub type Ipv6Addresses = Addresses<SocketAddrV6>;

/// A parsed packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed<A = SocketAddrV4> {
    /// Its sender and its receiver.
    pub addresses: Addresses<A>,
    /// The segment.
    pub segment: Segment,
    /// Range of the payload within the packet's bytes.
    pub payload: Range<usize>,
}

/// A TCP header parsed without its packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpHeader {
    /// The segment; its payload's length is zero, since the header does not carry it.
    pub segment: Segment,
    /// Ports of sender and receiver.
    pub ports: [u16; 2],
    /// The header's length by its length field, options included.
    pub bytes: usize,
}

/// Why bytes are not a TCP/IP packet, or a segment cannot be written as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireError {
    /// The bytes end before the packet does.
    Truncated,
    /// The IP version is not the one asked for.
    Version,
    /// A fragment of a packet; fragments are not reassembled.
    Fragment,
    /// The payload is not TCP, the ICMP message is not about TCP, or IPv6 extension headers come
    /// first.
    NotTcp,
    /// A header's length field contradicts itself or the packet.
    HeaderLength,
    /// The IPv4 header's checksum is wrong.
    IpChecksum,
    /// The TCP checksum is wrong.
    TcpChecksum,
    /// The ICMP checksum is wrong.
    IcmpChecksum,
    /// The segment is longer than the IP length field allows.
    TooLong,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "the bytes end before the packet does",
            Self::Version => "not the IP version that was expected",
            Self::Fragment => "a fragment of an IP packet",
            Self::NotTcp => "the IP payload is not TCP",
            Self::HeaderLength => "a header length that contradicts the packet",
            Self::IpChecksum => "wrong IPv4 header checksum",
            Self::TcpChecksum => "wrong TCP checksum",
            Self::IcmpChecksum => "wrong ICMP checksum",
            Self::TooLong => "a segment too long for an IP packet",
        })
    }
}

impl core::error::Error for WireError {}

/// Length of an IPv4 header without options (RFC 791 §3.1).
const IPV4_HEADER_BYTES: usize = 20;
/// Length of an IPv6 header (RFC 8200 §3).
const IPV6_HEADER_BYTES: usize = 40;
/// Length of a TCP header without options (RFC 9293 §3.1).
const TCP_HEADER_BYTES: usize = 20;
/// TCP's number in the protocol field (RFC 9293 §3.1).
const PROTOCOL_TCP: u8 = 6;
/// ICMP's (RFC 792), and ICMPv6's (RFC 4443 §1).
const PROTOCOL_ICMP: u8 = 1;
const PROTOCOL_ICMPV6: u8 = 58;

/// Option kinds and lengths.
mod option {
    /// End of the list (RFC 9293 §3.1).
    pub const END: u8 = 0;
    /// Padding (RFC 9293 §3.1).
    pub const NOP: u8 = 1;
    /// Maximum segment size (RFC 9293 §3.7.1).
    pub const MSS: u8 = 2;
    pub const MSS_BYTES: u8 = 4;
    /// Window scale (RFC 7323 §2.2).
    pub const WINDOW_SCALE: u8 = 3;
    pub const WINDOW_SCALE_BYTES: u8 = 3;
    /// SACK permitted (RFC 2018 §2).
    pub const SACK_PERMITTED: u8 = 4;
    pub const SACK_PERMITTED_BYTES: u8 = 2;
    /// SACK (RFC 2018 §3).
    pub const SACK: u8 = 5;
    pub const SACK_HEAD_BYTES: u8 = 2;
    pub const SACK_BLOCK_BYTES: u8 = 8;
    /// Timestamps (RFC 7323 §3.2).
    pub const TIMESTAMPS: u8 = 8;
    pub const TIMESTAMPS_BYTES: u8 = 10;
    /// Fast Open (RFC 7413).
    pub const FAST_OPEN: u8 = 34;
    /// Experiments, distinguished by a magic number (RFC 6994), that of Fast Open, and one of ours
    /// for Sprout's forecast, which is in no registry.
    pub const EXPERIMENT: u8 = 254;
    pub const FAST_OPEN_MAGIC: [u8; 2] = [0xf9, 0x89];
    pub const FORECAST_MAGIC: [u8; 2] = *b"Sp";
}
