//! One packet in every encapsulation, and packets that are not TCP.

mod tunnels;

use airtcp_packet::wire::{Addresses, Ipv6Addresses, emit, emit_ipv6};
use airtcp_packet::{Flags, SackBlock, Segment, SequenceNumber, Timestamps};
use proptest::prelude::*;

use super::*;

const PAYLOAD: &[u8] = &[0x5a; 100];

fn segment() -> Segment {
    let mut segment = Segment {
        sequence: SequenceNumber(0xffff_fff0),
        acknowledgment: SequenceNumber(77),
        payload_bytes: PAYLOAD.len() as u32,
        window: 512,
        flags: Flags::ACK | Flags::PSH,
        timestamps: Some(Timestamps { value: 5, echo: 6 }),
        ..Segment::default()
    };
    segment.tail.push(SackBlock {
        start: SequenceNumber(100),
        end: SequenceNumber(200),
    });
    segment
}

fn version_4() -> Vec<u8> {
    let addresses = Addresses {
        source: "10.1.2.3:40000".parse().unwrap(),
        destination: "192.0.2.9:443".parse().unwrap(),
    };
    let mut packet = Vec::new();
    emit(&segment(), &addresses, 0x1234, PAYLOAD, &mut packet).unwrap();
    packet
}

fn version_6() -> Vec<u8> {
    let addresses: Ipv6Addresses = Addresses {
        source: "[2001:db8::1]:40000".parse().unwrap(),
        destination: "[2001:db8::2]:443".parse().unwrap(),
    };
    let mut packet = Vec::new();
    emit_ipv6(&segment(), &addresses, 0, PAYLOAD, &mut packet).unwrap();
    packet
}

fn decoded(link: u16, bytes: &[u8]) -> Result<Tcp, Other> {
    cut(link, bytes, bytes.len())
}

/// The same of a capture that kept `kept` bytes.
fn cut(link: u16, bytes: &[u8], kept: usize) -> Result<Tcp, Other> {
    decode(&Record {
        number: 1,
        time: Some(0),
        interface: 0,
        link,
        wire_bytes: bytes.len() as u32,
        bytes: &bytes[..kept],
        dropped_before: 0,
    })
}

