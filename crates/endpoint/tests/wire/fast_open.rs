//! TCP Fast Open between two endpoints (RFC 7413).

use airtcp_endpoint::{
    ConnectionId, FastOpenConnect, FastOpenKeys, FastOpenListen, Linger, ListenOptions, ListenerId,
    Options, Settings,
};
use airtcp_units::{Duration, Instant};

use super::world::{CLIENT, Faults, SERVER, World, address, patterned, server_address};

const ASKS: FastOpenConnect = FastOpenConnect {
    without_cookie: false,
};

fn listening(pending: usize) -> ListenOptions {
    ListenOptions {
        fast_open: Some(FastOpenListen {
            pending,
            ..FastOpenListen::default()
        }),
        ..ListenOptions::default()
    }
}

/// Opens a connection with `data`; returns how much of it the SYN carries.
fn connect(world: &mut World, data: &[u8]) -> (ConnectionId, usize) {
    let from = address("10.0.0.1:0");
    let (id, taken) = world.ends[CLIENT]
        .connect_fast(
            world.now,
            from,
            server_address(),
            &Options::default(),
            ASKS,
            data,
        )
        .unwrap();
    assert_eq!(
        world.ends[CLIENT].write(id, &data[taken..]),
        Ok(data.len() - taken)
    );
    (id, taken)
}

/// The next connection, all that it sends, and when its first byte could be read.
fn accept(
    world: &mut World,
    listener: ListenerId,
    bytes: usize,
) -> (ConnectionId, Vec<u8>, Instant) {
    let mut accepted = None;
    world.until(|world| {
        accepted = world.ends[SERVER].accept(listener);
        accepted.is_some()
    });
    let id = accepted.unwrap();
    let (mut read, mut first) = (Vec::new(), None);
    world.until(|world| {
        let piece = world.read(SERVER, id);
        if !piece.is_empty() {
            first.get_or_insert(world.now);
        }
        read.extend(piece);
        read.len() >= bytes
    });
    (id, read, first.unwrap())
}

fn release(world: &mut World, ids: [ConnectionId; 2]) {
    for (side, id) in ids.into_iter().enumerate() {
        world.ends[side]
            .release(world.now, id, Linger::Reset)
            .unwrap();
    }
    world.flush();
}

/// The first connection asks for a cookie, and its data waits for the handshake; that of the second
/// arrives with the SYN, a round trip earlier.
#[test]
fn data_arrives_with_the_second_syn() {
    let mut world = World::new(1);
    let listener = world.listen(listening(10));
    let data = patterned(1, 0, 5000);
    for (carried, delay) in [(0, 15), (1420, 5)] {
        let begun = world.now;
        let (client, taken) = connect(&mut world, &data);
        assert_eq!(taken, carried);
        let (server, read, first) = accept(&mut world, listener, data.len());
        assert_eq!(read, data);
        assert_eq!(first - begun, Duration::from_millis(delay));
        release(&mut world, [client, server]);
    }
    let [client, server] = [CLIENT, SERVER].map(|side| *world.ends[side].counters());
    assert_eq!((client.syn_data_accepted, server.opened_early), (1, 1));
}

/// The server answers before the client's acknowledgment: the whole exchange takes a round trip.
#[test]
fn an_answer_leaves_before_the_handshake_is_complete() {
    let mut world = World::new(2);
    let listener = world.listen(listening(10));
    let (client, _) = connect(&mut world, b"");
    let mut accepted = None;
    world.until(|world| {
        accepted = world.ends[SERVER].accept(listener);
        accepted.is_some()
    });
    release(&mut world, [client, accepted.unwrap()]);
    let begun = world.now;
    let (client, taken) = connect(&mut world, b"question");
    assert_eq!(taken, 8);
    let (server, read, _) = accept(&mut world, listener, 8);
    assert_eq!(read, b"question");
    world.ends[SERVER].write(server, b"answer").unwrap();
    let mut answer = Vec::new();
    world.until(|world| {
        answer.extend(world.read(CLIENT, client));
        answer.len() == 6
    });
    assert_eq!(
        (answer.as_slice(), world.now - begun),
        (&b"answer"[..], Duration::from_millis(10))
    );
}

