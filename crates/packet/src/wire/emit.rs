//! Segments to bytes.

use alloc::vec::Vec;
use core::net::SocketAddrV4;

use super::checksum::Sum;
use super::{Addresses, IPV4_HEADER_BYTES, Ipv6Addresses, PROTOCOL_TCP};
use super::{WireError, option};
use crate::{Flags, Forecast, Segment};

/// Hops a packet may take (RFC 1700 recommends 64, Linux's default).
const TIME_TO_LIVE: u8 = 64;

/// Content of TCP's checksum field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpChecksum {
    /// The checksum.
    Whole,
    /// The sum over the pseudo-header only: the device adds the rest, once for each packet that it
    /// cuts the payload into (Linux, `CHECKSUM_PARTIAL`; virtio 1.2 §5.1.6.2).
    PseudoHeader,
}

/// Appends `segment` to `out` as an IPv4 packet with correct checksums.
///
/// The payload is `segment.payload_bytes` long whatever the length of `payload`: more bytes are
/// left out, missing ones are zero, so that a simulator that moves only lengths passes `&[]`.
/// `identification` is the IPv4 header's field of that name (RFC 791 §3.1).
///
/// # Errors
/// [`WireError::TooLong`] when the packet would not fit the 65 535 bytes of IPv4; `out` is then
/// unchanged.
pub fn emit(
    segment: &Segment,
    addresses: &Addresses<SocketAddrV4>,
    identification: u16,
    payload: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), WireError> {
    let pieces = [payload, &[]];
    let checksum = TcpChecksum::Whole;
    emit_pieces(segment, addresses, identification, pieces, checksum, out)
}

/// As [`emit`], with a payload in two pieces, as a ring buffer holds it, and a choice of the
/// content of the checksum field.
///
/// # Errors
/// As [`emit`].
pub fn emit_pieces(
    segment: &Segment,
    addresses: &Addresses<SocketAddrV4>,
    identification: u16,
    payload: [&[u8]; 2],
    checksum: TcpChecksum,
    out: &mut Vec<u8>,
) -> Result<(), WireError> {
    emit_headers(segment, addresses, identification, payload, checksum, out)?;
    append(payload, segment.payload_bytes as usize, out);
    Ok(())
}

/// As [`emit_pieces`], but the payload is summed up and not appended: for devices that gather a
/// packet from scattered buffers.
///
/// # Errors
/// As [`emit`].
pub fn emit_headers(
    segment: &Segment,
    addresses: &Addresses<SocketAddrV4>,
    identification: u16,
    payload: [&[u8]; 2],
    checksum: TcpChecksum,
    out: &mut Vec<u8>,
) -> Result<(), WireError> {
    let total = u16::try_from(segment.ip_bytes()).map_err(|_| WireError::TooLong)?;
    let (source, destination) = (addresses.source, addresses.destination);
    let start = out.len();
    // Version 4 and a header of five words; no differentiated services, and the ECN field.
    out.extend([0x45, segment.ecn.bits()]);
    out.extend(total.to_be_bytes());
    out.extend(identification.to_be_bytes());
    // Don't fragment, offset 0; the checksum follows once the header is there.
    out.extend([0x40, 0, TIME_TO_LIVE, PROTOCOL_TCP, 0, 0]);
    out.extend(source.ip().octets());
    out.extend(destination.ip().octets());
    let header = Sum::default().add(&out[start..]).finish();
    out[start + 10..start + 12].copy_from_slice(&header.to_be_bytes());

    // Pseudo-header (RFC 9293 §3.1): addresses, protocol, TCP length.
    let pseudo = Sum::default()
        .add(&source.ip().octets())
        .add(&destination.ip().octets())
        .add(&[0, PROTOCOL_TCP])
        .add(&(total - IPV4_HEADER_BYTES as u16).to_be_bytes());
    emit_tcp(
        segment,
        [source.port(), destination.port()],
        pseudo,
        payload,
        checksum,
        out,
    );
    Ok(())
}

/// Appends `segment` to `out` as an IPv6 packet with a correct checksum. `flow_label` uses its low
/// 20 bits (RFC 6437). The payload is written as by [`emit`].
///
/// # Errors
/// [`WireError::TooLong`] when the TCP segment would not fit the 65 535 bytes of IPv6's payload
/// length; `out` is then unchanged.
pub fn emit_ipv6(
    segment: &Segment,
    addresses: &Ipv6Addresses,
    flow_label: u32,
    payload: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), WireError> {
    let pieces = [payload, &[]];
    let checksum = TcpChecksum::Whole;
    emit_pieces_ipv6(segment, addresses, flow_label, pieces, checksum, out)
}

/// As [`emit_ipv6`], with a payload in two pieces and a choice of the content of the checksum
/// field.
///
/// # Errors
/// As [`emit_ipv6`].
pub fn emit_pieces_ipv6(
    segment: &Segment,
    addresses: &Ipv6Addresses,
    flow_label: u32,
    payload: [&[u8]; 2],
    checksum: TcpChecksum,
    out: &mut Vec<u8>,
) -> Result<(), WireError> {
    emit_headers_ipv6(segment, addresses, flow_label, payload, checksum, out)?;
    append(payload, segment.payload_bytes as usize, out);
    Ok(())
}

