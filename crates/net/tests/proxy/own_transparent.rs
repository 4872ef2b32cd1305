//! Transparent mode with our stack on one side: the kernel has the other.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};

use rustix::process::{Signal, kill_process};

use super::deaths::{guard_of, through};
use super::ends::{error_of, exchange, refusal, resets_pass};
use super::payload::bytes;
use super::world::{Proxy, World, await_that, v4, v6};

const LENGTH: usize = 1 << 20;
const SIDES: [&str; 2] = ["clients", "servers"];

/// A proxy with our stack on that side; `more` are further options.
fn proxy(world: &World, side: &str, more: &[&str]) -> Proxy {
    let options = [
        "--listen",
        ":3129",
        "--transparent",
        "--device",
        "c0",
        "--mobile",
        side,
        "--mobile-stack",
        "newreno+rto-factor:factor=10",
    ];
    world.proxy(&[&options[..], more].concat())
}

#[test]
fn both_ends_keep_their_addresses_and_their_data() {
    let Some(world) = World::new() else { return };
    for side in SIDES {
        let proxy = proxy(&world, side, &[]);
        for addresses in [v4(), v6()] {
            let listener = world.listen(addresses.server);
            let (up, down) = (bytes(6, LENGTH), bytes(7, LENGTH + 1));
            let mut client = world.connect(listener.local_addr().unwrap());
            let (mut server, peer) = listener.accept().unwrap();
            assert_eq!(peer, client.local_addr().unwrap(), "{side}");
            assert_eq!(peer.ip(), addresses.client, "{side}");
            assert_eq!(client.peer_addr().unwrap(), server.local_addr().unwrap());
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    assert!(exchange(&mut server, &down) == up, "{side}: to the server");
                });
                assert!(exchange(&mut client, &up) == down, "{side}: to the client");
            });
        }
        world.await_count("closed", 2);
        assert_eq!(world.counted("up_bytes"), 2 * LENGTH as u64, "{side}");
        assert!(world.rules().contains("0x6175"), "{}", world.rules());
        let (status, said) = proxy.end();
        assert!(status.success(), "{side}: {said}");
        assert_eq!(world.rules(), "", "{side}");
    }
}

/// Half a connection: the question ends, and the answer comes after.
#[test]
fn one_direction_may_end_first() {
    let Some(world) = World::new() else { return };
    for side in SIDES {
        let _proxy = proxy(&world, side, &[]);
        let listener = world.listen(v4().server);
        let mut client = world.connect(listener.local_addr().unwrap());
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(b"a question").unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut read = Vec::new();
        server.read_to_end(&mut read).unwrap();
        assert_eq!(read, b"a question", "{side}");
        let answer = bytes(8, LENGTH);
        server.write_all(&answer).unwrap();
        drop(server);
        read.clear();
        client.read_to_end(&mut read).unwrap();
        assert!(read == answer, "{side}: the answer");
        world.await_count("closed", 1);
    }
}

#[test]
fn resets_and_refusals_pass() {
    let Some(world) = World::new() else { return };
    for side in SIDES {
        let _proxy = proxy(&world, side, &[]);
        let listener = world.listen(v4().server);
        resets_pass(&world, &listener, listener.local_addr().unwrap());
        world.await_count("failed", 2);
        let closed = listener.local_addr().unwrap();
        drop(listener);
        assert_eq!(
            refusal(&world, closed),
            ErrorKind::ConnectionReset,
            "{side}"
        );
        world.await_count("connect_failed", 1);
    }
}

/// A connection that is older than the proxy, one to another port, and one that a server makes to
/// a client, all go on as without a proxy.
#[test]
fn what_is_not_meant_passes_by() {
    let Some(world) = World::new() else { return };
    let meant = world.listen(v4().server);
    let port = meant.local_addr().unwrap().port().to_string();
    for side in SIDES {
        let older = world.connect(meant.local_addr().unwrap());
        let (from_older, _) = meant.accept().unwrap();
        let _proxy = proxy(&world, side, &["--port", &port]);
        let other = world.listen(v4().server);
        let to_other = world.connect(other.local_addr().unwrap());
        let (from_other, _) = other.accept().unwrap();
        let clients = world
            .client
            .enter(|| Ok(TcpListener::bind((v4().client, 0)).unwrap()));
        let clients = clients.unwrap();
        let backwards = world
            .server
            .enter(|| Ok(TcpStream::connect(clients.local_addr().unwrap()).unwrap()));
        let (to_server, _) = clients.accept().unwrap();
        let pairs = [
            (older, from_older),
            (to_other, from_other),
            (to_server, backwards.unwrap()),
        ];
        for (mut client, mut server) in pairs {
            let (up, down) = (bytes(9, LENGTH), bytes(10, LENGTH));
            std::thread::scope(|scope| {
                scope.spawn(|| assert!(exchange(&mut server, &down) == up, "{side}"));
                assert!(exchange(&mut client, &up) == down, "{side}");
            });
        }
        assert_eq!(world.counted("accepted"), 0, "{side}");
        let _meant = world.connect(meant.local_addr().unwrap());
        meant.accept().unwrap();
        assert_eq!(world.counted("accepted"), 1, "{side}");
    }
}

/// No router reports a packet too long for the machine's device.
#[test]
fn segments_fit_the_devices() {
    let Some(world) = World::new() else { return };
    for device in ["c0", "s0"] {
        world.on_router(&["ip", "link", "set", device, "mtu", "1300"]);
    }
    for side in SIDES {
        let _proxy = proxy(&world, side, &[]);
        for addresses in [v4(), v6()] {
            let listener = world.listen(addresses.server);
            let (up, down) = (bytes(11, LENGTH), bytes(12, LENGTH));
            let mut client = world.connect(listener.local_addr().unwrap());
            let (mut server, _) = listener.accept().unwrap();
            std::thread::scope(|scope| {
                scope.spawn(|| assert!(exchange(&mut server, &down) == up, "{side}"));
                assert!(exchange(&mut client, &up) == down, "{side}");
            });
        }
    }
}

/// After kill -9 the kernel's side is reset, and the guard takes the rules away; if that was killed
/// too, the next start does. Clients reach their servers meanwhile.
#[test]
fn a_killed_proxy_leaves_no_rule() {
    let Some(world) = World::new() else { return };
    for side in SIDES {
        let mut first = proxy(&world, side, &[]);
        let [mut client, mut server] = through(&world);
        assert!(!world.rules().is_empty(), "{side}");
        first.kill();
        let kernels = if side == "clients" {
            &mut server
        } else {
            &mut client
        };
        assert_eq!(error_of(kernels), ErrorKind::ConnectionReset, "{side}");
        await_that(
            || world.rules().is_empty(),
            "the guard takes the rules away",
        );
        through(&world);

        let mut second = proxy(&world, side, &[]);
        kill_process(guard_of(&second), Signal::KILL).unwrap();
        second.kill();
        assert!(!world.rules().is_empty(), "{side}");
        through(&world);
        let third = proxy(&world, side, &[]);
        assert!(third.before.contains("a proxy that was killed"), "{side}");
        through(&world);
        assert_eq!(world.counted("accepted"), 1, "{side}");
        let (status, said) = third.end();
        assert!(status.success(), "{side}: {said}");
        assert_eq!(world.rules(), "", "{side}");
    }
}
