//! Data, ends, resets and errors pass through as on a connection without a proxy.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;

use super::payload::bytes;
use super::world::{World, v4};

const LENGTH: usize = 8 << 20;

/// Sends all of `out` while it reads to the end; returns the data read.
pub fn exchange(stream: &mut TcpStream, out: &[u8]) -> Vec<u8> {
    let mut writer = stream.try_clone().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            writer.write_all(out).unwrap();
            writer.shutdown(Shutdown::Write).unwrap();
        });
        let mut read = Vec::new();
        stream.read_to_end(&mut read).unwrap();
        read
    })
}

/// The error with which a connection ends.
pub fn error_of(stream: &mut TcpStream) -> ErrorKind {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => panic!("an end in order, and no error"),
            Ok(_) => {}
            Err(error) => return error.kind(),
        }
    }
}

pub fn reset(stream: TcpStream) {
    set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    drop(stream);
}

#[test]
fn both_ways_at_once_arrive_as_sent() {
    let Some(world) = World::new() else { return };
    let listener = world.listen(v4().server);
    let (proxy, address) = world.proxy_to(&listener, &[]);
    let (up, down) = (bytes(1, LENGTH), bytes(2, LENGTH + 1));
    let mut client = world.connect(address);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut server, _) = listener.accept().unwrap();
            assert!(exchange(&mut server, &down) == up, "to the server");
        });
        assert!(exchange(&mut client, &up) == down, "to the client");
    });
    world.await_count("closed", 1);
    assert_eq!(world.counted("up_bytes"), up.len() as u64);
    assert_eq!(world.counted("down_bytes"), down.len() as u64);
    assert_eq!(world.counted("granted_bytes"), 0);
    assert_eq!(world.counted("pipes"), 0);
    let (status, said) = proxy.end();
    assert!(status.success(), "{said}");
    assert!(said.contains("1 connections: 1 closed, 0 failed"), "{said}");
}

/// One direction ends, and the other goes on: as long as it likes, whichever is first.
#[test]
fn half_a_connection_stays_open() {
    let Some(world) = World::new() else { return };
    let listener = world.listen(v4().server);
    let (_proxy, address) = world.proxy_to(&listener, &[]);
    for first_is_client in [true, false] {
        let client = world.connect(address);
        let (server, _) = listener.accept().unwrap();
        let (mut first, mut last) = if first_is_client {
            (client, server)
        } else {
            (server, client)
        };
        first.write_all(b"a question").unwrap();
        first.shutdown(Shutdown::Write).unwrap();
        let mut read = Vec::new();
        last.read_to_end(&mut read).unwrap();
        assert_eq!(read, b"a question");
        // The end has passed through, and this way is still open.
        assert_eq!(world.counted("open"), 1);
        let answer = bytes(4, 1 << 20);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                last.write_all(&answer).unwrap();
                last.shutdown(Shutdown::Write).unwrap();
            });
            let mut read = Vec::new();
            first.read_to_end(&mut read).unwrap();
            assert!(read == answer);
        });
        world.await_count("open", 0);
    }
    assert_eq!(world.counted("closed"), 2);
}

#[test]
fn a_reset_of_one_side_is_a_reset_of_the_other() {
    let Some(world) = World::new() else { return };
    let listener = world.listen(v4().server);
    let (_proxy, address) = world.proxy_to(&listener, &[]);
    resets_pass(&world, &listener, address);
    world.await_count("failed", 2);
    assert_eq!(world.counted("open"), 0);
}

/// A client gets a reset if its server refuses it or is unreachable; so does one with a silent
/// server, once the kernel has given up.
#[test]
fn a_server_out_of_reach_is_told() {
    let Some(world) = World::new() else { return };
    let listener = world.listen(v4().server);
    let closed = listener.local_addr().unwrap();
    let silent = SocketAddr::from(([10, 2, 0, 9], 80));
    let unrouted = SocketAddr::from(([203, 0, 113, 1], 80));
    drop(listener);
    world.on_router(&["ip", "route", "add", "unreachable", "203.0.113.0/24"]);
    for (number, server) in [closed, unrouted, silent].into_iter().enumerate() {
        let listen = SocketAddr::from((v4().router, 8080));
        let words = [listen.to_string(), server.to_string()];
        let proxy = world.proxy(&["--listen", &words[0], "--to", &words[1]]);
        let told = match world.try_connect(listen) {
            Ok(mut client) => error_of(&mut client),
            Err(error) => error.kind(),
        };
        assert_eq!(told, ErrorKind::ConnectionReset, "number {number}");
        world.await_count("connect_failed", 1);
        drop(proxy);
    }
}

/// The congestion control of the mobile side is that of clients' connections, and only of these.
#[test]
fn the_mobile_side_has_a_stack_of_its_own() {
    if !airtcp_needs::are_met(&["sysctl", "ss"]) {
        return;
    }
    let Some(world) = World::new() else { return };
    let listener = world.listen(v4().server);
    let given = world.on_router(&["sysctl", "-n", "net.ipv4.tcp_congestion_control"]);
    let other = if given.trim() == "reno" {
        "cubic"
    } else {
        "reno"
    };
    let stack = format!("linux-{other}");
    let server_port = listener.local_addr().unwrap().port().to_string();
    for side in ["clients", "servers"] {
        let options = ["--mobile-stack", &stack, "--mobile", side];
        let (proxy, address) = world.proxy_to(&listener, &options);
        let _client = world.connect(address);
        let _server = listener.accept().unwrap();
        let to_clients = world.on_router(&["ss", "-Htin", "sport", "=", ":8080"]);
        let to_servers =
            world.on_router(&["ss", "-Htin", "dport", "=", &format!(":{server_port}")]);
        let (mobile, wired) = if side == "clients" {
            (to_clients, to_servers)
        } else {
            (to_servers, to_clients)
        };
        assert!(mobile.contains(other), "{side}: {mobile}");
        assert!(
            !wired.contains(other) && !wired.is_empty(),
            "{side}: {wired}"
        );
        proxy.end();
    }
}

/// A connection by way of the proxy's `address` that one end resets, then one that the other does:
/// each time the reset reaches the remaining end.
pub fn resets_pass(world: &World, listener: &TcpListener, address: SocketAddr) {
    for first_is_client in [true, false] {
        let mut client = world.connect(address);
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(b"x").unwrap();
        server.read_exact(&mut [0]).unwrap();
        let mut other = if first_is_client {
            reset(client);
            server
        } else {
            reset(server);
            client
        };
        assert_eq!(error_of(&mut other), ErrorKind::ConnectionReset);
    }
}

/// The error of a client whose server refuses it. The reset may come before the client knows that
/// it is connected.
pub fn refusal(world: &World, address: SocketAddr) -> ErrorKind {
    let told = world.client.enter(|| {
        Ok(match TcpStream::connect(address) {
            Ok(mut client) => error_of(&mut client),
            Err(error) => error.kind(),
        })
    });
    told.unwrap()
}
