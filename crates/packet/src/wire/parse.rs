//! Bytes to segments.

use core::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};
use core::ops::Range;

use super::checksum::Sum;
use super::{Addresses, IPV4_HEADER_BYTES, IPV6_HEADER_BYTES, PROTOCOL_TCP, Parsed};
use super::{TCP_HEADER_BYTES, TcpHeader, WireError, option};
use crate::{
    Ecn, FastOpen, Flags, Forecast, SackBlock, SackBlocks, Segment, SequenceNumber, Timestamps,
};

/// Whether checksums are verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksums {
    /// They are verified.
    Verified,
    /// The device has verified them, or the packet never was on a wire. A total length of zero then
    /// means a length that does not fit the field, as in the super-frames of a device that merges
    /// packets (Linux, `iph_totlen`; RFC 2675 §2 for IPv6).
    Trusted,
}

/// Reads an IPv4 packet that carries a TCP segment.
///
/// The headers' lengths and both checksums must be right. IPv4 options, unknown and malformed TCP
/// options are skipped, the last of repeated options counts, and bytes after the packet (link-layer
/// padding) are ignored.
///
/// # Errors
/// The first fault in the bytes; never panics.
pub fn parse(bytes: &[u8]) -> Result<Parsed, WireError> {
    parse_with(bytes, Checksums::Verified)
}

/// As [`parse`], with a choice of whether checksums are verified.
///
/// # Errors
/// As [`parse`].
pub fn parse_with(bytes: &[u8], checksums: Checksums) -> Result<Parsed, WireError> {
    let fixed: &[u8; IPV4_HEADER_BYTES] = bytes.first_chunk().ok_or(WireError::Truncated)?;
    if fixed[0] >> 4 != 4 {
        return Err(WireError::Version);
    }
    let header_bytes = usize::from(fixed[0] & 0x0f) * 4;
    let total = match (u16_at(fixed, 2), checksums) {
        (0, Checksums::Trusted) => bytes.len(),
        (total, _) => usize::from(total),
    };
    if header_bytes < IPV4_HEADER_BYTES || total < header_bytes {
        return Err(WireError::HeaderLength);
    }
    let packet = bytes.get(..total).ok_or(WireError::Truncated)?;
    let is_verified = checksums == Checksums::Verified;
    if is_verified && Sum::default().add(&packet[..header_bytes]).finish() != 0 {
        return Err(WireError::IpChecksum);
    }
    // More-fragments bit and fragment offset: every bit but "don't fragment" and the reserved one.
    if u16_at(fixed, 6) & 0x3fff != 0 {
        return Err(WireError::Fragment);
    }
    if fixed[9] != PROTOCOL_TCP {
        return Err(WireError::NotTcp);
    }
    let tcp = &packet[header_bytes..];
    // Pseudo-header (RFC 9293 §3.1): both addresses, protocol, TCP length.
    let pseudo = is_verified.then(|| {
        Sum::default()
            .add(&fixed[12..20])
            .add(&[0, PROTOCOL_TCP])
            .add(&(tcp.len() as u16).to_be_bytes())
    });
    let (mut segment, ports, payload) = parse_tcp(tcp, pseudo)?;
    segment.ecn = Ecn::from_bits(fixed[1]);
    let address = |at: usize| Ipv4Addr::from_bits(u32_at(fixed, at));
    Ok(Parsed {
        addresses: Addresses {
            source: SocketAddrV4::new(address(12), ports[0]),
            destination: SocketAddrV4::new(address(16), ports[1]),
        },
        segment,
        payload: payload.start + header_bytes..payload.end + header_bytes,
    })
}

/// Reads an IPv6 packet that carries a TCP segment directly after its fixed header; otherwise as
/// [`parse`].
///
/// # Errors
/// The first fault in the bytes; never panics.
pub fn parse_ipv6(bytes: &[u8]) -> Result<Parsed<SocketAddrV6>, WireError> {
    parse_ipv6_with(bytes, Checksums::Verified)
}

