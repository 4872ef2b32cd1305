//! The mobile side in our endpoint: results are the same as with the kernel on both sides.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr};
use std::time::Duration;

use super::ends::{exchange, refusal, resets_pass};
use super::payload::bytes;
use super::world::{Proxy, World, v4};

const LENGTH: usize = 1 << 20;
/// An address of nobody's, which the client reaches by way of the router.
pub const NOBODYS: [u8; 4] = [10, 9, 9, 9];

/// A proxy to `server` with our stack on that side, and the address for clients.
pub fn proxy(world: &World, server: SocketAddr, side: &str, stack: &str) -> (Proxy, SocketAddr) {
    let address = if side == "clients" {
        IpAddr::from(NOBODYS)
    } else {
        v4().router
    };
    let listen = SocketAddr::from((address, 8080));
    let words = [listen.to_string(), server.to_string()];
    let options = [
        "--listen",
        &words[0],
        "--to",
        &words[1],
        "--mobile-stack",
        stack,
        "--mobile",
        side,
    ];
    (world.proxy(&options), listen)
}

#[test]
fn data_and_ends_pass_on_either_side() {
    let Some(world) = World::new() else { return };
    let listener = world.listen(v4().server);
    for (side, stack) in [
        ("clients", "newreno"),
        ("servers", "linux+rto-factor:factor=10"),
    ] {
        let (proxy, listen) = proxy(&world, listener.local_addr().unwrap(), side, stack);
        let (up, down) = (bytes(6, LENGTH), bytes(7, LENGTH + 1));
        let mut client = world.connect(listen);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut server, _) = listener.accept().unwrap();
                assert!(exchange(&mut server, &down) == up, "{side}: to the server");
            });
            assert!(exchange(&mut client, &up) == down, "{side}: to the client");
        });
        // Half a connection: the question ends, and the answer comes after.
        let mut client = world.connect(listen);
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(b"a question").unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut read = Vec::new();
        server.read_to_end(&mut read).unwrap();
        assert_eq!(read, b"a question", "{side}");
        // The proxy does not hold all of the answer: it is read while it is written.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                server.write_all(&down).unwrap();
                drop(server);
            });
            let mut read = Vec::new();
            client.read_to_end(&mut read).unwrap();
            assert!(read == down, "{side}: the answer");
        });
        world.await_count("closed", 2);
        let (status, said) = proxy.end();
        assert!(status.success(), "{side}: {said}");
    }
}

#[test]
fn resets_pass_on_either_side() {
    let Some(world) = World::new() else { return };
    let listener = world.listen(v4().server);
    for side in ["clients", "servers"] {
        let (proxy, listen) = proxy(&world, listener.local_addr().unwrap(), side, "sack");
        resets_pass(&world, &listener, listen);
        world.await_count("failed", 2);
        proxy.end();
    }
    let closed = listener.local_addr().unwrap();
    drop(listener);
    for side in ["clients", "servers"] {
        let (proxy, listen) = proxy(&world, closed, side, "sack");
        assert_eq!(
            refusal(&world, listen),
            ErrorKind::ConnectionReset,
            "{side}"
        );
        world.await_count("connect_failed", 1);
        proxy.end();
    }
}

/// Each session is written down as it ends.
#[test]
fn sessions_are_kept() {
    let Some(world) = World::new() else { return };
    let listener = world.listen(v4().server);
    let file = world.state.path().join("sessions");
    let listen = SocketAddr::from((v4().router, 8080));
    let words = [
        listen.to_string(),
        listener.local_addr().unwrap().to_string(),
        file.to_str().unwrap().to_owned(),
    ];
    let _proxy = world.proxy(&[
        "--listen",
        &words[0],
        "--to",
        &words[1],
        "--mobile",
        "servers",
        "--mobile-stack",
        "newreno",
        "--sessions",
        &words[2],
    ]);
    for session in 1..=2 {
        let client = world.connect(listen);
        let (mut server, _) = listener.accept().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut client = client;
                client.write_all(&bytes(8, LENGTH)).unwrap();
            });
            let mut read = Vec::new();
            server.read_to_end(&mut read).unwrap();
            assert_eq!(read.len(), LENGTH);
        });
        drop(server);
        world.await_count("closed", session);
        let (sessions, warning) =
            airtcp_sessions::Sessions::open(&file, airtcp_sessions::Limits::default());
        assert!(warning.is_none());
        assert_eq!(u64::from(sessions.count().unwrap()), session);
    }
}

/// For a mobile that reads nothing, one window and the data of two round trips are buffered, not
/// the whole of --buffer.
#[test]
fn little_waits_for_a_mobile_that_does_not_read() {
    let Some(world) = World::new() else { return };
    let listener = world.listen(v4().server);
    let (_proxy, listen) = proxy(&world, listener.local_addr().unwrap(), "clients", "newreno");
    let _client = world.connect(listen);
    let (mut server, _) = listener.accept().unwrap();
    server.set_nonblocking(true).unwrap();
    let mut passed = 0;
    let mut quiet = 0;
    // Until nothing has moved for a second.
    while quiet < 20 {
        while server.write(&[0; 1 << 16]).is_ok() {}
        let now = world.counted("down_bytes");
        quiet = if now == passed { quiet + 1 } else { 0 };
        passed = now;
        std::thread::sleep(Duration::from_millis(50));
    }
    // A client that reads nothing has a window of its first buffer, of at most 128 KiB
    // (net.ipv4.tcp_rmem); the sender's was never larger.
    assert!(passed < 1 << 20, "{passed} bytes");
}
