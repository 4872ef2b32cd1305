//! The codec against packets of the Linux kernel, against every kind of damage, and against itself.

mod captured;
mod fast_open;
mod forecast;
mod random;

use std::net::{SocketAddrV4, SocketAddrV6};

use proptest::prelude::*;

use super::*;
use crate::{Ecn, Flags, SackBlock, SequenceNumber, TailOptions, Timestamps};
use captured::Captured;

impl Captured {
    fn bytes(&self) -> Vec<u8> {
        let digit = |at: usize| (self.hex.as_bytes()[at] as char).to_digit(16).unwrap() as u8;
        (0..self.hex.len())
            .step_by(2)
            .map(|at| digit(at) << 4 | digit(at + 1))
            .collect()
    }

    fn addresses<A: std::str::FromStr<Err: fmt::Debug>>(&self) -> Addresses<A> {
        Addresses {
            source: self.source.parse().unwrap(),
            destination: self.destination.parse().unwrap(),
        }
    }
}

#[test]
fn reads_what_the_kernel_wrote_over_ipv4() {
    for captured in captured::IPV4 {
        let bytes = captured.bytes();
        let parsed = parse(&bytes).unwrap();
        assert_eq!(parsed.segment, (captured.segment)());
        assert_eq!(parsed.addresses, captured.addresses());
        assert_eq!(&bytes[parsed.payload], captured.payload);
    }
}

#[test]
fn writes_what_the_kernel_wrote_over_ipv4() {
    for captured in captured::IPV4 {
        let segment = (captured.segment)();
        let mut out = vec![0xaa; 3];
        let identification = captured.identification as u16;
        emit(
            &segment,
            &captured.addresses(),
            identification,
            captured.payload,
            &mut out,
        )
        .unwrap();
        assert_eq!(out[..3], [0xaa; 3], "what was there stays");
        assert_eq!(out[3..], captured.bytes());
        assert_eq!(segment.header_bytes(), captured.header_bytes);
        assert_eq!(segment.ip_bytes(), captured.ip_bytes);
    }
}

#[test]
fn reads_what_the_kernel_wrote_over_ipv6() {
    for captured in captured::IPV6 {
        let bytes = captured.bytes();
        let parsed = parse_ipv6(&bytes).unwrap();
        assert_eq!(parsed.segment, (captured.segment)());
        assert_eq!(parsed.addresses, captured.addresses());
        assert_eq!(&bytes[parsed.payload], captured.payload);
    }
}

#[test]
fn writes_what_the_kernel_wrote_over_ipv6() {
    for captured in captured::IPV6 {
        let segment = (captured.segment)();
        let mut out = vec![0xaa; 3];
        let label = captured.identification;
        emit_ipv6(
            &segment,
            &captured.addresses(),
            label,
            captured.payload,
            &mut out,
        )
        .unwrap();
        assert_eq!(out[..3], [0xaa; 3], "what was there stays");
        assert_eq!(out[3..], captured.bytes());
        assert_eq!(segment.header_bytes(), captured.header_bytes);
        assert_eq!(
            segment.header_bytes() + 40 + segment.payload_bytes,
            captured.ip_bytes
        );
    }
}

/// The internet checksum detects every single-bit error (RFC 1071 §1: a change of one word changes
/// the sum). IPv6 leaves traffic class, flow label and hop limit without any checksum (RFC 8200
/// §8.1), and they are not part of a segment but for the class's last two bits, the ECN field.
#[test]
fn every_flipped_bit_is_detected() {
    for captured in captured::IPV4 {
        for bit in 0..captured.bytes().len() * 8 {
            let mut bytes = captured.bytes();
            bytes[bit / 8] ^= 0x80 >> (bit % 8);
            assert!(parse(&bytes).is_err(), "{}: bit {bit}", captured.hex);
        }
    }
    for captured in captured::IPV6 {
        let whole = parse_ipv6(&captured.bytes());
        for bit in 0..captured.bytes().len() * 8 {
            let mut bytes = captured.bytes();
            bytes[bit / 8] ^= 0x80 >> (bit % 8);
            let parsed = parse_ipv6(&bytes);
            if (10..12).contains(&bit) {
                // Lower bits are to the right.
                let flipped = 1 << (11 - bit);
                let mut expected = whole.clone().unwrap();
                expected.segment.ecn = Ecn::from_bits(expected.segment.ecn.bits() ^ flipped);
                assert_eq!(parsed, Ok(expected), "{}: bit {bit}", captured.hex);
            } else if (4..32).contains(&bit) || bit / 8 == 7 {
                assert_eq!(parsed, whole, "{}: bit {bit}", captured.hex);
            } else {
                assert!(parsed.is_err(), "{}: bit {bit}", captured.hex);
            }
        }
    }
}