/// As [`parse_ipv6`], with a choice of whether the checksum is verified.
///
/// # Errors
/// As [`parse_ipv6`].
pub fn parse_ipv6_with(
    bytes: &[u8],
    checksums: Checksums,
) -> Result<Parsed<SocketAddrV6>, WireError> {
    let (header, rest) = bytes
        .split_first_chunk::<IPV6_HEADER_BYTES>()
        .ok_or(WireError::Truncated)?;
    if header[0] >> 4 != 6 {
        return Err(WireError::Version);
    }
    if header[6] != PROTOCOL_TCP {
        return Err(WireError::NotTcp);
    }
    let length = match (u16_at(header, 4), checksums) {
        (0, Checksums::Trusted) => rest.len(),
        (length, _) => usize::from(length),
    };
    let tcp = rest.get(..length).ok_or(WireError::Truncated)?;
    // Pseudo-header (RFC 8200 §8.1): both addresses, TCP length, next header.
    let pseudo = (checksums == Checksums::Verified).then(|| {
        Sum::default()
            .add(&header[8..40])
            .add(&header[4..6])
            .add(&[0, PROTOCOL_TCP])
    });
    let (mut segment, ports, payload) = parse_tcp(tcp, pseudo)?;
    // The traffic class lies across the first two bytes (RFC 8200 §3).
    segment.ecn = Ecn::from_bits(header[1] >> 4);
    let address = |at: usize| {
        let octets: [u8; 16] = core::array::from_fn(|index| header[at + index]);
        Ipv6Addr::from(octets)
    };
    Ok(Parsed {
        addresses: Addresses {
            source: SocketAddrV6::new(address(8), ports[0], 0, 0),
            destination: SocketAddrV6::new(address(24), ports[1], 0, 0),
        },
        segment,
        payload: payload.start + IPV6_HEADER_BYTES..payload.end + IPV6_HEADER_BYTES,
    })
}

/// Reads a TCP segment that fills `tcp`; `pseudo` is the sum over the pseudo-header, unless the
/// checksum is trusted. Returns the segment, the ports, and the range of the payload in `tcp`.
fn parse_tcp(
    tcp: &[u8],
    pseudo: Option<Sum>,
) -> Result<(Segment, [u16; 2], Range<usize>), WireError> {
    let header = parse_tcp_header(tcp)?;
    if header.bytes > tcp.len() {
        return Err(WireError::HeaderLength);
    }
    if pseudo.is_some_and(|pseudo| pseudo.add(tcp).finish() != 0) {
        return Err(WireError::TcpChecksum);
    }
    let mut segment = header.segment;
    segment.payload_bytes = (tcp.len() - header.bytes) as u32;
    Ok((segment, header.ports, header.bytes..tcp.len()))
}

/// Reads a TCP header from bytes that may be truncated, as in a capture with a snap length: no
/// checksum is verified, missing options are skipped, and the payload's length, which a TCP header
/// does not carry, is zero.
///
/// # Errors
/// Fewer than the fixed 20 bytes are there, or the header's length is below that.
#[inline]
pub fn parse_tcp_header(tcp: &[u8]) -> Result<TcpHeader, WireError> {
    let fixed: &[u8; TCP_HEADER_BYTES] = tcp.first_chunk().ok_or(WireError::Truncated)?;
    let bytes = usize::from(fixed[12] >> 4) * 4;
    let options = tcp
        .get(TCP_HEADER_BYTES..bytes.min(tcp.len()))
        .ok_or(WireError::HeaderLength)?;
    let mut flags = Flags::from_bits(fixed[13]);
    if fixed[12] & 1 == 1 {
        flags |= Flags::AE;
    }
    let mut segment = Segment {
        sequence: SequenceNumber(u32_at(fixed, 4)),
        acknowledgment: SequenceNumber(u32_at(fixed, 8)),
        window: u16_at(fixed, 14),
        flags,
        ..Segment::default()
    };
    parse_options(options, &mut segment);
    Ok(TcpHeader {
        segment,
        ports: [u16_at(fixed, 0), u16_at(fixed, 2)],
        bytes,
    })
}

/// Only timestamps, aligned as RFC 7323, appendix A, recommends: the options of most segments.
const ALIGNED_TIMESTAMPS: [u8; 4] = [option::NOP, option::NOP, option::TIMESTAMPS, 10];

/// Reads the `options` of a header into `segment`: the common layout in one comparison (as Linux,
/// `tcp_parse_aligned_timestamp`), others one by one.
#[inline]
fn parse_options(options: &[u8], segment: &mut Segment) {
    if let Some((usual, [])) = options.split_first_chunk::<12>()
        && usual[..4] == ALIGNED_TIMESTAMPS
    {
        segment.timestamps = Some(Timestamps {
            value: u32_at(usual, 4),
            echo: u32_at(usual, 8),
        });
    } else {
        parse_each_option(options, segment);
    }
}