/// As [`emit_pieces_ipv6`], but for the payload: see [`emit_headers`].
///
/// # Errors
/// As [`emit_ipv6`].
pub fn emit_headers_ipv6(
    segment: &Segment,
    addresses: &Ipv6Addresses,
    flow_label: u32,
    payload: [&[u8]; 2],
    checksum: TcpChecksum,
    out: &mut Vec<u8>,
) -> Result<(), WireError> {
    let length = segment.header_bytes().saturating_add(segment.payload_bytes);
    let length = u16::try_from(length).map_err(|_| WireError::TooLong)?;
    let (source, destination) = (addresses.source, addresses.destination);
    // Version 6, the ECN field in the traffic class, flow label.
    let ecn = u32::from(segment.ecn.bits()) << 20;
    out.extend((0x6000_0000 + ecn + (flow_label & 0x000f_ffff)).to_be_bytes());
    out.extend(length.to_be_bytes());
    out.extend([PROTOCOL_TCP, TIME_TO_LIVE]);
    out.extend(source.ip().octets());
    out.extend(destination.ip().octets());

    // Pseudo-header (RFC 8200 §8.1): addresses, TCP length, next header.
    let pseudo = Sum::default()
        .add(&source.ip().octets())
        .add(&destination.ip().octets())
        .add(&length.to_be_bytes())
        .add(&[0, PROTOCOL_TCP]);
    emit_tcp(
        segment,
        [source.port(), destination.port()],
        pseudo,
        payload,
        checksum,
        out,
    );
    Ok(())
}

/// Appends TCP header and options; `pseudo` is the sum over the pseudo-header.
fn emit_tcp(
    segment: &Segment,
    ports: [u16; 2],
    pseudo: Sum,
    payload: [&[u8]; 2],
    checksum: TcpChecksum,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    for port in ports {
        out.extend(port.to_be_bytes());
    }
    out.extend(segment.sequence.0.to_be_bytes());
    out.extend(segment.acknowledgment.0.to_be_bytes());
    // The header's length counts words and is the high half of its byte; the lowest bit is a flag.
    let accurate = u8::from(segment.flags.contains(Flags::AE));
    out.push(((segment.header_bytes() / 4) << 4) as u8 | accurate);
    out.push(segment.flags.bits());
    out.extend(segment.window.to_be_bytes());
    // The checksum follows at the end; the urgent pointer is not used.
    out.extend([0; 4]);
    emit_options(segment, out);
    let checksum = match checksum {
        TcpChecksum::Whole => {
            // Missing payload bytes are zero and add nothing.
            let [first, second] = cut(payload, segment.payload_bytes as usize);
            let headers = pseudo.add(&out[start..]);
            headers.add(first).add_behind(first.len(), second).finish()
        }
        TcpChecksum::PseudoHeader => !pseudo.finish(),
    };
    out[start + 16..start + 18].copy_from_slice(&checksum.to_be_bytes());
}

/// The first `length` bytes of `payload`.
fn cut(payload: [&[u8]; 2], length: usize) -> [&[u8]; 2] {
    let [first, second] = payload;
    let first = &first[..first.len().min(length)];
    [first, &second[..second.len().min(length - first.len())]]
}

/// Appends `length` bytes: the bytes of `payload`, then zeros.
fn append(payload: [&[u8]; 2], length: usize, out: &mut Vec<u8>) {
    let end = out.len() + length;
    for piece in cut(payload, length) {
        out.extend(piece);
    }
    out.resize(end, 0);
}

/// Appends the options in the order and with the padding of Linux: maximum segment size,
/// timestamps (padded by SACK-permitted or two NOPs), window scale, SACK or Fast Open. A forecast
/// follows the SACK blocks.
fn emit_options(segment: &Segment, out: &mut Vec<u8>) {
    const SACK_PERMITTED: [u8; 2] = [option::SACK_PERMITTED, option::SACK_PERMITTED_BYTES];
    const PADDING: [u8; 2] = [option::NOP; 2];
    if let Some(mss) = segment.mss {
        out.extend([option::MSS, option::MSS_BYTES]);
        out.extend(mss.to_be_bytes());
    }
    if let Some(timestamps) = segment.timestamps {
        out.extend(if segment.sack_permitted {
            SACK_PERMITTED
        } else {
            PADDING
        });
        out.extend([option::TIMESTAMPS, option::TIMESTAMPS_BYTES]);
        out.extend(timestamps.value.to_be_bytes());
        out.extend(timestamps.echo.to_be_bytes());
    } else if segment.sack_permitted {
        out.extend(PADDING);
        out.extend(SACK_PERMITTED);
    }
    if let Some(shift) = segment.window_scale {
        out.extend([
            option::NOP,
            option::WINDOW_SCALE,
            option::WINDOW_SCALE_BYTES,
            shift,
        ]);
    }
    let blocks = &segment.tail.blocks()[..segment.sack_blocks_on_wire()];
    if !blocks.is_empty() {
        let length = option::SACK_HEAD_BYTES + option::SACK_BLOCK_BYTES * blocks.len() as u8;
        out.extend(PADDING);
        out.extend([option::SACK, length]);
        for block in blocks {
            out.extend(block.start.0.to_be_bytes());
            out.extend(block.end.0.to_be_bytes());
        }
    }
    if let Some(fast_open) = segment.fast_open_on_wire() {
        let length = fast_open.option_bytes();
        if fast_open.is_experimental() {
            out.extend([option::EXPERIMENT, length]);
            out.extend(option::FAST_OPEN_MAGIC);
        } else {
            out.extend([option::FAST_OPEN, length]);
        }
        out.extend(fast_open.as_slice());
        let padding = length.next_multiple_of(4) - length;
        out.extend(&[option::NOP; 3][..usize::from(padding)]);
    }
    if let Some(forecast) = segment.tail.forecast() {
        out.extend([option::EXPERIMENT, Forecast::OPTION_BYTES]);
        out.extend(option::FORECAST_MAGIC);
        out.extend(forecast.to_bytes());
    }
}