#[test]
fn every_cut_is_detected() {
    for captured in captured::IPV4 {
        let bytes = captured.bytes();
        for length in 0..bytes.len() {
            assert_eq!(
                parse(&bytes[..length]),
                Err(WireError::Truncated),
                "{length}"
            );
        }
    }
    for captured in captured::IPV6 {
        let bytes = captured.bytes();
        for length in 0..bytes.len() {
            assert_eq!(
                parse_ipv6(&bytes[..length]),
                Err(WireError::Truncated),
                "{length}"
            );
        }
    }
}

/// Ethernet pads short frames to 60 bytes (IEEE 802.3 §3.2.8).
#[test]
fn padding_behind_the_packet_is_ignored() {
    let mut bytes = captured::IPV4[2].bytes();
    let whole = parse(&bytes).unwrap();
    bytes.extend([0x55; 7]);
    assert_eq!(parse(&bytes), Ok(whole));
    let mut bytes = captured::IPV6[1].bytes();
    let whole = parse_ipv6(&bytes).unwrap();
    bytes.extend([0x55; 7]);
    assert_eq!(parse_ipv6(&bytes), Ok(whole));
}

/// Puts `bytes` in place of the ones at `at` and corrects both checksums, with the sums of RFC 1071
/// written out independently.
fn altered(packet: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut packet = packet.to_vec();
    packet[at..at + bytes.len()].copy_from_slice(bytes);
    let header = usize::from(packet[0] & 15) * 4;
    packet[10..12].fill(0);
    let sum = ones_complement(&packet[..header.min(packet.len())]);
    packet[10..12].copy_from_slice(&(!sum).to_be_bytes());
    if packet.len() >= header + 18 {
        packet[header + 16..header + 18].fill(0);
        let mut covered = packet[12..20].to_vec();
        covered.extend([0, 6]);
        covered.extend(((packet.len() - header) as u16).to_be_bytes());
        covered.extend(&packet[header..]);
        let sum = ones_complement(&covered);
        packet[header + 16..header + 18].copy_from_slice(&(!sum).to_be_bytes());
    }
    packet
}

/// The sum of RFC 1071 §1, folding each carry at once.
fn ones_complement(bytes: &[u8]) -> u16 {
    bytes.chunks(2).fold(0_u16, |sum, word| {
        let word = u16::from_be_bytes([word[0], *word.get(1).unwrap_or(&0)]);
        let (sum, carry) = sum.overflowing_add(word);
        sum + u16::from(carry)
    })
}

/// A captured packet without its IPv6 twin: data of six bytes with timestamps.
fn data() -> Vec<u8> {
    captured::IPV4[2].bytes()
}

#[test]
fn each_field_of_the_ip_header_is_checked() {
    let data = data();
    assert_eq!(
        altered(&data, 0, &[]),
        data,
        "the captured checksums are the ones written here"
    );
    let cases: &[(usize, &[u8], Result<(), WireError>)] = &[
        (0, &[0x55], Err(WireError::Version)),
        (0, &[0x05], Err(WireError::Version)),
        (0, &[0x44], Err(WireError::HeaderLength)),
        (2, &[0, 19], Err(WireError::HeaderLength)),
        // A header of 15 words in a packet of one byte less.
        (0, &[0x4f, 0, 0, 59], Err(WireError::HeaderLength)),
        // Nothing but the IP header, or a TCP header cut by one byte.
        (2, &[0, 20], Err(WireError::Truncated)),
        (2, &[0, 39], Err(WireError::Truncated)),
        // One byte more than there is.
        (2, &[0, data.len() as u8 + 1], Err(WireError::Truncated)),
        // Differentiated services and ECN (RFC 2474, RFC 3168), time to live, "may fragment",
        // the reserved bit: all legal.
        (1, &[0xbb], Ok(())),
        (8, &[1], Ok(())),
        (6, &[0x00], Ok(())),
        (6, &[0x80], Ok(())),
        // More fragments; lowest and highest bit of the offset.
        (6, &[0x20], Err(WireError::Fragment)),
        (7, &[0x01], Err(WireError::Fragment)),
        (6, &[0x10], Err(WireError::Fragment)),
        // UDP.
        (9, &[17], Err(WireError::NotTcp)),
    ];
    for &(at, bytes, expected) in cases {
        let packet = altered(&data, at, bytes);
        assert_eq!(parse(&packet).map(|_| ()), expected, "{bytes:02x?} at {at}");
    }
    let mut packet = data.clone();
    packet[10] ^= 1;
    assert_eq!(parse(&packet), Err(WireError::IpChecksum));
    let mut packet = data;
    packet[36] ^= 1;
    assert_eq!(parse(&packet), Err(WireError::TcpChecksum));
}