/// A listener without Fast Open, or with as many as it may have: the data comes after the
/// handshake, and nothing is lost.
#[test]
fn refused_data_comes_after_the_handshake() {
    let data = patterned(3, 0, 4000);
    for options in [ListenOptions::default(), listening(0)] {
        let mut world = World::new(3);
        let listener = world.listen(listening(10));
        let (client, _) = connect(&mut world, b"x");
        let (server, ..) = accept(&mut world, listener, 1);
        release(&mut world, [client, server]);
        world.ends[SERVER].close_listener(world.now, listener);
        let listener = world.listen(options);
        let (_, taken) = connect(&mut world, &data);
        assert_eq!(taken, 1420);
        let (_, read, _) = accept(&mut world, listener, data.len());
        assert_eq!(read, data);
        assert_eq!(world.ends[SERVER].counters().opened_early, 0);
    }
}

/// A cookie of the key before the present one still opens, and is replaced; two keys later it is
/// worth nothing, and the client learns a new one.
#[test]
fn keys_rotate_without_a_lost_byte() {
    let mut world = World::with(4, |settings| Settings {
        fast_open_keys: Some(FastOpenKeys::new([9; 16])),
        ..settings
    });
    let listener = world.listen(listening(10));
    let data = patterned(4, 0, 3000);
    let mut opened = Vec::new();
    // A request, its cookie; the key before, its replacement; two keys at once, the new cookie.
    for rotations in [0, 0, 1, 0, 2, 0] {
        for _ in 0..rotations {
            let keys = world.ends[SERVER].fast_open_keys();
            let key = [world.ends[SERVER].counters().packets_received as u8; 16];
            world.ends[SERVER].set_fast_open_keys(keys.rotated(key));
        }
        if rotations == 2 {
            let keys = world.ends[SERVER].fast_open_keys();
            world.ends[SERVER].set_fast_open_keys(keys.rotated([77; 16]));
        }
        let before = world.ends[SERVER].counters().opened_early;
        let (client, _) = connect(&mut world, &data);
        let (server, read, _) = accept(&mut world, listener, data.len());
        assert_eq!(read, data);
        opened.push(world.ends[SERVER].counters().opened_early > before);
        release(&mut world, [client, server]);
    }
    assert_eq!(opened, [false, true, true, true, false, true]);
}

/// A client that forgot its servers asks for a cookie again, and its SYN carries nothing.
#[test]
fn forgotten_servers_are_asked_again() {
    let mut world = World::new(6);
    let listener = world.listen(listening(10));
    let mut carried = Vec::new();
    for _ in 0..2 {
        for _ in 0..2 {
            let (client, taken) = connect(&mut world, b"question");
            let (server, ..) = accept(&mut world, listener, 8);
            release(&mut world, [client, server]);
            carried.push(taken);
        }
        world.ends[CLIENT].forget_fast_open_servers();
    }
    assert_eq!(carried, [0, 8, 0, 8]);
}

/// As many as the listener allows wait for their handshake; a reset does not make room at once
/// (Linux, `reqsk_fastopen_remove`).
#[test]
fn a_listener_bounds_what_it_opens_early() {
    let mut world = World::new(5);
    let listener = world.listen(listening(2));
    let (client, _) = connect(&mut world, b"x");
    let (server, ..) = accept(&mut world, listener, 1);
    release(&mut world, [client, server]);
    // SYN-ACKs are lost: no handshake is completed.
    let opened = world.ends[SERVER].counters().opened_early;
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(connect(&mut world, b"question").0);
        world.flush();
    }
    world.pass(Duration::from_millis(5));
    assert_eq!(world.ends[SERVER].counters().opened_early - opened, 2);
    assert_eq!(world.ends[SERVER].waiting(listener), 2);
}

/// Whatever the wire does, the data written is read, over sixty connections.
#[test]
fn bytes_survive_a_bad_wire() {
    for seed in 0..60 {
        let mut world = World::new(seed);
        let listener = world.listen(listening(10));
        // The cookie first, over a good wire.
        let (client, _) = connect(&mut world, b"x");
        let (server, ..) = accept(&mut world, listener, 1);
        release(&mut world, [client, server]);
        world.faults = Faults {
            lost: 150,
            duplicated: 100,
            damaged: 50,
            late: 100,
        };
        let data = patterned(seed, 0, 200 + 997 * seed as usize);
        connect(&mut world, &data);
        let (id, read, _) = accept(&mut world, listener, data.len());
        assert!(read == data, "seed {seed}");
        assert!(
            world.read(SERVER, id).is_empty(),
            "seed {seed}: nothing twice"
        );
    }
}