/// Reads options in any order. A known option with a wrong length for its kind is skipped; after an
/// impossible length the next option cannot be found, and the rest is not read (RFC 9293 §3.1 has a
/// receiver be prepared for it; Linux, `tcp_parse_options`).
fn parse_each_option(mut options: &[u8], segment: &mut Segment) {
    while let Some((&kind, rest)) = options.split_first() {
        match kind {
            option::END => return,
            option::NOP => {
                options = rest;
                continue;
            }
            _ => {}
        }
        let Some(&length) = rest.first() else {
            return;
        };
        // The length counts kind and length themselves.
        let Some(value) = options.get(2..usize::from(length)) else {
            return;
        };
        parse_option(kind, value, segment);
        options = &options[usize::from(length)..];
    }
}

/// Reads one option's `value`, the bytes after kind and length, if its length is right for its
/// kind.
fn parse_option(kind: u8, value: &[u8], segment: &mut Segment) {
    match kind {
        option::MSS => {
            if let Ok(bytes) = value.try_into() {
                segment.mss = Some(u16::from_be_bytes(bytes));
            }
        }
        option::WINDOW_SCALE => {
            if let [shift] = value {
                segment.window_scale = Some(*shift);
            }
        }
        option::SACK_PERMITTED => segment.sack_permitted |= value.is_empty(),
        option::TIMESTAMPS => {
            if let Some((both, [])) = value.split_first_chunk::<8>() {
                segment.timestamps = Some(Timestamps {
                    value: u32_at(both, 0),
                    echo: u32_at(both, 4),
                });
            }
        }
        option::SACK => {
            if let Some(blocks) = parse_sack(value) {
                segment.tail = blocks.into();
            }
        }
        option::FAST_OPEN => parse_fast_open(value, segment, false),
        option::EXPERIMENT => {
            if let Some(cookie) = value.strip_prefix(&option::FAST_OPEN_MAGIC) {
                parse_fast_open(cookie, segment, true);
            }
            if let Some(ticks) = value.strip_prefix(&option::FORECAST_MAGIC) {
                parse_forecast(ticks, segment);
            }
        }
        _ => {}
    }
}

/// Reads the cookie of a SYN, or the request of one; elsewhere the option means nothing (Linux,
/// `tcp_parse_fastopen_option`).
#[cold]
fn parse_fast_open(cookie: &[u8], segment: &mut Segment, is_experimental: bool) {
    if !segment.flags.contains(Flags::SYN) {
        return;
    }
    let option = if cookie.is_empty() {
        Some(FastOpen::REQUEST)
    } else {
        FastOpen::cookie(cookie)
    };
    if let Some(option) = option {
        segment.set_fast_open(if is_experimental {
            option.experimental()
        } else {
            option
        });
    }
}

/// Reads a forecast, which no SYN has.
#[cold]
fn parse_forecast(ticks: &[u8], segment: &mut Segment) {
    if let Ok(ticks) = ticks.try_into()
        && !segment.flags.contains(Flags::SYN)
    {
        segment.set_forecast(Forecast::from_bytes(ticks));
    }
}

/// Reads the blocks of a SACK option: at least one (RFC 2018 §3), at most as many as fit.
fn parse_sack(value: &[u8]) -> Option<SackBlocks> {
    let (pairs, rest) = value.as_chunks::<8>();
    let mut blocks = SackBlocks::new();
    let all_fit = pairs.iter().all(|pair| {
        blocks.push(SackBlock {
            start: SequenceNumber(u32_at(pair, 0)),
            end: SequenceNumber(u32_at(pair, 4)),
        })
    });
    (all_fit && rest.is_empty() && !blocks.is_empty()).then_some(blocks)
}

/// The big-endian 16-bit number at `at`, within the fixed part of a header.
pub(super) fn u16_at<const BYTES: usize>(header: &[u8; BYTES], at: usize) -> u16 {
    u16::from_be_bytes([header[at], header[at + 1]])
}

/// The big-endian 32-bit number at `at`, within the fixed part of a header.
pub(super) fn u32_at<const BYTES: usize>(header: &[u8; BYTES], at: usize) -> u32 {
    u32::from_be_bytes(core::array::from_fn(|index| header[at + index]))
}
