//! The classic BPF program that selects the packets passed to the gateway by a packet socket: it
//! runs over the packet from its IP header on.

/// An instruction: code, jumps if true and if false, and a number (linux/filter.h).
pub type Instruction = (u16, u8, u8, u32);

const LOAD_BYTE: u16 = 0x30;
const LOAD_HALF: u16 = 0x28;
const LOAD_WORD: u16 = 0x20;
const LOAD_BYTE_AT_X: u16 = 0x50;
/// X = four times the low nibble of a byte: the length of an IPv4 header.
const LOAD_X_HEADER: u16 = 0xb1;
const LOAD_X_CONSTANT: u16 = 0x01;
const IF_EQUAL: u16 = 0x15;
const IF_AT_LEAST: u16 = 0x35;
const IF_SET: u16 = 0x45;
const RETURN: u16 = 0x06;

/// Number of bytes that the kernel copies of a packet: IPv6 and TCP headers with all options.
pub const SNAP_BYTES: u32 = 120;

/// SYN, FIN and RST (RFC 9293 §3.1).
const OF_THE_CONNECTION: u32 = 0x07;
const TCP: u32 = 6;

/// Selected TCP segments. SYN, FIN and RST segments, segments without ACK, fragments and segments
/// after IPv6 extension headers are never selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segments {
    /// Segments without payload.
    PureAcks,
    /// All.
    All,
}

/// A jump to the last instruction, which rejects.
const REFUSE: u8 = u8::MAX;
/// A jump to the one before it, which accepts.
const TAKE: u8 = u8::MAX - 1;

fn resolved(mut body: Vec<Instruction>) -> Vec<Instruction> {
    let last = body.len() - 1;
    for (place, (code, yes, no, _)) in body.iter_mut().enumerate() {
        if [IF_EQUAL, IF_AT_LEAST, IF_SET].contains(code) {
            // The whole program is shorter than the maximum jump.
            let ahead = (last - place - 1) as u8;
            for jump in [yes, no] {
                match *jump {
                    REFUSE => *jump = ahead,
                    TAKE => *jump = ahead - 1,
                    _ => {}
                }
            }
        }
    }
    body
}

/// Minimum length of an IP packet, headers and payload, with a bulk segment: headers with all
/// options have at most 120 bytes.
const BULK_BYTES: u32 = 512;

/// The program for a packet socket without link headers: every TCP packet, cut to its headers; of
/// bulk segments one in `one_in`, a power of two, at random in the kernel. Packets with a VLAN tag
/// left in place by the device are accepted for closer inspection.
pub fn tap(one_in: u32) -> Vec<Instruction> {
    /// Loads half a word of metadata: its protocol (linux/filter.h, SKF_AD_PROTOCOL).
    const PROTOCOL: u32 = 0xffff_f000;
    /// A random word (SKF_AD_RANDOM).
    const RANDOM: u32 = PROTOCOL + 56;
    let mut body = vec![
        (LOAD_HALF, 0, 0, PROTOCOL),
        (IF_EQUAL, 3, 0, 0x0800),
        (IF_EQUAL, 7, 0, 0x86dd),
        (IF_EQUAL, TAKE, 0, 0x8100),
        (RETURN, 0, 0, 0),
        (LOAD_BYTE, 0, 0, 9),
        (IF_EQUAL, 0, REFUSE, TCP),
        (LOAD_X_HEADER, 0, 0, 0),
        (LOAD_HALF, 0, 0, 2),
        (IF_AT_LEAST, 5, TAKE, BULK_BYTES),
        (LOAD_BYTE, 0, 0, 6),
        (IF_EQUAL, 0, REFUSE, TCP),
        (LOAD_X_CONSTANT, 0, 0, 40),
        (LOAD_HALF, 0, 0, 4),
        (IF_AT_LEAST, 0, TAKE, BULK_BYTES - 40),
        (LOAD_BYTE_AT_X, 0, 0, 13),
        (IF_SET, TAKE, 0, OF_THE_CONNECTION),
        (LOAD_WORD, 0, 0, RANDOM),
        (IF_SET, REFUSE, 0, one_in - 1),
    ];
    body.push((RETURN, 0, 0, SNAP_BYTES));
    body.push((RETURN, 0, 0, 0));
    resolved(body)
}

/// Whether [`tap`] samples a packet.
pub fn is_bulk(packet: &[u8]) -> bool {
    let half = |at: usize| {
        packet
            .get(at..at + 2)
            .map(|two| u16::from_be_bytes([two[0], two[1]]))
    };
    let (length, tcp) = match packet.first().map(|first| (first >> 4, first & 0xf)) {
        Some((4, words)) => (half(2).map(u32::from), 4 * usize::from(words)),
        Some((6, _)) => (half(4).map(|payload| u32::from(payload) + 40), 40),
        _ => return false,
    };
    let flags = packet.get(tcp + 13).copied().map(u32::from);
    length.is_some_and(|length| length >= BULK_BYTES)
        && flags.is_some_and(|flags| flags & OF_THE_CONNECTION == 0)
}

