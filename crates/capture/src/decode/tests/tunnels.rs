//! One packet in every tunnel, monitor's header and aggregate.

use super::*;

/// Timestamps and a SACK block, padded to words: the segment is decoded even without them.
const OPTION_BYTES: usize = 24;

/// An IPv4 packet of a protocol.
fn ip(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = udp([0, 0], &[]);
    packet.truncate(20);
    packet[9] = protocol;
    packet[2..4].copy_from_slice(&(20 + payload.len() as u16).to_be_bytes());
    packet.extend(payload);
    packet
}

fn gre(flags: u16, kind: u16, optional: &[u8], payload: &[u8]) -> Vec<u8> {
    let head = [flags.to_be_bytes(), kind.to_be_bytes()].concat();
    ip(47, &[&head, optional, payload].concat())
}

fn behind(head: &[u8], rest: &[u8]) -> Vec<u8> {
    [head, rest].concat()
}

/// A monitor's header: the first bytes, and zeros up to its length.
fn header(first: &[u8], bytes: usize, frame: &[u8]) -> Vec<u8> {
    let mut head = first.to_vec();
    head.resize(bytes, 0);
    head.extend(frame);
    head
}

/// Each with its name, its link type and its bytes.
fn wrapped() -> Vec<(&'static str, u16, Vec<u8>)> {
    let four = version_4();
    let frame = ethernet(0x0800, &four);
    let air = wlan([8, 2], 24, &llc_snap(&four));
    let swapped = wlan([2, 8], 24, &llc_snap(&four));
    let ppp = behind(&[0xff, 3, 0, 0x21], &four);
    let tags = [10, 2, 1, 1, 0, 41, 1, 3];
    vec![
        (
            "TZSP",
            101,
            udp(
                [9, 37008],
                &[&[1, 0, 0, 1], &tags[..], &[1], &frame].concat(),
            ),
        ),
        (
            "TZSP, 802.11",
            101,
            udp([9, 37008], &[&[1, 0, 0, 18, 1], &air[..]].concat()),
        ),
        (
            "GENEVE",
            101,
            udp([9, 6081], &behind(&[0, 0, 0x65, 0x58, 0, 0, 7, 0], &frame)),
        ),
        (
            "GENEVE with an option, IP",
            101,
            udp(
                [9, 6081],
                &behind(&[1, 0, 8, 0, 0, 0, 7, 0, 1, 2, 3, 4], &four),
            ),
        ),
        (
            "CAPWAP, 802.3",
            101,
            udp([5247, 9], &behind(&[0, 16, 2, 0, 0, 0, 0, 0], &frame)),
        ),
        (
            "CAPWAP, 802.11",
            101,
            udp([9, 5247], &behind(&[0, 16, 3, 0, 0, 0, 0, 0], &air)),
        ),
        (
            "CAPWAP, swapped",
            101,
            udp([9, 5247], &behind(&[0, 16, 3, 0, 0, 0, 0, 0], &swapped)),
        ),
        (
            "L2TP 2",
            101,
            udp([1701, 1701], &behind(&[0, 2, 0, 1, 0, 1], &ppp)),
        ),
        (
            "L2TP 2 with length, sequence and offset",
            101,
            udp(
                [1701, 9],
                &behind(&[0x4a, 2, 0, 99, 0, 1, 0, 1, 0, 0, 0, 0, 0, 2, 7, 7], &ppp),
            ),
        ),
        (
            "L2TP 3",
            101,
            udp([1701, 9], &behind(&[0, 3, 0, 0, 0, 0, 0, 5], &frame)),
        ),
        (
            "L2TP 3 with a cookie",
            101,
            ip(115, &behind(&[0, 0, 0, 5, 1, 2, 3, 4], &frame)),
        ),
        ("EtherIP", 101, ip(97, &behind(&[0x30, 0], &frame))),
        ("GRE, Ethernet", 101, gre(0, 0x6558, &[], &frame)),
        (
            "GRE with a key, IP",
            101,
            gre(0x2000, 0x0800, &[0; 4], &four),
        ),
        ("GRE, PPTP", 101, gre(0x3081, 0x880b, &[0; 12], &ppp)),
        ("ERSPAN I", 101, gre(0, 0x88be, &[], &frame)),
        ("ERSPAN II", 101, gre(0x1000, 0x88be, &[0; 12], &frame)),
        ("ERSPAN III", 101, gre(0x1000, 0x22eb, &[0; 16], &frame)),
        (
            "ERSPAN III with its subheader, IP",
            101,
            gre(
                0x1000,
                0x22eb,
                &[[0; 14].as_slice(), &[8, 1], &[0; 8]].concat(),
                &four,
            ),
        ),
        ("PPI", 192, header(&[0, 0, 8, 0, 105, 0, 0, 0], 8, &air)),
        (
            "PPI, Ethernet",
            192,
            header(&[0, 0, 20, 0, 1, 0, 0, 0], 20, &frame),
        ),
        (
            "PKTAP",
            258,
            header(&[108, 0, 0, 0, 1, 0, 0, 0, 12], 108, &four),
        ),
        (
            "PKTAP, Ethernet",
            149,
            header(&[156, 0, 0, 0, 1, 0, 0, 0, 1], 156, &frame),
        ),
        (
            "AVS",
            163,
            header(&[0x80, 0x21, 0x10, 1, 0, 0, 0, 64], 64, &air),
        ),
        ("Prism", 119, header(&[0x44, 0, 0, 0, 144], 144, &air)),
        (
            "AVS as Prism",
            119,
            header(&[0x80, 0x21, 0x10, 2, 0, 0, 0, 80], 80, &air),
        ),
    ]
}

