//! Segments as packets' bytes, and a network's changes to them.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};

use airtcp_packet::Segment;
use airtcp_packet::wire::{Addresses, emit, emit_ipv6, parse, parse_ipv6};

use super::plan::Mangling;

const PORTS: [u16; 2] = [40_000, 5001];
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;
const URG_ECE_CWR: u8 = 0xe0;
/// The kind of the timestamps option (RFC 7323 §3.2).
const TIMESTAMPS: u8 = 8;

/// The codec of one connection, over IPv4 or IPv6.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    pub ipv6: bool,
}

impl Wire {
    fn ipv4(from: usize) -> Addresses<SocketAddrV4> {
        let address =
            |end: usize| SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, end as u8), PORTS[end]);
        Addresses {
            source: address(from),
            destination: address(1 - from),
        }
    }

    fn ipv6(from: usize) -> Addresses<SocketAddrV6> {
        let address = |end: usize| {
            let ip = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, end as u16);
            SocketAddrV6::new(ip, PORTS[end], 0, 0)
        };
        Addresses {
            source: address(from),
            destination: address(1 - from),
        }
    }

    /// The packet in which end `from` sends `segment`.
    pub fn pack(self, from: usize, segment: &Segment) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(segment.ip_bytes() as usize + 20);
        let written = if self.ipv6 {
            emit_ipv6(segment, &Self::ipv6(from), 1, &[], &mut bytes)
        } else {
            emit(segment, &Self::ipv4(from), 1, &[], &mut bytes)
        };
        written.unwrap_or_else(|error| panic!("{segment:?} cannot be written: {error}"));
        bytes
    }

    /// The segment in a packet for end `to`; `None` if the packet is damaged or another
    /// connection's.
    pub fn unpack(self, to: usize, bytes: &[u8]) -> Option<Segment> {
        if self.ipv6 {
            let parsed = parse_ipv6(bytes).ok()?;
            (parsed.addresses == Self::ipv6(1 - to)).then_some(parsed.segment)
        } else {
            let parsed = parse(bytes).ok()?;
            (parsed.addresses == Self::ipv4(1 - to)).then_some(parsed.segment)
        }
    }

    const fn ip_header(self) -> usize {
        if self.ipv6 { 40 } else { 20 }
    }

    /// Rewrites the options of a packet; leaves a packet unchanged to which that does not apply.
    pub fn mangle(self, bytes: &mut Vec<u8>, mangling: Mangling) {
        let tcp = self.ip_header();
        if bytes.len() < tcp + 20 {
            return;
        }
        let header = usize::from(bytes[tcp + 12] >> 4) * 4;
        if header < 20 || bytes.len() < tcp + header {
            return;
        }
        let flags = bytes[tcp + 13];
        let old = bytes[tcp + 20..tcp + header].to_vec();
        let mut options = old.clone();
        match mangling {
            Mangling::Pad { bytes: count } => {
                options.splice(0..0, std::iter::repeat_n(1, count));
            }
            Mangling::Unknown { bytes: length } => {
                let mut unknown = vec![0; usize::from(length)];
                // An experiment's kind (RFC 6994).
                (unknown[0], unknown[1]) = (253, length);
                options.splice(0..0, unknown);
            }
            Mangling::Malformed { length } => options.extend([254, length]),
            // The endpoint that answers a SYN has already decided on its options.
            Mangling::EndAtOnce if flags & (SYN | ACK) != SYN | ACK => options.insert(0, 0),
            Mangling::UrgentAndEcn { pointer } => {
                bytes[tcp + 13] |= URG_ECE_CWR;
                bytes[tcp + 18..tcp + 20].copy_from_slice(&pointer.to_be_bytes());
            }
            Mangling::StripFromSyn { kind } if flags & (SYN | ACK) == SYN => {
                for (at, length) in find(&options, kind) {
                    options[at..at + length].fill(1);
                }
            }
            Mangling::Mss { value } if flags & SYN != 0 => {
                for (at, _) in find(&options, 2) {
                    options[at + 2..at + 4].copy_from_slice(&value.to_be_bytes());
                }
            }
            Mangling::EndAtOnce | Mangling::StripFromSyn { .. } | Mangling::Mss { .. } => return,
        }
        while !options.len().is_multiple_of(4) {
            // Padding after the last option: END, followed only by zeros (RFC 9293 §3.1).
            options.push(0);
        }
        if options.len() <= 40 {
            bytes.splice(tcp + 20..tcp + header, options.iter().copied());
            let flag = bytes[tcp + 12] & 0x0f;
            bytes[tcp + 12] = (((20 + options.len()) / 4) << 4) as u8 | flag;
        }
        self.repair(bytes);
    }

    /// Flips one bit of the options of a packet that is not a SYN, with correct checksums. In an
    /// option with a value that moves a clock permanently (the timestamp sent, RFC 7323 §5.3) only
    /// the echo changes.
    pub fn flip_option(self, bytes: &mut [u8], bit: usize) {
        let tcp = self.ip_header();
        let header = usize::from(bytes[tcp + 12] >> 4) * 4;
        if bytes[tcp + 13] & SYN != 0 || header <= 20 {
            return;
        }
        let bit = bit % ((header - 20) * 8);
        let at = bit / 8;
        let stamps = find(&bytes[tcp + 20..tcp + header], TIMESTAMPS);
        if stamps
            .iter()
            .any(|&(start, _)| (start..start + 6).contains(&at))
        {
            return;
        }
        bytes[tcp + 20 + at] ^= 1 << (bit % 8);
        self.repair(bytes);
    }

    /// Corrects lengths and checksums.
    fn repair(self, bytes: &mut [u8]) {
        let tcp = self.ip_header();
        let length = (bytes.len() - tcp) as u16;
        let mut pseudo = u32::from(length) + 6;
        let addresses = if self.ipv6 {
            bytes[4..6].copy_from_slice(&length.to_be_bytes());
            8..40
        } else {
            let total = bytes.len() as u16;
            bytes[2..4].copy_from_slice(&total.to_be_bytes());
            bytes[10..12].fill(0);
            let sum = checksum(&bytes[..20], 0);
            bytes[10..12].copy_from_slice(&sum.to_be_bytes());
            12..20
        };
        for pair in bytes[addresses].chunks(2) {
            pseudo += u32::from(pair[0]) << 8 | u32::from(pair[1]);
        }
        bytes[tcp + 16..tcp + 18].fill(0);
        let sum = checksum(&bytes[tcp..], pseudo);
        bytes[tcp + 16..tcp + 18].copy_from_slice(&sum.to_be_bytes());
    }
}

/// Positions and lengths of the options of this kind, up to the first malformed one, which another
/// mangling of the same packet may have left.
fn find(options: &[u8], kind: u8) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < options.len() && options[at] != 0 {
        if options[at] == 1 {
            at += 1;
            continue;
        }
        let length = options.get(at + 1).map_or(0, |&length| usize::from(length));
        if length < 2 || at + length > options.len() {
            break;
        }
        if options[at] == kind {
            found.push((at, length));
        }
        at += length;
    }
    found
}

/// RFC 1071, word by word.
fn checksum(bytes: &[u8], before: u32) -> u16 {
    let mut sum = u64::from(before);
    for pair in bytes.chunks(2) {
        sum += u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or(0));
    }
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