/// Runs a program over a packet like the kernel, for tests; returns its result. The kernel's random
/// word is `random`.
#[cfg(test)]
fn run_with(program: &[Instruction], packet: &[u8], protocol: u16, random: u32) -> u32 {
    let (mut a, mut x, mut place) = (0_u32, 0_u32, 0_usize);
    let byte = |at: u32| packet.get(at as usize).copied().map(u32::from);
    let half = |at: u32| Some(byte(at)? << 8 | byte(at + 1)?);
    loop {
        let (code, yes, no, k) = program[place];
        place += 1;
        let loaded = match code {
            LOAD_BYTE => byte(k),
            LOAD_BYTE_AT_X => byte(x + k),
            LOAD_HALF if k == 0xffff_f000 => Some(u32::from(protocol)),
            LOAD_HALF => half(k),
            LOAD_WORD => Some(random),
            _ => Some(a),
        };
        // A load from beyond the packet ends the program (Documentation/networking/filter.rst).
        let Some(loaded) = loaded else {
            return 0;
        };
        a = loaded;
        match code {
            LOAD_X_HEADER => x = 4 * (byte(k).unwrap_or(0) & 0xf),
            LOAD_X_CONSTANT => x = k,
            IF_EQUAL => place += usize::from(if a == k { yes } else { no }),
            IF_AT_LEAST => place += usize::from(if a >= k { yes } else { no }),
            IF_SET => place += usize::from(if a & k != 0 { yes } else { no }),
            RETURN => return k,
            _ => {}
        }
    }
}

/// As [`run_with`], without a random word.
#[cfg(test)]
pub fn run(program: &[Instruction], packet: &[u8], protocol: u16) -> u32 {
    run_with(program, packet, protocol, 0)
}

#[cfg(test)]
mod tests {
    use airtcp_packet::wire::{Addresses, emit, emit_ipv6};
    use airtcp_packet::{Flags, Segment, Timestamps};

    use super::*;

    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Version {
        V4,
        V6,
    }

    fn packet(version: Version, flags: Flags, payload_bytes: u32, stamped: bool) -> Vec<u8> {
        let segment = Segment {
            flags,
            payload_bytes,
            timestamps: stamped.then(Timestamps::default),
            ..Segment::default()
        };
        let mut bytes = Vec::new();
        match version {
            Version::V4 => {
                let addresses = Addresses {
                    source: "10.0.0.1:1".parse().unwrap(),
                    destination: "10.0.0.2:2".parse().unwrap(),
                };
                emit(&segment, &addresses, 1, &[], &mut bytes).unwrap();
            }
            Version::V6 => {
                let addresses = Addresses {
                    source: "[fd00::1]:1".parse().unwrap(),
                    destination: "[fd00::2]:2".parse().unwrap(),
                };
                emit_ipv6(&segment, &addresses, 1, &[], &mut bytes).unwrap();
            }
        }
        bytes
    }

    #[test]
    fn the_tap_takes_tcp_and_tags() {
        let (ipv4, ipv6) = (
            packet(Version::V4, Flags::SYN, 0, true),
            packet(Version::V6, Flags::SYN, 0, true),
        );
        assert_eq!(run(&tap(1), &ipv4, 0x0800), SNAP_BYTES);
        assert_eq!(run(&tap(1), &ipv6, 0x86dd), SNAP_BYTES);
        assert_eq!(run(&tap(1), &ipv4, 0x8100), SNAP_BYTES);
        assert_eq!(run(&tap(1), &ipv6, 0x0800), 0);
        assert_eq!(run(&tap(1), &ipv4, 0x0806), 0);
    }

    /// Only bulk segments are sampled, and the filter and the gateway agree on them, with options
    /// of IPv4 and without.
    #[test]
    fn the_tap_leaves_out_bulk_segments_only() {
        for (version, protocol) in [(Version::V4, 0x0800), (Version::V6, 0x86dd)] {
            for payload in [0, 1, 451, 452, 467, 468, 1400] {
                for flags in [Flags::ACK, Flags::ACK | Flags::FIN, Flags::RST, Flags::SYN] {
                    let mut packet = packet(version, flags, payload, false);
                    if version == Version::V4 {
                        packet.splice(20..20, [1; 4]);
                        packet[0] += 1;
                        let total = u16::try_from(packet.len()).unwrap().to_be_bytes();
                        packet[2..4].copy_from_slice(&total);
                    }
                    let is_large = packet.len() >= BULK_BYTES as usize;
                    assert_eq!(is_bulk(&packet), is_large && flags == Flags::ACK);
                    for (one_in, random, taken) in [
                        (1, 7, true),
                        (8, 7, false),
                        (8, 8, true),
                        (8, 9, false),
                        (8, 16, true),
                    ] {
                        let found = run_with(&tap(one_in), &packet, protocol, random) != 0;
                        assert_eq!(found, taken || !is_bulk(&packet), "{payload} {flags:?}");
                    }
                }
            }
        }
        for cut in 0..60 {
            is_bulk(&packet(Version::V4, Flags::ACK, 1000, true)[..cut]);
        }
    }
}
