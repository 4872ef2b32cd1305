//! The gateway as the wire between two devices.

use std::os::fd::OwnedFd;
use std::time::Duration;

use airtcp_host::device::tuntap::{self, Layer};
use airtcp_host::error::Tried;
use airtcp_host::interface;
use airtcp_packet::wire::{Addresses, emit};
use airtcp_packet::{Flags, Segment, SequenceNumber, Timestamps};
use rustix::io::{read, write};
use rustix::process::Signal;

use crate::router::{Middle, Router, WIRED, WIRED6, await_that, sh};
use crate::upload::{Upload, upload};
use crate::{EVERY, SLOW, WIDE};

/// Two hosts not yet connected, or the reason for their absence.
fn apart() -> Option<Router> {
    let made = Router::new(Middle::Nothing).and_then(|router| {
        sh(
            &router.router,
            "ip link add tried type bridge; ip link del tried",
        )?;
        Ok(router)
    });
    made.inspect_err(|error| airtcp_needs::skip(error)).ok()
}

fn words(config: &str) -> [&str; 5] {
    [EVERY, "--apply", "--inline", "--config", config]
}

/// Whether the kernel's bridge joins the devices.
fn is_bridged(router: &Router) -> bool {
    sh(&router.router, "ip link show atp-r0 up").is_ok_and(|listed| listed.contains("UP"))
}

/// Connections pass through it in both versions of IP, their segments cut only by the far device,
/// and their acknowledgments are held; at its end the kernel's bridge carries them.
#[test]
fn connections_pass_and_their_acknowledgments_are_held() {
    let Some(router) = apart() else { return };
    let wide = router.configuration(WIDE);
    let mut gateway = router.gateway(&words(&wide)).unwrap();
    for address in [std::net::IpAddr::from(WIRED), WIRED6.into()] {
        assert!(upload(&router, address, 1_000_000, SLOW).is_whole);
    }
    assert!(!is_bridged(&router));
    let upload = Upload::begin(&router, WIRED, SLOW);
    upload.passes(500_000);
    let report = gateway.stop();
    assert!(upload.end().is_whole);
    assert!(is_bridged(&router));
    assert_eq!(report["course"], "inline");
    assert_eq!(report["treated"]["connections"], 3, "{report}");
    assert!(report["did"]["delayed"].as_u64() > Some(20), "{report}");
    let longest = report["did"]["longest_ns"].as_u64().unwrap();
    assert!(longest >= 19_000_000, "{report}");
}

/// If killed, it is succeeded by the kernel's bridge, and by the next gateway, under one
/// connection.
#[test]
fn a_connection_outlives_the_gateway_that_carries_it() {
    let Some(router) = apart() else { return };
    let wide = router.configuration(WIDE);
    let mut gateway = router.gateway(&words(&wide)).unwrap();
    let upload = Upload::begin(&router, WIRED, SLOW);
    upload.passes(1_000_000);
    gateway.signal(Signal::KILL);
    let _ = gateway.end();
    await_that(|| is_bridged(&router), "the kernel's bridge");
    upload.passes(1_000_000);
    let mut gateway = router.gateway(&words(&wide)).unwrap();
    assert!(!is_bridged(&router));
    upload.passes(1_000_000);
    router.wait_for_a_delay();
    let uploaded = upload.end();
    assert!(uploaded.is_whole);
    eprintln!("longest pause {:?}", uploaded.longest_pause);
    let _ = gateway.stop();
}

/// The previous process carries nothing more once its successor does, although frames never cease.
#[test]
fn another_process_carries_on() {
    let Some(router) = apart() else { return };
    let wide = router.configuration(WIDE);
    let mut first = router.gateway(&words(&wide)).unwrap();
    let upload = Upload::begin(&router, WIRED, SLOW);
    upload.passes(500_000);
    let next = [&words(&wide)[..], &["--take-over"]].concat();
    let mut second = router.gateway(&next).unwrap();
    let (status, _) = first.end();
    assert_eq!(status, Some(0));
    assert!(!is_bridged(&router));
    upload.passes(1_000_000);
    router.wait_for_a_delay();
    assert!(upload.end().is_whole);
    let _ = second.stop();
}

/// A device that vanished and returned with another index is reopened.
#[test]
fn a_device_that_comes_back_is_taken_again() {
    let Some(router) = apart() else { return };
    let wide = router.configuration(WIDE);
    let mut gateway = router.gateway(&words(&wide)).unwrap();
    let there = router.router.path();
    sh(&router.wired, "ip link del w0").unwrap();
    sh(
        &router.wired,
        &format!(
            "ip link add w0 type veth peer name r1 netns {there}\n\
             ip addr add {WIRED}/16 dev w0\n\
             ip link set w0 up"
        ),
    )
    .unwrap();
    sh(&router.router, "ip link set r1 up").unwrap();
    gateway.wait_for("the device is there again").unwrap();
    assert!(upload(&router, WIRED, 1_000_000, SLOW).is_whole);
    let report = gateway.stop();
    assert!(report["did"]["delayed"].as_u64() > Some(20), "{report}");
}

#[test]
fn agents_that_repeat_packets_are_refused() {
    let Some(router) = apart() else { return };
    let refused = router.gateway(&["snoop", "--apply", "--inline"]).err();
    let refused = refused.map(|error| error.to_string()).unwrap_or_default();
    assert!(refused.contains("kernel's packet queue"), "{refused}");
}

