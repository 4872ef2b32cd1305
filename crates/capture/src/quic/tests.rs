//! Headers of RFC 9000, RFC 8999 and RFC 9369.

use proptest::prelude::*;

use super::*;

/// A long header with connection IDs of these lengths.
fn long(first: u8, version: u32, ids: [u8; 2]) -> Vec<u8> {
    let mut bytes = vec![first];
    bytes.extend(version.to_be_bytes());
    for length in ids {
        bytes.push(length);
        bytes.extend(std::iter::repeat_n(0xaa, usize::from(length)));
    }
    bytes
}

fn kind(bytes: &[u8]) -> Option<Kind> {
    Header::of(bytes).map(|header| header.kind)
}

#[test]
fn types_of_both_versions_are_told() {
    let expected = [Kind::Initial, Kind::ZeroRtt, Kind::Handshake, Kind::Retry];
    for (place, expected) in expected.into_iter().enumerate() {
        let place = place as u8;
        assert_eq!(kind(&long(0xc0 | place << 4, 1, [8, 8])), Some(expected));
        let turned = (place + 1) % 4;
        let second = long(0xc0 | turned << 4, 0x6b33_43cf, [8, 0]);
        assert_eq!(kind(&second), Some(expected));
    }
}

#[test]
fn negotiation_and_versions_to_come_have_lengths_alone() {
    let negotiation = Header::of(&long(0x80, 0, [20, 5])).unwrap();
    assert_eq!(negotiation.kind, Kind::Negotiation);
    assert_eq!(negotiation.id_bytes, Some([20, 5]));
    let other = Header::of(&long(0xc0, 0x0a0a_0a0a, [0, 255])).unwrap();
    assert_eq!(other.kind, Kind::UnknownVersion);
    assert_eq!(other.id_bytes, Some([0, 255]));
}

#[test]
fn a_short_header_has_a_spin_bit_and_no_lengths() {
    let header = Header::of(&[0x60, 1, 2, 3]).unwrap();
    assert_eq!((header.kind, header.spin), (Kind::OneRtt, Some(true)));
    assert_eq!(Header::of(&[0x5f, 1]).unwrap().spin, Some(false));
    assert_eq!(header.id_bytes, None);
    // Without the fixed bit it is something else that shares the port (RFC 9443).
    assert_eq!(Header::of(&[0x20, 1, 2]), None);
}

proptest! {
    #[test]
    fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = Header::of(&bytes);
    }
}
