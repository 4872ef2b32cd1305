//! How connections end, and the state that remains.

use airtcp_endpoint::{
    ConnectError, Event, KeepAlive, Linger, ListenOptions, Options, Read, StreamError, TIME_WAIT,
};
use airtcp_tcp::End;
use airtcp_units::Duration;

use super::world::{CLIENT, SERVER, World, address, server_address};

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// RFC 9293 §3.6: a side that has closed still receives.
#[test]
fn half_closed_connections_still_receive() {
    let mut world = World::new(1);
    let [client, server] = world.open(&Options::default(), ListenOptions::default());
    world.ends[CLIENT].write(client, b"question").unwrap();
    world.ends[CLIENT].shut_writing(client).unwrap();
    assert_eq!(
        world.ends[CLIENT].write(client, b"more"),
        Err(StreamError::WritingIsShut)
    );
    world.pass(seconds(1));
    assert_eq!(world.read(SERVER, server), b"question");
    assert_eq!(
        world.ends[SERVER].read(server, &mut [0; 9]),
        Ok(Read::Finished)
    );
    world.ends[SERVER].write(server, b"answer").unwrap();
    world.ends[SERVER].shut_writing(server).unwrap();
    world.pass(seconds(1));
    assert_eq!(world.read(CLIENT, client), b"answer");
    assert_eq!(
        world.ends[CLIENT].read(client, &mut [0; 9]),
        Ok(Read::Finished)
    );
}

/// Linux's SHUT_RD: data can be read until writing is shut too, and then it resets the connection.
#[test]
fn late_data_is_refused_once_both_sides_are_shut() {
    let mut world = World::new(1);
    let [client, server] = world.open(&Options::default(), ListenOptions::default());
    world.ends[SERVER].refuse_late_data(server).unwrap();
    world.ends[CLIENT].write(client, b"in time").unwrap();
    world.pass(seconds(1));
    assert_eq!(world.read(SERVER, server), b"in time");
    world.ends[SERVER].shut_writing(server).unwrap();
    world.pass(seconds(1));
    world.ends[CLIENT].write(client, b"late").unwrap();
    world.pass(seconds(1));
    let ready = world.ends[CLIENT].readiness(client).unwrap();
    assert_eq!(ready.ended, Some(End::Reset));
}

/// The side that closes first remembers the connection for a minute, in TIME-WAIT; a SYN from the
/// same port, newer by its timestamp, begins another within it (RFC 6191 §2).
#[test]
fn a_newer_syn_reuses_time_wait() {
    let mut world = World::new(1);
    let listener = world.listen(ListenOptions::default());
    let from = address("10.0.0.1:4000");
    for round in 0..3_u8 {
        let now = world.now;
        let client = world.ends[CLIENT]
            .connect(now, from, server_address(), &Options::default())
            .unwrap();
        let mut accepted = None;
        world.until(|world| {
            accepted = world.ends[SERVER].accept(listener);
            accepted.is_some()
        });
        let server = accepted.unwrap();
        world.ends[SERVER].write(server, &[round]).unwrap();
        // The server closes first: it is the one that remembers.
        let now = world.now;
        world.ends[SERVER]
            .release(now, server, Linger::Background)
            .unwrap();
        world.pass(seconds(1));
        assert_eq!(world.read(CLIENT, client), [round]);
        let now = world.now;
        world.ends[CLIENT]
            .release(now, client, Linger::Background)
            .unwrap();
        world.pass(seconds(1));
        assert_eq!(
            [world.ends[CLIENT].closed(), world.ends[SERVER].closed()],
            [0, 1]
        );
        assert!(world.ends[SERVER].is_empty());
    }
    world.pass(TIME_WAIT + seconds(1));
    assert_eq!(world.ends[SERVER].closed(), 0);
}

/// The side that remembers does not open another connection between the same ends itself.
#[test]
fn ends_in_time_wait_are_in_use() {
    let mut world = World::new(1);
    let [client, server] = world.open(&Options::default(), ListenOptions::default());
    let tuple = world.ends[CLIENT].tuple(client).unwrap();
    let now = world.now;
    world.ends[CLIENT]
        .release(now, client, Linger::Background)
        .unwrap();
    world.pass(seconds(1));
    world.ends[SERVER]
        .release(world.now, server, Linger::Background)
        .unwrap();
    world.pass(seconds(1));
    let now = world.now;
    let again = world.ends[CLIENT].connect(now, tuple.local, tuple.remote, &Options::default());
    assert_eq!(again, Err(ConnectError::InUse(tuple)));
}

