//! Forged packets of an off-path attacker: resets (RFC 5961) and errors of routers (RFC 5927).

use std::io::Read;
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::os::fd::OwnedFd;

use airtcp_packet::wire::{Addresses, emit};
use airtcp_packet::{Flags, Segment, SequenceNumber};
use rustix::net::{
    AddressFamily, SendFlags, SocketFlags, SocketType, ipproto, sendto, socket_with,
};

use super::payload::bytes;
use super::world::{DEVICE, ENDPOINT, KERNEL, World, get};

const LENGTH: usize = 24 << 20;
/// Sequence numbers apart: less than the window that the endpoint offers, so that some fall in it.
const STEP: usize = 1 << 15;
/// More than the kernel's non-TCP packets on the device, for IPv6 neighbours and groups.
const OTHERS: usize = 20;
/// A host that has nothing to do with it.
const ROUTER: Ipv4Addr = Ipv4Addr::new(10, 112, 7, 99);

/// Sends packets with forged sources.
struct Forger(OwnedFd);

impl Forger {
    fn new(world: &World) -> Self {
        // Packets that the endpoint has not read yet are queued, and not dropped.
        world.on_machine(&format!("ip link set {DEVICE} txqueuelen 500000"));
        let made = world.machine.enter(|| {
            let raw = Some(ipproto::RAW);
            Ok(socket_with(
                AddressFamily::INET,
                SocketType::RAW,
                SocketFlags::CLOEXEC,
                raw,
            )
            .unwrap())
        });
        Self(made.unwrap())
    }

    fn send(&self, packet: &[u8]) {
        let to = SocketAddrV4::new(ENDPOINT, 0);
        sendto(&self.0, packet, SendFlags::empty(), &to).unwrap();
    }
}

/// Sequence numbers over all their space, from a start that by design of the test never equals the
/// peer's.
fn everywhere() -> impl Iterator<Item = u32> {
    (0x1234..u32::MAX).step_by(STEP)
}

/// The kernel's end of a connection, and the endpoint's.
fn ends(stream: &TcpStream) -> Addresses<SocketAddrV4> {
    let port = stream.local_addr().unwrap().port();
    Addresses {
        source: SocketAddrV4::new(KERNEL, port),
        destination: SocketAddrV4::new(ENDPOINT, stream.peer_addr().unwrap().port()),
    }
}

/// An ICMP error of a router about a packet of the endpoint's (RFC 792).
fn error(kind: [u8; 2], mtu: u16, ends: &Addresses<SocketAddrV4>, sequence: u32) -> Vec<u8> {
    let about = Addresses {
        source: ends.destination,
        destination: ends.source,
    };
    let segment = Segment {
        sequence: SequenceNumber(sequence),
        flags: Flags::ACK,
        payload_bytes: 1000,
        ..Segment::default()
    };
    let mut quoted = Vec::new();
    emit(&segment, &about, 1, &[], &mut quoted).unwrap();
    let mut message = vec![kind[0], kind[1], 0, 0, 0, 0];
    message.extend(mtu.to_be_bytes());
    message.extend(&quoted[..28]);
    let sum = checksum(&message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let total = 20 + message.len() as u16;
    let mut packet = vec![0x45, 0];
    packet.extend(total.to_be_bytes());
    packet.extend([0, 0, 0, 0, 64, 1, 0, 0]);
    packet.extend(ROUTER.octets());
    packet.extend(ENDPOINT.octets());
    let sum = checksum(&packet);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet.extend(message);
    packet
}

/// RFC 1071, of an even number of bytes.
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks_exact(2);
    let mut sum: u32 = words
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Plays `forge` during a transfer that waits for its reader, and returns the server's counters.
fn attack(forge: impl Fn(&Forger, &Addresses<SocketAddrV4>)) -> Option<String> {
    let world = World::new()?;
    let sent = bytes(1, LENGTH);
    world.file("down", &sent);
    let server = world.serve(&[]);
    let stream = world.connect(&world.machine);
    let ends = ends(&stream);
    let (_, mut body) = get(stream, "down");
    forge(&Forger::new(&world), &ends);
    let mut arrived = Vec::new();
    body.read_to_end(&mut arrived).unwrap();
    assert!(arrived == sent);
    Some(server.interrupt())
}

fn count(said: &str, what: &str) -> usize {
    let rest = said.split(&format!("{what}: ")).nth(1).unwrap();
    rest[..rest.find([',', ' ']).unwrap()].parse().unwrap()
}

/// One of them falls into the window, whatever the numbers are: it is challenged and no more.
#[test]
fn resets_at_all_sequence_numbers_stop_nothing() {
    let said = attack(|forger, ends| {
        let mut packet = Vec::new();
        for sequence in everywhere() {
            let segment = Segment {
                sequence: SequenceNumber(sequence),
                flags: Flags::RST,
                ..Segment::default()
            };
            packet.clear();
            emit(&segment, ends, 0, &[], &mut packet).unwrap();
            forger.send(&packet);
        }
    });
    let Some(said) = said else { return };
    // They came all.
    assert!(count(&said, "packets_received") > everywhere().count());
    assert!(count(&said, "packets_malformed") < OTHERS, "{said}");
}

#[test]
fn errors_of_routers_that_are_none_stop_nothing() {
    const PORT_UNREACHABLE: [u8; 2] = [3, 3];
    const FRAGMENTATION_NEEDED: [u8; 2] = [3, 4];
    let said = attack(|forger, ends| {
        for sequence in everywhere() {
            forger.send(&error(PORT_UNREACHABLE, 0, ends, sequence));
            // Less than any IPv4 network has to take.
            forger.send(&error(FRAGMENTATION_NEEDED, 60, ends, sequence));
        }
    });
    let Some(said) = said else { return };
    assert!(count(&said, "packets_received") > 2 * everywhere().count());
    assert!(count(&said, "packets_malformed") < OTHERS, "{said}");
    assert_eq!(count(&said, "router_errors"), 0, "{said}");
}
