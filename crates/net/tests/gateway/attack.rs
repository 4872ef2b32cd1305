//! Attacks on the comparison of the groups: forged packets among real connections, and a harmful
//! treatment.

use std::net::{Ipv4Addr, SocketAddrV4};

use airtcp_host::namespace::Namespace;
use airtcp_packet::wire::{Addresses, emit};
use airtcp_packet::{Flags, Segment, SequenceNumber};
use rustix::net::{
    AddressFamily, SendFlags, SocketFlags, SocketType, ipproto, sendto, socket_with,
};

use crate::router::WIRED;
use crate::upload::{Upload, upload};
use crate::{EVERY, WIDE, router};

const MOBILE: Ipv4Addr = Ipv4Addr::new(10, 77, 1, 2);
const FORGED: u32 = 50_000;

/// Sends `FORGED` segments with data, each of a connection that does not exist, from one host to
/// the other. Every second one has no ACK, so that the reset that answers it acknowledges its data.
fn forge(from: &Namespace, source: Ipv4Addr, destination: Ipv4Addr) {
    let raw = from
        .enter(|| {
            let (family, kind) = (AddressFamily::INET, SocketType::RAW);
            Ok(socket_with(family, kind, SocketFlags::CLOEXEC, Some(ipproto::RAW)).unwrap())
        })
        .unwrap();
    let mut packet = Vec::new();
    for number in 0..FORGED / 2 {
        let ends = Addresses {
            source: SocketAddrV4::new(source, 1024 + (number % 50_000) as u16),
            destination: SocketAddrV4::new(destination, 1 + (number % 1000) as u16),
        };
        let segment = Segment {
            sequence: SequenceNumber(number.wrapping_mul(2_654_435_761)),
            acknowledgment: SequenceNumber(number),
            flags: if number % 2 == 0 {
                Flags::ACK
            } else {
                Flags::PSH
            },
            payload_bytes: 100,
            ..Segment::default()
        };
        packet.clear();
        emit(&segment, &ends, 1, &[7; 100], &mut packet).unwrap();
        let to = SocketAddrV4::new(destination, 0);
        // A full device drops it, as a network does.
        let _ = sendto(&raw, &packet, SendFlags::empty(), &to);
    }
}

/// Nine uploads while each side forges 25 000 packets of unknown connections: the groups hold the
/// nine and nothing else.
#[test]
fn forged_packets_are_no_connections() {
    let Some(router) = router() else { return };
    let wide = router.configuration(WIDE);
    let words = [EVERY, "--apply", "--share", "50%", "--config", &wide];
    let mut gateway = router.gateway(&words).unwrap();
    let uploads: Vec<_> = (0..9).map(|_| Upload::begin(&router, WIRED, 4e5)).collect();
    forge(&router.wired, WIRED, MOBILE);
    forge(&router.mobile, MOBILE, WIRED);
    let mut sent = 0;
    for upload in uploads {
        upload.passes(100_000);
        let uploaded = upload.end();
        assert!(uploaded.is_whole);
        sent += uploaded.bytes as u64;
    }
    let report = gateway.stop();
    let count = |group: &str, what: &str| report[group][what].as_u64().unwrap();
    assert!(
        report["packets"].as_u64() > Some(u64::from(FORGED) / 2),
        "{report}"
    );
    let connections = count("treated", "connections") + count("control", "connections");
    assert_eq!(connections, 9, "{report}");
    let bytes = count("treated", "bytes") + count("control", "bytes");
    assert!((sent / 2..=sent).contains(&bytes), "{sent}: {report}");
    assert!(count("treated", "stations") <= 1, "{report}");
}

/// When treated connections take a tenth of a second longer a round trip, the gateway detects it
/// and ends, removes its rules, and reports it by its status.
#[test]
fn it_ends_when_the_treated_are_worse() {
    let Some(router) = router() else { return };
    let wide = router.configuration(WIDE);
    let words = [
        "static-delay:delay=100ms,every=1",
        "--apply",
        "--share",
        "50%",
        "--stop-if-worse",
        "--config",
        &wide,
    ];
    let mut gateway = router.gateway(&words).unwrap();
    for number in 0.. {
        assert!(number < 100, "{:?}", gateway.stop());
        // Long enough for its round trip to be known, without which nothing is held.
        let uploaded = upload(&router, WIRED, 4_000_000, 1e9);
        assert!(uploaded.is_whole);
        if gateway.has_ended() {
            break;
        }
    }
    let (status, report) = gateway.end();
    assert_eq!(status, Some(4), "{report}");
    assert!(report["worse"]["wealth"].as_f64() >= Some(20.0), "{report}");
    router.wait_without_rules();
}
