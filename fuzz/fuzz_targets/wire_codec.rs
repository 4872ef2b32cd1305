//! The segment codec: no bytes make it panic, and a segment it reads can be written and read again.
#![no_main]

use airtcp_packet::wire::{Parsed, emit, emit_ipv6, parse, parse_ipv6};
use airtcp_packet::{Segment, TailOptions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    // Few random bytes have valid checksums: the code after the check is reached by correcting
    // them.
    let mut bytes = bytes.to_vec();
    make_checksums_right(&mut bytes);
    check(&bytes);
});

fn check(bytes: &[u8]) {
    let mut out = Vec::new();
    if let Ok(first) = parse(bytes) {
        let payload = &bytes[first.payload.clone()];
        // Other stacks pad less: read from them, a segment can need more room than there is.
        if emit(&first.segment, &first.addresses, 1, payload, &mut out).is_ok() {
            let second = parse(&out).expect("what was written is legal");
            assert_same(&first, &second);
            assert_eq!(payload, &out[second.payload]);
        }
    }
    out.clear();
    if let Ok(first) = parse_ipv6(bytes) {
        let payload = &bytes[first.payload.clone()];
        if emit_ipv6(&first.segment, &first.addresses, 1, payload, &mut out).is_ok() {
            let second = parse_ipv6(&out).expect("what was written is legal");
            assert_same(&first, &second);
            assert_eq!(payload, &out[second.payload]);
        }
    }
}

fn assert_same<A: PartialEq + std::fmt::Debug>(first: &Parsed<A>, second: &Parsed<A>) {
    let mut tail = first.segment.tail;
    // Fast Open's option is written whole.
    if first.segment.fast_open().is_none() {
        tail = TailOptions::default();
        for &block in &first.segment.tail.blocks()[..first.segment.sack_blocks_on_wire()] {
            tail.push(block);
        }
    }
    assert_eq!(
        Segment {
            tail,
            ..first.segment
        },
        second.segment
    );
    assert_eq!(first.addresses, second.addresses);
}

fn make_checksums_right(packet: &mut [u8]) {
    if packet.len() < 40 {
        return;
    }
    let (tcp, mut covered) = match packet[0] >> 4 {
        4 => {
            let header = usize::from(packet[0] & 15) * 4;
            if !(20..=packet.len() - 20).contains(&header) {
                return;
            }
            let total = (packet.len().min(0xffff) as u16).to_be_bytes();
            packet[2..4].copy_from_slice(&total);
            packet[10..12].fill(0);
            let sum = checksum(&packet[..header]);
            packet[10..12].copy_from_slice(&sum);
            (header, packet[12..20].to_vec())
        }
        6 if packet.len() >= 60 => {
            let length = ((packet.len() - 40).min(0xffff) as u16).to_be_bytes();
            packet[4..6].copy_from_slice(&length);
            (40, packet[8..40].to_vec())
        }
        _ => return,
    };
    packet[tcp + 16..tcp + 18].fill(0);
    covered.extend([0, 6]);
    covered.extend(((packet.len() - tcp) as u16).to_be_bytes());
    covered.extend(&packet[tcp..]);
    let sum = checksum(&covered);
    packet[tcp + 16..tcp + 18].copy_from_slice(&sum);
}

/// RFC 1071 §1, folding each carry at once.
fn checksum(bytes: &[u8]) -> [u8; 2] {
    let sum = bytes.chunks(2).fold(0_u16, |sum, word| {
        let word = u16::from_be_bytes([word[0], *word.get(1).unwrap_or(&0)]);
        let (sum, carry) = sum.overflowing_add(word);
        sum + u16::from(carry)
    });
    (!sum).to_be_bytes()
}
