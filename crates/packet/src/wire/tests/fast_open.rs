//! Fast Open as Linux 6.18 writes it: a client requests a cookie, the server grants it, the next
//! SYN carries it with five bytes of data, and the SYN-ACK acknowledges both.
//!
//! Captured on a loopback device, where TCP's checksum is left to the device, with
//! `net.ipv4.tcp_fastopen` 3.

use super::super::*;
use crate::{FastOpen, Flags, Segment};

const COOKIE: [u8; 8] = [0x9a, 0xf9, 0x93, 0x6c, 0xad, 0xbf, 0x2b, 0x41];

/// IP packets, in order.
const PACKETS: [&str; 4] = [
    "450000407daa40004006a90a0a0000010a010002c3501f904986ecd600000000b002faf014360000020405b4\
     0402080aa724aa1e000000000103030a22020101",
    "4500004800004000400626ad0a0100020a0000011f90c350db018ccc4986ecd7d012fe88143e0000020405b4\
     0402080a35cb18bca724aa1e0103030a220a9af9936cadbf2b410101",
    "4500004de7be400040063ee90a0000010a010002c3511f9072d7788600000000d002faf014430000020405b4\
     0402080a68ac218d000000000103030a220a9af9936cadbf2b41010168656c6c6f",
    "4500003c00004000400626b90a0100020a0000011f90c3517c42e7ef72d7788ca012fe8814320000020405b4\
     0402080af09bfbc268ac218d0103030a",
];

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex
        .chars()
        .map(|digit| digit.to_digit(16).unwrap() as u8)
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

#[test]
fn reads_and_writes_what_the_kernel_wrote() {
    let cookie = FastOpen::cookie(&COOKIE);
    let options = [Some(FastOpen::REQUEST), cookie, cookie, None];
    let payloads: [&[u8]; 4] = [b"", b"", b"hello", b""];
    for ((hex, option), payload) in PACKETS.into_iter().zip(options).zip(payloads) {
        let packet = bytes(hex);
        let parsed = parse_with(&packet, Checksums::Trusted).unwrap();
        assert_eq!(parsed.segment.fast_open(), option, "{hex}");
        assert_eq!(&packet[parsed.payload.clone()], payload);
        let identification = u16::from_be_bytes([packet[4], packet[5]]);
        let mut out = Vec::new();
        emit_pieces(
            &parsed.segment,
            &parsed.addresses,
            identification,
            [payload, &[]],
            TcpChecksum::PseudoHeader,
            &mut out,
        )
        .unwrap();
        assert_eq!(out, packet);
    }
}

/// The experimental format and every length come back; on a segment without SYN nothing does, and
/// a cookie of another length is skipped (Linux, `tcp_parse_fastopen_option`).
#[test]
fn only_a_syn_has_a_cookie_of_a_legal_length() {
    let parsed = parse_with(&bytes(PACKETS[2]), Checksums::Trusted).unwrap();
    let written = |segment: &Segment| {
        let mut out = Vec::new();
        emit(segment, &parsed.addresses, 0, &[], &mut out).unwrap();
        parse(&out).unwrap().segment
    };
    let cookie = [3; 16];
    for length in [0, 4, 6, 8, 10, 12, 14, 16] {
        let option = FastOpen::cookie(&cookie[..length]).unwrap_or(FastOpen::REQUEST);
        for option in [option, option.experimental()] {
            let mut segment = parsed.segment;
            segment.set_fast_open(option);
            assert_eq!(written(&segment), segment);
            segment.flags = Flags::ACK;
            assert_eq!(written(&segment).fast_open(), None);
        }
    }
    for (kind, length) in [
        (34, 3),
        (34, 4),
        (34, 5),
        (34, 7),
        (254, 5),
        (254, 6),
        (254, 9),
    ] {
        let mut header = vec![0; 32];
        (header[12], header[13]) = (0x80, Flags::SYN.bits());
        (header[20], header[21]) = (kind, length);
        if kind == 254 {
            header[22..24].copy_from_slice(&[0xf9, 0x89]);
        }
        let segment = parse_tcp_header(&header).unwrap().segment;
        assert_eq!(segment.fast_open(), None, "kind {kind}, {length} bytes");
    }
    // Another experiment's magic number.
    let mut header = vec![0; 32];
    (header[12], header[13]) = (0x80, Flags::SYN.bits());
    header[20..24].copy_from_slice(&[254, 12, 0xf9, 0x88]);
    assert_eq!(parse_tcp_header(&header).unwrap().segment.fast_open(), None);
}