#[test]
fn each_field_of_the_ipv6_header_is_checked() {
    let data = captured::IPV6[1].bytes();
    let altered = |at: usize, byte: u8| {
        let mut packet = data.clone();
        packet[at] = byte;
        parse_ipv6(&packet).map(|_| ())
    };
    assert_eq!(altered(0, 0x45), Err(WireError::Version));
    assert_eq!(altered(6, 0), Err(WireError::NotTcp));
    assert_eq!(altered(5, data.len() as u8 - 39), Err(WireError::Truncated));
    assert_eq!(altered(5, 19), Err(WireError::Truncated));
    assert_eq!(altered(5, 31), Err(WireError::HeaderLength));
    assert_eq!(altered(5, 32), Err(WireError::TcpChecksum));
    assert_eq!(altered(39, 0xee), Err(WireError::TcpChecksum));
}

/// RFC 791 §3.1: options lengthen the header; a router alert (RFC 2113) is four bytes.
#[test]
fn ipv4_options_are_skipped() {
    let data = data();
    let mut packet = data.clone();
    packet.splice(20..20, [0x94, 4, 0, 0]);
    let packet = altered(&packet, 0, &[0x46, 0, 0, packet.len() as u8]);
    let (with, without) = (parse(&packet).unwrap(), parse(&data).unwrap());
    assert_eq!(with.segment, without.segment);
    assert_eq!(with.addresses, without.addresses);
    assert_eq!(packet[with.payload], data[without.payload]);
}

/// Parses the captured data packet with its twelve bytes of options replaced.
fn with_options(options: [u8; 12]) -> Result<Segment, WireError> {
    parse(&altered(&data(), 40, &options)).map(|parsed| parsed.segment)
}

/// Linux, `tcp_parse_options`: an option is no reason to drop a segment.
#[test]
fn a_malformed_option_is_skipped_and_the_segment_stays() {
    let bare = Segment {
        timestamps: None,
        ..(captured::IPV4[2].segment)()
    };
    let scaled = Segment {
        window_scale: Some(9),
        ..bare
    };
    let cases = [
        // No length byte; a length below two; one past the header's end: options before it count,
        // and nothing after it.
        ([3, 3, 9, 1, 1, 1, 1, 1, 1, 1, 1, 2], scaled),
        ([2, 0, 1, 3, 3, 9, 1, 1, 1, 1, 1, 1], bare),
        ([2, 1, 1, 3, 3, 9, 1, 1, 1, 1, 1, 1], bare),
        ([3, 3, 9, 253, 1, 1, 1, 1, 1, 1, 1, 1], scaled),
        ([253, 13, 1, 3, 3, 9, 1, 1, 1, 1, 1, 1], bare),
        ([3, 3, 9, 1, 1, 1, 1, 1, 1, 2, 4, 5], scaled),
        // Known kinds, one byte short and one too long: options after it count.
        ([2, 3, 5, 3, 3, 9, 1, 1, 1, 1, 1, 1], scaled),
        ([2, 5, 5, 5, 5, 3, 3, 9, 1, 1, 1, 1], scaled),
        ([3, 2, 3, 3, 9, 1, 1, 1, 1, 1, 1, 1], scaled),
        ([3, 4, 7, 7, 3, 3, 9, 1, 1, 1, 1, 1], scaled),
        ([4, 3, 1, 3, 3, 9, 1, 1, 1, 1, 1, 1], scaled),
        ([8, 9, 0, 0, 0, 1, 0, 0, 0, 3, 3, 9], scaled),
        ([8, 11, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1], bare),
        // SACK without a block, and with a block and a bit.
        ([5, 2, 3, 3, 9, 1, 1, 1, 1, 1, 1, 1], scaled),
        ([5, 9, 0, 0, 0, 1, 0, 0, 0, 3, 3, 9], scaled),
        ([5, 11, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1], bare),
    ];
    for (options, expected) in cases {
        assert_eq!(with_options(options), Ok(expected), "{options:?}");
    }
}