#[test]
fn every_wrapping_holds_the_same_segment() {
    for (name, link, bytes) in wrapped() {
        let tcp = decoded(link, &bytes).unwrap_or_else(|other| panic!("{name}: {other:?}"));
        assert_eq!(tcp.segment, segment(), "{name}");
        assert_eq!(tcp.source.to_string(), "10.1.2.3:40000", "{name}");
        assert_eq!(tcp.carrier.tunnel, link == 101, "{name}");
        // Cut after the headers, the length is still the packet's.
        let tcp = cut(link, &bytes, bytes.len() - PAYLOAD.len()).unwrap();
        assert_eq!(tcp.segment, segment(), "{name}, cut");
    }
}

/// Cut anywhere, and with any byte another, a wrapping ends in a kind or in a segment.
#[test]
fn damaged_wrappings_end_well() {
    for (name, link, bytes) in wrapped() {
        for kept in 0..bytes.len() - PAYLOAD.len() - OPTION_BYTES {
            assert!(cut(link, &bytes, kept).is_err(), "{name} cut at {kept}");
        }
        for at in 0..bytes.len() - PAYLOAD.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                let _ = decoded(link, &damaged);
            }
        }
    }
}

#[test]
fn wrappings_within_each_other_end() {
    let tzsp = |inner: &[u8]| {
        ethernet(
            0x0800,
            &udp([9, 37008], &[&[1, 0, 0, 1, 1], inner].concat()),
        )
    };
    let pktap = |inner: &[u8]| header(&[12, 0, 0, 0, 1, 0, 0, 0, 2, 1], 12, inner);
    let mut frame = ethernet(0x0800, &version_4());
    let mut nested = version_4();
    for layers in 1..12 {
        frame = tzsp(&frame);
        nested = pktap(&nested);
        assert_eq!(decoded(1, &frame).is_ok(), layers <= 8, "{layers}");
        assert!(decoded(258, &nested).is_err());
    }
}

#[test]
fn what_a_tunnel_hides_is_named() {
    let cases = [
        (Other::Encrypted, udp([9, 5247], &[1, 0, 0, 0, 0x17, 0xfe])),
        (
            Other::Fragment,
            udp([9, 5247], &[0, 16, 2, 0x80, 0, 0, 0, 0]),
        ),
        (Other::Udp, udp([1701, 1701], &[0xc8, 2, 0, 12, 0, 1, 0, 0])),
        (Other::Udp, udp([9, 37008], &[1, 4, 0, 0])),
        (Other::Tunnel, udp([9, 37008], &[1, 0, 0, 77, 1, 9])),
        (Other::Tunnel, ip(115, &[0x33; 60])),
        (Other::Ip, gre(0, 0x88cc, &[], &[0; 40])),
    ];
    for (expected, bytes) in cases {
        assert_eq!(decoded(101, &bytes).unwrap_err(), expected);
    }
}

/// An A-MSDU of these packets, without padding after the last.
fn aggregate(packets: &[Vec<u8>]) -> Vec<u8> {
    let mut body = Vec::new();
    for packet in packets {
        body.resize(body.len().next_multiple_of(4), 0);
        let msdu = llc_snap(packet);
        body.extend([2; 12]);
        body.extend((msdu.len() as u16).to_be_bytes());
        body.extend(msdu);
    }
    [vec![0x88, 2], vec![0; 22], vec![0x80, 0], body].concat()
}

fn msdus(link: u16, bytes: &[u8]) -> Vec<Result<Tcp, Other>> {
    let record = Record {
        number: 1,
        time: Some(0),
        interface: 0,
        link,
        wire_bytes: bytes.len() as u32,
        bytes,
        dropped_before: 0,
    };
    assert_eq!(decode(&record).unwrap_err(), Other::Aggregate);
    let mut found = Vec::new();
    decode_aggregate(&record, &mut |msdu, _| found.push(msdu));
    found
}

#[test]
fn every_packet_of_an_aggregate_is_found() {
    let mut arp = vec![0; 28];
    arp[0] = 0xff;
    let mut packets = vec![version_4(); 3];
    packets.insert(1, arp);
    let frame = aggregate(&packets);
    let radiotap = behind(&[0, 0, 8, 0, 0, 0, 0, 0], &frame);
    let in_tzsp = udp([9, 37008], &[&[1, 0, 0, 18, 1], &frame[..]].concat());
    for (link, bytes) in [(105, frame), (127, radiotap), (101, in_tzsp)] {
        let found = msdus(link, &bytes);
        assert_eq!(found.len(), 4, "{link}");
        assert!(found[1].is_err());
        for place in [0, 2, 3] {
            let tcp = found[place].as_ref().unwrap();
            assert_eq!(tcp.segment, segment(), "{link}");
        }
    }
}

#[test]
fn damaged_aggregates_end_well() {
    let frame = aggregate(&vec![version_4(); 3]);
    for at in 26..frame.len() {
        let mut damaged = frame.clone();
        damaged[at] = 0xff;
        assert!(msdus(105, &damaged).len() <= frame.len());
        let cut = &frame[..at];
        assert!(msdus(105, cut).len() <= 4);
    }
}