/// UDP in IPv4 with these ports.
fn udp(ports: [u16; 2], payload: &[u8]) -> Vec<u8> {
    let total = 28 + payload.len() as u16;
    let mut packet = vec![0x45, 0];
    packet.extend(total.to_be_bytes());
    packet.extend([0, 0, 0, 0, 64, 17, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
    packet.extend(ports[0].to_be_bytes());
    packet.extend(ports[1].to_be_bytes());
    packet.extend((total - 20).to_be_bytes());
    packet.extend([0, 0]);
    packet.extend(payload);
    packet
}

fn ethernet(kind: u16, rest: &[u8]) -> Vec<u8> {
    [&[2; 12], &kind.to_be_bytes()[..], rest].concat()
}

fn llc_snap(packet: &[u8]) -> Vec<u8> {
    [&[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], packet].concat()
}

/// An 802.11 data frame: frame control, and as many bytes of header as it asks for.
fn wlan(control: [u8; 2], header: usize, body: &[u8]) -> Vec<u8> {
    let mut frame = control.to_vec();
    frame.resize(header, 0);
    frame.extend(body);
    frame
}

#[test]
fn every_link_type_holds_the_same_segment() {
    let (four, six) = (version_4(), version_6());
    let behind = |head: &[u8], packet: &[u8]| [head, packet].concat();
    let mut cooked = vec![0; 14];
    cooked.extend([8, 0]);
    let mut cooked_2 = vec![0x86, 0xdd];
    cooked_2.resize(20, 0);
    let vlans = [&[0, 7, 0x81, 0, 0, 8, 8, 0], &four[..]].concat();
    let mpls = [&[0, 0, 0x10, 64, 0, 0, 0x11, 64], &four[..]].concat();
    let pppoe = [&[0x11, 0, 0, 1, 0, 0, 0, 0x57], &six[..]].concat();
    let radiotap = [
        &[0, 0, 8, 0, 0, 0, 0, 0],
        &wlan([8, 1], 24, &llc_snap(&four))[..],
    ]
    .concat();
    let cases: [(&str, u16, Vec<u8>); 20] = [
        ("Ethernet", 1, ethernet(0x0800, &four)),
        ("Ethernet, IPv6", 1, ethernet(0x86dd, &six)),
        ("802.1ad and 802.1Q", 1, ethernet(0x88a8, &vlans)),
        ("MPLS", 1, ethernet(0x8847, &mpls)),
        ("PPPoE", 1, ethernet(0x8864, &pppoe)),
        ("802.3 with LLC", 1, ethernet(160, &llc_snap(&four))),
        ("raw", 101, four.clone()),
        ("raw, IPv6", 101, six.clone()),
        ("IPv4", 228, four.clone()),
        ("IPv6", 229, six.clone()),
        ("cooked", 113, behind(&cooked, &four)),
        ("cooked 2, IPv6", 276, behind(&cooked_2, &six)),
        ("loopback, little", 0, behind(&[2, 0, 0, 0], &four)),
        (
            "loopback, big, macOS's IPv6",
            108,
            behind(&[0, 0, 0, 30], &six),
        ),
        ("PPP", 9, behind(&[0xff, 3, 0, 0x21], &four)),
        ("PPP, compressed", 50, behind(&[0x57], &six)),
        ("802.11", 105, wlan([8, 2], 24, &llc_snap(&four))),
        ("802.11 QoS", 105, wlan([0x88, 1], 26, &llc_snap(&four))),
        (
            "802.11, 4 addresses, QoS, HT",
            105,
            wlan([0x88, 0x83], 36, &llc_snap(&four)),
        ),
        ("radiotap", 127, radiotap),
    ];
    for (name, link, bytes) in cases {
        let tcp = decoded(link, &bytes).unwrap_or_else(|other| panic!("{name}: {other:?}"));
        assert_eq!(tcp.segment, segment(), "{name}");
        assert_eq!(
            [tcp.source.port, tcp.destination.port],
            [40_000, 443],
            "{name}"
        );
        let is_six = tcp.source.ip().is_ipv6();
        let identification = if is_six { None } else { Some(0x1234) };
        assert_eq!(tcp.identification, identification, "{name}");
        let source = if is_six {
            "[2001:db8::1]:40000"
        } else {
            "10.1.2.3:40000"
        };
        assert_eq!(tcp.source.to_string(), source, "{name}");
        // Cut after the headers, the length is still the packet's.
        let tcp = cut(link, &bytes, bytes.len() - PAYLOAD.len()).unwrap();
        assert_eq!(tcp.segment, segment(), "{name}, cut");
        assert_eq!(decoded(999, &bytes).unwrap_err(), Other::UnknownLink);
    }
}

#[test]
fn tunnels_are_seen_through() {
    let (four, six) = (version_4(), version_6());
    let gtp = udp(
        [2152, 2152],
        &[&[0x30, 255, 0, 0, 0, 0, 0, 1], &four[..]].concat(),
    );
    // With a sequence number and two extension headers.
    let head = [
        0x36, 255, 0, 0, 0, 0, 0, 1, 0, 9, 0, 0x85, 1, 16, 0, 0x40, 1, 1, 1, 0,
    ];
    let extended = udp([3000, 2152], &[&head, &six[..]].concat());
    let inner = ethernet(0x0800, &four);
    let vxlan = udp([5, 4789], &[&[8, 0, 0, 0, 0, 0, 7, 0], &inner[..]].concat());
    let mut six_in_four = udp([0, 0], &[]);
    six_in_four.truncate(20);
    six_in_four[9] = 41;
    six_in_four[2..4].copy_from_slice(&(20 + six.len() as u16).to_be_bytes());
    six_in_four.extend(&six);
    for (bytes, is_gtp, is_vxlan, is_ip) in [
        (gtp, true, false, false),
        (extended, true, false, false),
        (vxlan, false, true, false),
        (six_in_four, false, false, true),
    ] {
        let tcp = decoded(101, &bytes).unwrap();
        assert_eq!(tcp.segment, segment());
        let expected = Carrier {
            gtp: is_gtp,
            vxlan: is_vxlan,
            ip_in_ip: is_ip,
            tunnel: false,
        };
        assert_eq!(tcp.carrier, expected);
    }
}

/// A tunnel within a tunnel without end is refused.
#[test]
fn layers_are_limited() {
    let mut packet = version_4();
    for _ in 0..9 {
        let mut outer = udp([0, 0], &[]);
        outer.truncate(20);
        outer[9] = 4;
        outer[2..4].copy_from_slice(&(20 + packet.len() as u16).to_be_bytes());
        outer.extend(&packet);
        packet = outer;
    }
    assert_eq!(decoded(101, &packet).unwrap_err(), Other::Malformed);
}

#[test]
fn ipv6_extension_headers_are_walked() {
    let six = version_6();
    let with = |first: u8, extensions: &[u8]| {
        let mut packet = six[..40].to_vec();
        packet[6] = first;
        let length = six.len() - 40 + extensions.len();
        packet[4..6].copy_from_slice(&(length as u16).to_be_bytes());
        packet.extend(extensions);
        packet.extend(&six[40..]);
        packet
    };
    // Hop by hop, destination options of 16 bytes, authentication of 12, a fragment that is whole.
    let mut chain = vec![60, 0, 1, 4, 0, 0, 0, 0];
    chain.extend([51, 1]);
    chain.extend([0; 14]);
    chain.extend([44, 1]);
    chain.extend([0; 10]);
    chain.extend([6, 0, 0, 0, 0, 0, 0, 9]);
    assert_eq!(decoded(101, &with(0, &chain)).unwrap().segment, segment());
    let later_fragment = [6, 0, 0, 8, 0, 0, 0, 9];
    assert_eq!(
        decoded(101, &with(44, &later_fragment)).unwrap_err(),
        Other::Fragment
    );
}

/// A packet that the network card is to segment has no length in its IP header.
#[test]
fn the_frame_tells_the_length_where_the_ip_header_does_not() {
    let mut four = version_4();
    four[2..4].copy_from_slice(&[0, 0]);
    let mut six = version_6();
    six[4..6].copy_from_slice(&[0, 0]);
    for (kind, packet) in [(0x0800, four), (0x86dd, six)] {
        let frame = ethernet(kind, &packet);
        let record = Record {
            number: 1,
            time: Some(0),
            interface: 0,
            link: 1,
            wire_bytes: frame.len() as u32 + 90_000,
            bytes: &frame,
            dropped_before: 0,
        };
        let tcp = decode(&record).unwrap();
        assert_eq!(tcp.segment.payload_bytes, 90_100);
    }
}

/// The frame is padded to the least length of Ethernet, and the padding is no payload.
#[test]
fn padding_is_no_payload() {
    let mut packet = version_4();
    let bare = (packet.len() - PAYLOAD.len()) as u16;
    packet.truncate(usize::from(bare));
    packet[2..4].copy_from_slice(&bare.to_be_bytes());
    packet.extend([0; 30]);
    let tcp = decoded(1, &ethernet(0x0800, &packet)).unwrap();
    assert_eq!(tcp.segment.payload_bytes, 0);
}

#[test]
fn the_radio_tells_of_retries_and_rates() {
    let body = wlan([8, 1 | 8], 24, &llc_snap(&version_4()));
    // Flags, rate 54 Mbit/s, channel.
    let old = [&[0, 0, 14, 0, 0x0e, 0, 0, 0, 0, 108, 0, 0, 0, 0], &body[..]].concat();
    let tcp = decoded(127, &old).unwrap();
    assert_eq!((tcp.radio.is_retry, tcp.radio.rate_100kbps), (true, 540));
    // Two words of presence, TSFT at 16, MCS 15 at 40 MHz with the short guard interval.
    let mut head = vec![0, 0, 27, 0, 1, 0, 8, 0x80, 0, 0, 0, 0, 0, 0, 0, 0];
    head.extend([0; 8]);
    head.extend([0x07, 0x05, 15]);
    let tcp = decoded(127, &[&head, &body[..]].concat()).unwrap();
    // IEEE 802.11 table 19-32: 300 Mbit/s.
    assert_eq!(tcp.radio.rate_100kbps, 3000);
    // The header is padded to 32 if the flag is set: QoS makes it 26, hence 28.
    let padded = wlan([0x88, 1], 28, &llc_snap(&version_4()));
    let tcp = decoded(
        127,
        &[&[0, 0, 9, 0, 2, 0, 0, 0, 0x20], &padded[..]].concat(),
    )
    .unwrap();
    assert!(!tcp.radio.is_retry);
}

#[test]
fn what_is_not_tcp_is_named() {
    let four = version_4();
    let mut fragment = four.clone();
    fragment[6] = 0x20;
    let protocol = |number: u8| {
        let mut packet = four.clone();
        packet[9] = number;
        packet
    };
    let mut short_header = four.clone();
    short_header[32] = 0x10;
    let handshake = [vec![4, 0, 0, 0], vec![1; 28]].concat();
    let cases: [(Other, u16, Vec<u8>); 15] = [
        (Other::NotIp, 1, ethernet(0x0806, &[0; 28])),
        (Other::Fragment, 101, fragment),
        (Other::Icmp, 101, protocol(1)),
        (Other::Ipsec, 101, protocol(50)),
        (Other::Ip, 101, protocol(89)),
        (Other::Udp, 101, udp([53, 999], b"a name, and its address")),
        (Other::Ipsec, 101, udp([4500, 9], b"esp")),
        (Other::Quic, 101, udp([999, 443], &[0x45; 40])),
        (Other::Quic, 101, udp([4433, 999], &[0xc3, 0, 0, 0, 1, 8])),
        (Other::WireGuard, 101, udp([51820, 9], &handshake)),
        (Other::EncryptedRadio, 105, wlan([8, 0x41], 40, &[])),
        (Other::RadioControl, 105, wlan([0x80, 0], 40, &[])),
        (Other::RadioControl, 105, wlan([0x48, 1], 24, &[])),
        (
            Other::Aggregate,
            105,
            [vec![0x88, 1], vec![0; 22], vec![0x80; 40]].concat(),
        ),
        (Other::Malformed, 101, short_header),
    ];
    for (expected, link, bytes) in cases {
        assert_eq!(decoded(link, &bytes).unwrap_err(), expected);
    }
    for (number, kind) in (0..).zip(Other::ALL) {
        assert_eq!(kind as usize, number, "{}", kind.name());
    }
}

/// Cut anywhere before the end of the fixed TCP header there is no segment; cut later there is a
/// segment with its complete options.
#[test]
fn a_cut_frame_is_told_from_a_wrong_one() {
    let frame = ethernet(0x0800, &version_4());
    for kept in 0..14 + 20 + 20 {
        assert_eq!(cut(1, &frame, kept).unwrap_err(), Other::Cut, "{kept}");
    }
    for kept in 14 + 20 + 20..frame.len() {
        let tcp = cut(1, &frame, kept).unwrap();
        assert_eq!(tcp.segment.payload_bytes, 100);
        assert_eq!(
            tcp.segment.timestamps.is_some(),
            kept >= 14 + 20 + 32,
            "{kept}"
        );
    }
}

proptest! {
    #[test]
    fn any_frame_ends_well(
        link in prop::sample::select(vec![
            0_u16, 1, 9, 50, 51, 101, 105, 108, 113, 119, 127, 149, 163, 192, 204, 258, 276,
        ]),
        bytes in prop::collection::vec(any::<u8>(), 0..120),
    ) {
        let _ = decoded(link, &bytes);
    }
}

/// RFC 9000 §17.2.1: the seven bits after the first are arbitrary.
#[test]
fn version_negotiation_is_quic_with_and_without_the_fixed_bit() {
    for first in [0x80, 0xc0] {
        let payload = [first, 0, 0, 0, 0, 1, 7, 0, 0, 0, 0, 1];
        let packet = udp([443, 50_000], &payload);
        let record = Record {
            number: 1,
            time: Some(0),
            interface: 0,
            link: 101,
            wire_bytes: packet.len() as u32,
            bytes: &packet,
            dropped_before: 0,
        };
        let found = quic_of(&record).unwrap();
        assert_eq!(&packet[found.from..], payload);
        assert_eq!((found.source.port, found.wire_bytes), (443, 12));
    }
}