/// A router whose two devices are TAP devices of this test: it writes and reads their frames.
fn taps() -> Option<(Router, [OwnedFd; 2])> {
    let made = Router::new(Middle::Nothing).and_then(|router| {
        sh(
            &router.router,
            "ip link del r0; ip link del r1\n\
             echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6",
        )?;
        let tap = |name| {
            router.router.enter(|| {
                let device = tuntap::open(name, Layer::Frames, false)
                    .tried(|| "cannot make a TAP device".to_owned())?;
                interface::bring_up(name)?;
                Ok(device)
            })
        };
        let taps = [tap("r0")?, tap("r1")?];
        Ok((router, taps))
    });
    made.inspect_err(|error| airtcp_needs::skip(error)).ok()
}

/// The next frame that leaves a device.
fn next_frame(tap: &OwnedFd) -> Vec<u8> {
    let (mut frame, mut come) = (vec![0; 2048], None);
    let comes = || {
        come = read(tap, &mut frame).ok();
        come.is_some()
    };
    await_that(comes, "a frame comes");
    frame.truncate(come.unwrap_or(0));
    frame
}

/// A frame with tags (each a protocol with priority and number), and its payload.
fn frame(tags: &[[u16; 2]], kind: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 1];
    for word in tags.iter().flatten().chain([&kind]) {
        frame.extend(word.to_be_bytes());
    }
    frame.extend(payload);
    frame
}

const MOBILE: &str = "10.77.1.2:40000";
const HOST: &str = "10.77.2.2:443";

/// A segment of the mobile's, or of the host's, as an IPv4 packet.
fn packet(up: bool, segment: &Segment) -> Vec<u8> {
    let (source, destination) = if up { (MOBILE, HOST) } else { (HOST, MOBILE) };
    let addresses = Addresses {
        source: source.parse().unwrap(),
        destination: destination.parse().unwrap(),
    };
    let payload = vec![7; segment.payload_bytes as usize];
    let mut bytes = Vec::new();
    emit(segment, &addresses, 1, &payload, &mut bytes).unwrap();
    bytes
}

/// The mobile's data at `number`, and its acknowledgment by the host.
fn exchange(number: u32) -> [Vec<u8>; 2] {
    let segment = Segment {
        flags: Flags::ACK,
        window: 1000,
        ..Segment::default()
    };
    let stamps = |value, echo| Some(Timestamps { value, echo });
    let data = Segment {
        sequence: SequenceNumber(1 + 500 * number),
        acknowledgment: SequenceNumber(1),
        payload_bytes: 500,
        timestamps: stamps(number * 10, number),
        ..segment
    };
    let acknowledgment = Segment {
        sequence: SequenceNumber(1),
        acknowledgment: SequenceNumber(501 + 500 * number),
        timestamps: stamps(number + 1, number * 10),
        ..segment
    };
    [packet(true, &data), packet(false, &acknowledgment)]
}

/// Frames that enter at one device leave at the other unchanged: with VLAN tags, which the kernel
/// removes from frames, non-IP, and damaged ones.
#[test]
fn frames_pass_byte_for_byte() {
    let Some((router, [mobile, wired])) = taps() else {
        return;
    };
    let wide = router.configuration(WIDE);
    let mut gateway = router.gateway(&words(&wide)).unwrap();
    let [data, acknowledgment] = exchange(0);
    let mut forged = acknowledgment.clone();
    // A wrong TCP checksum.
    forged[36] ^= 0x55;
    let mut short = acknowledgment.clone();
    // Longer than it is, according to its length field.
    short[2] = 9;
    let tag = [0x8100, 0x6005];
    let frames = [
        frame(&[], 0x0806, &[1; 46]),
        frame(&[], 0x88cc, &[3; 60]),
        frame(&[], 0x86dd, &[0x60, 0, 0, 0]),
        frame(&[], 0x0800, &[]),
        frame(&[], 0x0800, &short),
        frame(&[tag], 0x0800, &short),
        frame(&[tag], 0x0800, &forged),
        frame(&[tag], 0x0800, &data),
        frame(&[tag], 0x0806, &[1; 46]),
        frame(&[[0x88a8, 7], tag], 0x0800, &data),
        frame(&[[0x88a8, 7], tag], 0x1234, &[5; 1400]),
    ];
    for (from, to) in [(&mobile, &wired), (&wired, &mobile)] {
        for (number, sent) in frames.iter().enumerate() {
            write(from, sent).unwrap();
            assert_eq!(&next_frame(to), sent, "frame {number}");
        }
    }
    // A connection in a VLAN, whose acknowledgments are held once its round trip is known.
    for number in 1..40 {
        let [data, acknowledgment] = exchange(number).map(|packet| frame(&[tag], 0x0800, &packet));
        write(&mobile, &data).unwrap();
        assert_eq!(next_frame(&wired), data);
        // The gateway's tap delivers in blocks.
        std::thread::sleep(Duration::from_millis(10));
        write(&wired, &acknowledgment).unwrap();
        assert_eq!(next_frame(&mobile), acknowledgment);
    }
    let report = gateway.stop();
    assert!(report["did"]["delayed"].as_u64() > Some(10), "{report}");
}
