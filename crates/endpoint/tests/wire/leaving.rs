//! Bytes that leave: in segments of one record each, and with no more waiting than was asked for.

use airtcp_endpoint::{Event, ListenOptions, Options, Read};

use super::world::{CLIENT, SERVER, World, patterned};

/// IPv4's and TCP's headers, timestamps among them.
const HEADERS: usize = 52;
const RECORDS: [usize; 4] = [700, 1, 2000, 300];

/// Polls the client dry; hands its packets to the server, and returns their payloads' lengths.
fn leave(world: &mut World) -> Vec<usize> {
    let (mut lengths, mut packet, now) = (Vec::new(), Vec::new(), world.now);
    while let Some(transmit) = world.ends[CLIENT].poll_transmit(now, &mut packet) {
        assert!(transmit.cut.is_none());
        lengths.push(packet.len() - HEADERS);
        world.ends[SERVER].handle_packet(now, &packet).unwrap();
    }
    lengths
}

#[test]
fn no_segment_holds_bytes_of_two_records() {
    let mut world = World::new(1);
    // Called before the handshake.
    let options = Options {
        no_delay: true,
        ..Options::default()
    };
    let [client, server] = world.open(&options, ListenOptions::default());
    let all = patterned(1, 0, RECORDS.iter().sum());
    let mut written = 0;
    for record in RECORDS {
        let end = &mut world.ends[CLIENT];
        let taken = end.write(client, &all[written..written + record]);
        assert_eq!(taken, Ok(record));
        end.end_record(client).unwrap();
        written += record;
    }
    world.ends[CLIENT].shut_writing(client).unwrap();
    assert_eq!(world.ends[CLIENT].write(client, b"x").ok(), None);
    let lengths = leave(&mut world);
    // The FIN may follow the last data in a separate segment.
    let lengths: Vec<usize> = lengths.into_iter().filter(|&length| length > 0).collect();
    assert_eq!(lengths, [700, 1, 1448, 552, 300]);
    let mut read = vec![0; all.len()];
    let count = world.ends[SERVER].read(server, &mut read);
    assert_eq!(count, Ok(Read::Bytes(all.len())));
    assert!(read == all);
    let end = world.ends[SERVER].read(server, &mut [0]);
    assert_eq!(end, Ok(Read::Finished));
}

#[test]
fn what_has_left_makes_room_for_more() {
    let mut world = World::new(2);
    let options = Options {
        unsent_below: 1000,
        ..Options::default()
    };
    let [client, _] = world.open(&options, ListenOptions::default());
    let end = &mut world.ends[CLIENT];
    while end.next_event().is_some() {}
    assert!(end.readiness(client).unwrap().writable);
    let written = end.write_with(client, 3000, |space| {
        space.fill(7);
        space.len()
    });
    assert_eq!(written, Ok(3000));
    assert!(!end.readiness(client).unwrap().writable);
    assert!(!end.has_event());
    leave(&mut world);
    let end = &mut world.ends[CLIENT];
    assert!(end.readiness(client).unwrap().writable);
    assert!(end.has_event());
    assert_eq!(end.next_event(), Some(Event::Changed(client)));
}
