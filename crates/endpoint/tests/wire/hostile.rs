//! Packets from strangers take bounded memory and time, and block no connection.

use airtcp_endpoint::{FourTuple, Handled, ListenOptions, Options, Read};
use airtcp_packet::wire::{Addresses, emit};
use airtcp_packet::{Flags, Segment, SequenceNumber, Timestamps};
use airtcp_tcp::State;
use airtcp_units::Duration;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::time;

use super::world::{CLIENT, SERVER, World, fragmentation_needed, pattern, patterned};

fn v4(address: SocketAddr) -> SocketAddrV4 {
    match address {
        SocketAddr::V4(address) => address,
        SocketAddr::V6(_) => panic!("no IPv4"),
    }
}

/// A segment to `to`'s end of `tuple`, as somebody else would forge it.
fn forged(tuple: &FourTuple, segment: &Segment, payload: &[u8]) -> Vec<u8> {
    let addresses = Addresses {
        source: v4(tuple.remote),
        destination: v4(tuple.local),
    };
    let mut packet = Vec::new();
    emit(segment, &addresses, 0, payload, &mut packet).unwrap();
    packet
}

/// 100 000 SYNs from as many addresses: the backlog fills, and beyond it no state is kept. A real
/// client gets in by cookie, and every option that a cookie can encode holds.
#[test]
fn a_flood_of_syns_keeps_nobody_out() {
    let mut world = World::new(1);
    let listening = ListenOptions {
        backlog: 64,
        ..ListenOptions::default()
    };
    let listener = world.listen(listening);
    let server = super::world::server_address();
    for number in 0..100_000_u32 {
        let syn = Segment {
            sequence: SequenceNumber(number),
            flags: Flags::SYN,
            window: 65_535,
            mss: Some(1460),
            ..Segment::default()
        };
        let stranger = Ipv4Addr::from_bits(0x0b00_0000 + number);
        let tuple = FourTuple {
            local: server,
            remote: SocketAddr::new(stranger.into(), 1000),
        };
        let packet = forged(&tuple, &syn, &[]);
        let handled = world.ends[SERVER].handle_packet(world.now, &packet);
        assert_eq!(handled, Ok(Handled::Taken));
    }
    assert_eq!(world.ends[SERVER].len(), 64);
    assert_eq!(world.ends[SERVER].counters().cookies_sent, 100_000 - 64);
    let mut buffer = Vec::new();
    let mut answers = 0;
    while world.ends[SERVER]
        .poll_transmit(world.now, &mut buffer)
        .is_some()
    {
        answers += 1;
    }
    assert!(
        answers <= 1024 + 64,
        "answers wait in bounded number: {answers}"
    );

    let client = world.connect(&Options::default());
    let mut accepted = None;
    world.until(|world| {
        accepted = world.ends[SERVER].accept(listener);
        accepted.is_some()
    });
    assert_eq!(world.ends[SERVER].counters().cookies_accepted, 1);
    let guest = accepted.unwrap();
    world.ends[CLIENT]
        .write(client, &patterned(3, 0, 300_000))
        .unwrap();
    let mut read = 0;
    world.until(|world| {
        for byte in world.read(SERVER, guest) {
            assert_eq!(byte, pattern(3, read));
            read += 1;
        }
        read == 300_000
    });
    // Data that had waited to be read does not count any more once the next segment arrives.
    world.ends[CLIENT]
        .write(client, &patterned(3, 300_000, 1000))
        .unwrap();
    world.until(|world| {
        read += world.read(SERVER, guest).len() as u64;
        read == 301_000
    });
    let stream = world.ends[CLIENT].stream(client).unwrap();
    let window = stream.connection().sender().right_edge() - 301_000;
    assert!(window > 65_535, "scaled by the cookie's word: {window}");
    // Clients that never answered are forgotten.
    world.pass(Duration::from_secs(200));
    assert_eq!(world.ends[SERVER].len(), 1);
}

/// An acknowledgment that is to no cookie of ours opens nothing.
#[test]
fn guessed_cookies_open_nothing() {
    let mut world = World::new(1);
    let listening = ListenOptions {
        backlog: 1,
        ..ListenOptions::default()
    };
    world.listen(listening);
    let server = super::world::server_address();
    for number in 0..10_000_u32 {
        let tuple = FourTuple {
            local: server,
            remote: SocketAddr::new(Ipv4Addr::new(11, 0, 0, 1).into(), 1000),
        };
        let flags = if number < 2 { Flags::SYN } else { Flags::ACK };
        let segment = Segment {
            sequence: SequenceNumber(number),
            acknowledgment: SequenceNumber(number.wrapping_mul(0x9e37_79b9)),
            flags,
            ..Segment::default()
        };
        let mut tuple = tuple;
        tuple.remote.set_port(1000 + number as u16 % 5000);
        let packet = forged(&tuple, &segment, &[]);
        let _ = world.ends[SERVER].handle_packet(world.now, &packet);
    }
    assert_eq!(world.ends[SERVER].counters().cookies_accepted, 0);
    assert_eq!(world.ends[SERVER].len(), 1);
}