#[test]
fn options_are_read_in_any_order() {
    let bare = Segment {
        timestamps: None,
        ..(captured::IPV4[2].segment)()
    };
    let mss = Segment {
        mss: Some(0x0102),
        ..bare
    };
    let scaled = Segment {
        window_scale: Some(9),
        ..bare
    };
    let block = SackBlock {
        start: SequenceNumber(0x01020304),
        end: SequenceNumber(0x05060708),
    };
    let mut tail = TailOptions::default();
    tail.push(block);
    let accepted = [
        // Padding only; the end of the list, after which nothing counts.
        ([1; 12], bare),
        ([0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], bare),
        ([1, 0, 2, 4, 1, 2, 0, 0, 0, 0, 0, 0], bare),
        // Unknown kinds of the shortest and the longest length (RFC 6994 reserves 253).
        ([253, 2, 2, 4, 1, 2, 0, 0, 0, 0, 0, 0], mss),
        ([253, 12, 2, 4, 1, 2, 0, 0, 0, 0, 0, 0], bare),
        ([1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 1, 2], mss),
        // The last one of two counts.
        ([2, 4, 7, 7, 2, 4, 1, 2, 0, 0, 0, 0], mss),
        ([3, 3, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1], scaled),
        (
            [1, 4, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1],
            Segment {
                sack_permitted: true,
                ..bare
            },
        ),
        (
            [5, 10, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0],
            Segment { tail, ..bare },
        ),
        (
            [1, 8, 10, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 1],
            Segment {
                timestamps: Some(Timestamps {
                    value: 0x1122_3344,
                    echo: 0x5566_7788,
                }),
                ..bare
            },
        ),
    ];
    for (options, expected) in accepted {
        assert_eq!(with_options(options), Ok(expected), "{options:?}");
    }
}

#[test]
fn the_tcp_header_length_is_checked() {
    let data = data();
    let words = |count: u8| parse(&altered(&data, 32, &[count << 4])).map(|parsed| parsed.segment);
    assert_eq!(words(4), Err(WireError::HeaderLength));
    assert_eq!(words(15), Err(WireError::HeaderLength));
    // All options become payload.
    let segment = words(5).unwrap();
    assert_eq!((segment.payload_bytes, segment.timestamps), (18, None));
    // The four low bits are reserved or RFC 3540's, and not read.
    assert!(parse(&altered(&data, 32, &[0x8f])).is_ok());
    // The urgent pointer is not read either.
    assert!(parse(&altered(&data, 38, &[1, 1])).is_ok());
}

fn example_addresses() -> Addresses {
    captured::IPV4[0].addresses()
}

#[test]
fn a_payload_of_another_length_is_cut_or_filled_with_zeros() {
    let segment = Segment {
        payload_bytes: 4,
        ..Segment::default()
    };
    for (payload, expected) in [
        (&b"airtcp"[..], *b"airt"),
        (b"ai", *b"ai\0\0"),
        (b"", [0; 4]),
    ] {
        let mut out = Vec::new();
        emit(&segment, &example_addresses(), 0, payload, &mut out).unwrap();
        assert_eq!(out.len(), 44);
        assert_eq!(out[parse(&out).unwrap().payload], expected);
    }
}

#[test]
fn what_no_ip_packet_holds_is_refused() {
    let most = 65_535 - 40;
    for (payload_bytes, expected) in [
        (most, Ok(65_535)),
        (most + 1, Err(WireError::TooLong)),
        (u32::MAX, Err(WireError::TooLong)),
    ] {
        let segment = Segment {
            payload_bytes,
            ..Segment::default()
        };
        let mut out = Vec::new();
        let written = emit(&segment, &example_addresses(), 0, &[], &mut out).map(|()| out.len());
        assert_eq!(written, expected);
        assert!(written.is_ok() || out.is_empty());
    }
    let addresses = captured::IPV6[0].addresses();
    for (payload_bytes, expected) in [
        (65_535 - 20, Ok(65_535 + 40)),
        (65_535 - 19, Err(WireError::TooLong)),
        (u32::MAX, Err(WireError::TooLong)),
    ] {
        let segment = Segment {
            payload_bytes,
            ..Segment::default()
        };
        let mut out = Vec::new();
        let written = emit_ipv6(&segment, &addresses, 0, &[], &mut out).map(|()| out.len());
        assert_eq!(written, expected);
        assert!(written.is_ok() || out.is_empty());
    }
}

#[test]
fn the_flow_label_has_twenty_bits() {
    let mut out = Vec::new();
    let addresses = captured::IPV6[0].addresses();
    emit_ipv6(&Segment::default(), &addresses, u32::MAX, &[], &mut out).unwrap();
    assert_eq!(out[..4], [0x60, 0x0f, 0xff, 0xff]);
}

#[test]
fn errors_say_what_is_wrong() {
    let all = [
        WireError::Truncated,
        WireError::Version,
        WireError::Fragment,
        WireError::NotTcp,
        WireError::HeaderLength,
        WireError::IpChecksum,
        WireError::TcpChecksum,
        WireError::TooLong,
    ];
    let texts: std::collections::BTreeSet<String> = all.iter().map(WireError::to_string).collect();
    assert_eq!(texts.len(), all.len(), "each its own message");
    assert_eq!(WireError::TcpChecksum.to_string(), "wrong TCP checksum");
}
