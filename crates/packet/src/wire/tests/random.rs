//! Segments and bytes of any kind.

use super::*;

prop_compose! {
    fn any_segment()(
        (sequence, acknowledgment, window, flags, ace) in any::<(u32, u32, u16, u8, u8)>(),
        payload_bytes in 0_u32..80,
        timestamps in any::<Option<(u32, u32)>>(),
        blocks in prop::collection::vec(any::<(u32, u32)>(), 0..=4),
        (mss, window_scale, sack_permitted) in any::<(Option<u16>, Option<u8>, bool)>(),
        ecn in 0_u8..4,
    ) -> Segment {
        let mut segment = Segment {
            sequence: SequenceNumber(sequence),
            acknowledgment: SequenceNumber(acknowledgment),
            payload_bytes,
            window,
            flags: Flags::from_bits(flags) | Flags::from_ace(ace),
            ecn: Ecn::from_bits(ecn),
            timestamps: timestamps.map(|(value, echo)| Timestamps { value, echo }),
            tail: TailOptions::default(),
            mss,
            window_scale,
            sack_permitted,
        };
        for (start, end) in blocks {
            let block = SackBlock { start: SequenceNumber(start), end: SequenceNumber(end) };
            segment.tail.push(block);
        }
        segment
    }
}

/// `segment` with only the SACK blocks that RFC 2018 §3 finds room for: the options' 40 bytes less
/// the others'; each block takes 8 of them and the head 4.
fn as_far_as_it_fits(segment: Segment) -> Segment {
    let others = if segment.mss.is_some() { 4 } else { 0 }
        + match (segment.timestamps, segment.sack_permitted) {
            (Some(_), _) => 12,
            (None, true) => 4,
            (None, false) => 0,
        }
        + if segment.window_scale.is_some() { 4 } else { 0 };
    let mut tail = TailOptions::default();
    for &block in segment.tail.blocks().iter().take((40 - others - 4) / 8) {
        tail.push(block);
    }
    Segment { tail, ..segment }
}

proptest! {
    #[test]
    fn what_was_written_is_read(
        segment in any_segment(),
        ports: (u16, u16),
        (host4, peer4) in any::<(u32, u32)>(),
        (host6, peer6) in any::<(u128, u128)>(),
        (identification, label) in any::<(u16, u32)>(),
        payload in prop::collection::vec(any::<u8>(), 80),
    ) {
        let payload = &payload[..segment.payload_bytes as usize];
        let mut out = Vec::new();
        let addresses = Addresses {
            source: SocketAddrV4::new(host4.into(), ports.0),
            destination: SocketAddrV4::new(peer4.into(), ports.1),
        };
        emit(&segment, &addresses, identification, payload, &mut out).unwrap();
        prop_assert_eq!(out.len(), segment.ip_bytes() as usize);
        let parsed = parse(&out).unwrap();
        prop_assert_eq!(parsed.segment, as_far_as_it_fits(segment));
        prop_assert_eq!(parsed.addresses, addresses);
        prop_assert_eq!(&out[parsed.payload], payload);

        let mut out = Vec::new();
        let addresses = Addresses {
            source: SocketAddrV6::new(host6.into(), ports.0, 0, 0),
            destination: SocketAddrV6::new(peer6.into(), ports.1, 0, 0),
        };
        emit_ipv6(&segment, &addresses, label, payload, &mut out).unwrap();
        let parsed = parse_ipv6(&out).unwrap();
        prop_assert_eq!(parsed.segment, as_far_as_it_fits(segment));
        prop_assert_eq!(parsed.addresses, addresses);
        prop_assert_eq!(&out[parsed.payload], payload);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        prop_assert!(parse(&bytes).is_err() || bytes.len() >= 40);
        prop_assert!(parse_ipv6(&bytes).is_err() || bytes.len() >= 60);
    }

    /// Random bytes never pass the checksums; damage with corrected ones reaches every branch.
    #[test]
    fn damage_behind_right_checksums_never_panics(
        which in 0..captured::IPV4.len(),
        at in 12_usize..120,
        bytes in prop::collection::vec(any::<u8>(), 1..20),
    ) {
        let packet = captured::IPV4[which].bytes();
        let at = at % packet.len();
        let end = packet.len().min(at + bytes.len());
        let packet = altered(&packet, at, &bytes[..end - at]);
        if let Ok(parsed) = parse(&packet) {
            prop_assert_eq!(parsed.payload.end, packet.len());
            prop_assert_eq!(parsed.payload.len(), parsed.segment.payload_bytes as usize);
        }
    }

    #[test]
    fn a_flipped_bit_is_detected(segment in any_segment(), bit in any::<prop::sample::Index>()) {
        let mut out = Vec::new();
        emit(&segment, &example_addresses(), 7, &[0x5a; 80], &mut out).unwrap();
        let bit = bit.index(out.len() * 8);
        out[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(parse(&out).is_err());
    }
}