/// CVE-2018-5390, "SegmentSmack": islands of one byte each, every second byte. Kept in bounded
/// number, and each costs no more than the logarithm of it.
#[test]
fn eighty_thousand_islands_take_bounded_memory_and_time() {
    let mut world = World::new(1);
    let [client, server] = world.open(&Options::default(), ListenOptions::default());
    let tuple = world.ends[SERVER].tuple(server).unwrap();
    let stream = world.ends[CLIENT].stream(client).unwrap().connection();
    let (first, acknowledged) = (stream.next_sequence(), stream.expected_sequence());
    let offset = {
        // The timestamp that the server would accept: read off the client's packets.
        let mut buffer = Vec::new();
        world.ends[CLIENT].write(client, b"x").unwrap();
        world.ends[CLIENT]
            .poll_transmit(world.now, &mut buffer)
            .unwrap();
        let parsed = airtcp_packet::wire::parse(&buffer).unwrap();
        parsed.segment.timestamps.unwrap()
    };
    let began = time::Instant::now();
    for number in 0..80_000_u32 {
        let island = Segment {
            sequence: first + 2 * number + 1,
            acknowledgment: acknowledged,
            flags: Flags::ACK,
            window: 1000,
            payload_bytes: 1,
            timestamps: Some(offset),
            ..Segment::default()
        };
        let packet = forged(&tuple, &island, b"!");
        world.ends[SERVER]
            .handle_packet(world.now, &packet)
            .unwrap();
    }
    assert!(world.ends[SERVER].buffered() <= 160_001);
    // Tens of milliseconds on an idle machine: a quadratic algorithm takes minutes.
    assert!(began.elapsed() < time::Duration::from_secs(20));
    // The stream itself goes on.
    world.pass(Duration::from_secs(2));
    assert_eq!(world.read(SERVER, server)[0], b'x');
}

/// Resets, data and router errors of somebody who knows the ends but not the numbers: RFC 5961 and
/// RFC 5927. A transfer is neither stopped nor changed.
#[test]
fn forged_segments_stop_no_transfer() {
    let mut world = World::new(7);
    let [client, server] = world.open(&Options::default(), ListenOptions::default());
    let tuples = [
        world.ends[CLIENT].tuple(client).unwrap(),
        world.ends[SERVER].tuple(server).unwrap(),
    ];
    let (mut written, mut read) = (0, 0);
    world.until(|world| {
        let bytes = patterned(5, written, 10_000);
        written += world.ends[CLIENT].write(client, &bytes).unwrap() as u64;
        for side in [CLIENT, SERVER] {
            let kinds = [
                Flags::RST,
                Flags::RST | Flags::ACK,
                Flags::SYN,
                Flags::ACK,
                Flags::FIN,
            ];
            let flags = kinds[world.draws.below(5) as usize];
            let data = flags == Flags::ACK;
            let segment = Segment {
                sequence: SequenceNumber(world.draws.next() as u32),
                acknowledgment: SequenceNumber(world.draws.next() as u32),
                flags,
                window: 0,
                payload_bytes: if data { 1000 } else { 0 },
                timestamps: data.then_some(Timestamps {
                    value: u32::MAX >> 1,
                    echo: 1,
                }),
                ..Segment::default()
            };
            let packet = forged(&tuples[side], &segment, &[0xbd; 1000]);
            let _ = world.ends[side].handle_packet(world.now, &packet);
            // About a packet that this side might have sent, with a number nobody could know.
            let back = FourTuple {
                local: tuples[side].remote,
                remote: tuples[side].local,
            };
            let quoted = Segment {
                payload_bytes: 1400,
                ..segment
            };
            let error = fragmentation_needed(&forged(&back, &quoted, &[]), 600);
            let _ = world.ends[side].handle_packet(world.now, &error);
        }
        for byte in world.read(SERVER, server) {
            assert_eq!(byte, pattern(5, read), "at {read}");
            read += 1;
        }
        read >= 2_000_000
    });
    let stream = world.ends[CLIENT].stream(client).unwrap().connection();
    assert_eq!(stream.state(), State::Established);
    assert_eq!(stream.sender().mss(), 1448, "no error was believed");
}

/// Data refused by PAWS is not stored, though it lies in the window (RFC 7323 §5.3, R1).
#[test]
fn what_is_too_old_is_not_read() {
    let mut world = World::new(1);
    let [client, server] = world.open(&Options::default(), ListenOptions::default());
    world.pass(Duration::from_secs(10));
    world.ends[CLIENT].write(client, b"fresh").unwrap();
    world.pass(Duration::from_secs(1));
    assert_eq!(world.read(SERVER, server), b"fresh");
    let tuple = world.ends[SERVER].tuple(server).unwrap();
    let sender = world.ends[CLIENT].stream(client).unwrap().connection();
    let recent = world.ends[SERVER]
        .stream(server)
        .unwrap()
        .connection()
        .recent_timestamp();
    let stamps = |value| Segment {
        sequence: sender.next_sequence(),
        acknowledgment: sender.expected_sequence(),
        flags: Flags::ACK,
        window: 1000,
        payload_bytes: 5,
        timestamps: Some(Timestamps { value, echo: 0 }),
        ..Segment::default()
    };
    let old = forged(
        &tuple,
        &stamps(recent.unwrap().wrapping_sub(5000)),
        b"stale",
    );
    let new = forged(&tuple, &stamps(recent.unwrap()), b"valid");
    world.ends[SERVER].handle_packet(world.now, &old).unwrap();
    let mut bytes = [0; 16];
    assert_eq!(
        world.ends[SERVER].read(server, &mut bytes),
        Ok(Read::Nothing)
    );
    world.ends[SERVER].handle_packet(world.now, &new).unwrap();
    assert_eq!(
        world.ends[SERVER].read(server, &mut bytes),
        Ok(Read::Bytes(5))
    );
    assert_eq!(&bytes[..5], b"valid");
}