/// RFC 9293 §3.10.7.1: where nobody listens, a SYN is answered with a reset.
#[test]
fn nobody_there_is_a_refusal() {
    let mut world = World::new(1);
    let client = world.connect(&Options::default());
    world.pass(seconds(1));
    let ended = world.ends[CLIENT].readiness(client).unwrap().ended;
    assert_eq!(ended, Some(End::Refused));
    assert_eq!(
        world.ends[CLIENT].next_event(),
        Some(Event::Changed(client))
    );
    assert_eq!(
        world.ends[CLIENT].write(client, b"x"),
        Err(StreamError::Ended(End::Refused))
    );
    world.ends[CLIENT]
        .release(world.now, client, Linger::Background)
        .unwrap();
    world.flush();
    assert!(world.ends[CLIENT].is_empty());
    assert_eq!(
        world.ends[CLIENT].readiness(client),
        Err(StreamError::Unknown)
    );
}

/// SO_LINGER with a time: data not delivered by then is given up with a reset; without a time it is
/// delivered; zero resets at once.
#[test]
fn lingering_ends() {
    let linger = [
        Linger::AtMost(seconds(5)),
        Linger::Background,
        Linger::Reset,
    ];
    for linger in linger {
        let mut world = World::new(1);
        let [client, server] = world.open(&Options::default(), ListenOptions::default());
        // Far more than the receiver, which reads nothing, has room for.
        let bytes = vec![0; 20 << 20];
        world.ends[CLIENT]
            .set_buffers(client, bytes.len(), 1 << 20)
            .unwrap();
        assert_eq!(world.ends[CLIENT].write(client, &bytes), Ok(bytes.len()));
        let now = world.now;
        world.ends[CLIENT].release(now, client, linger).unwrap();
        world.pass(seconds(4));
        let early = world.ends[SERVER].readiness(server).unwrap().ended;
        world.pass(seconds(10));
        let late = world.ends[SERVER].readiness(server).unwrap().ended;
        let expected = match linger {
            Linger::AtMost(_) => [None, Some(End::Reset)],
            Linger::Background => [None, None],
            Linger::Reset => [Some(End::Reset); 2],
        };
        assert_eq!([early, late], expected, "{linger:?}");
    }
}

/// A peer that is gone is found out by keep-alive probes; one that is there answers them for ever.
#[test]
fn keep_alive_finds_out_who_is_gone() {
    let keep_alive = KeepAlive {
        idle: seconds(30),
        interval: seconds(10),
        probes: 3,
    };
    let options = Options {
        keep_alive: Some(keep_alive),
        ..Options::default()
    };
    let mut world = World::new(1);
    let [client, _] = world.open(&options, ListenOptions::default());
    let before = world.packets;
    world.pass(seconds(300));
    assert_eq!(world.ends[CLIENT].readiness(client).unwrap().ended, None);
    // A probe and its answer every 30 s, plus the packets at the start.
    let exchanged = world.packets - before;
    assert!((18..=22).contains(&exchanged), "{exchanged}");
    world.faults.lost = 1000;
    world.pass(seconds(75));
    let ended = world.ends[CLIENT].readiness(client).unwrap().ended;
    assert_eq!(ended, Some(End::TimedOut));
}

/// TCP_USER_TIMEOUT: data unacknowledged for that long ends the connection.
#[test]
fn the_user_timeout_ends_a_silent_connection() {
    let mut world = World::new(1);
    let [client, _] = world.open(&Options::default(), ListenOptions::default());
    world.ends[CLIENT]
        .set_user_timeout(client, Some(seconds(7)))
        .unwrap();
    world.faults.lost = 1000;
    world.ends[CLIENT].write(client, b"anybody?").unwrap();
    world.pass(seconds(6));
    assert_eq!(world.ends[CLIENT].readiness(client).unwrap().ended, None);
    world.pass(seconds(3));
    let ended = world.ends[CLIENT].readiness(client).unwrap().ended;
    assert_eq!(ended, Some(End::TimedOut));
}

/// Closing a listener resets the connections waiting in it, and leaves the accepted ones.
#[test]
fn closing_a_listener_resets_what_waits() {
    let mut world = World::new(1);
    let listener = world.listen(ListenOptions::default());
    let (first, second) = (
        world.connect(&Options::default()),
        world.connect(&Options::default()),
    );
    world.pass(seconds(1));
    let accepted = world.ends[SERVER].accept(listener).unwrap();
    world.ends[SERVER].close_listener(world.now, listener);
    world.pass(seconds(1));
    let ended = |id| world.ends[CLIENT].readiness(id).unwrap().ended;
    let mut ends = [ended(first), ended(second)];
    ends.sort_by_key(Option::is_some);
    assert_eq!(ends, [None, Some(End::Reset)]);
    assert_eq!(world.ends[SERVER].readiness(accepted).unwrap().ended, None);
    assert_eq!(world.ends[SERVER].len(), 1);
}
