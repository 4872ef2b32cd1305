//! Ends that are no good ends: a peer that is killed, or not there.

use std::io::{ErrorKind, Read, Write};

use super::payload::bytes;
use super::world::{KERNEL, World, begin_put, get};

const LENGTH: usize = 32 << 20;

/// A peer that dies with bytes unread resets: `send` reports it and fails.
#[test]
fn send_says_that_its_peer_was_killed() {
    let Some(world) = World::new() else { return };
    world.file("file", &bytes(1, LENGTH));
    let (listener, to) = world.listen(&world.machine, KERNEL);
    let mut sender = world.send("file", to, &[]);
    let (mut peer, _) = sender.connection(&listener);
    peer.read_exact(&mut vec![0; 1 << 20]).unwrap();
    // The file exceeds the kernel's buffers: the rest is unread.
    drop(peer);
    let output = sender.end();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("reset"), "{said}");
}

#[test]
fn send_says_that_nobody_listens() {
    let Some(world) = World::new() else { return };
    world.file("file", b"x");
    let (listener, to) = world.listen(&world.machine, KERNEL);
    drop(listener);
    let output = world.send("file", to, &[]).end();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("refused"), "{said}");
}

/// A server that was killed and started again knows nothing of the connection, and resets it (RFC
/// 9293 §3.5.1).
#[test]
fn a_server_that_begins_anew_resets_what_was() {
    let Some(world) = World::new() else { return };
    let server = world.serve(&[]);
    let mut peer = world.connect(&world.machine);
    begin_put(&mut peer, "up", LENGTH);
    peer.write_all(&bytes(1, 1 << 20)).unwrap();
    server.kill();
    let server = world.serve(&[]);
    let piece = bytes(2, 1 << 20);
    let error = loop {
        if let Err(error) = peer.write_all(&piece) {
            break error.kind();
        }
    };
    assert_eq!(error, ErrorKind::ConnectionReset);
    // The new one serves.
    world.file("down", &piece);
    let (length, _) = get(world.connect(&world.machine), "down");
    assert_eq!(length, piece.len());
    server.interrupt();
}

/// A peer that is killed during a transfer costs the server only that connection.
#[test]
fn serve_outlives_its_peers() {
    let Some(world) = World::new() else { return };
    world.file("down", &bytes(1, LENGTH));
    let server = world.serve(&[]);
    let (_, mut first) = get(world.connect(&world.machine), "down");
    let (_, mut second) = get(world.connect(&world.machine), "down");
    first.read_exact(&mut vec![0; 1 << 20]).unwrap();
    drop(first);
    let mut arrived = Vec::new();
    second.read_to_end(&mut arrived).unwrap();
    assert!(arrived == bytes(1, LENGTH));
    let said = server.interrupt();
    assert!(said.contains("served 2 connections"), "{said}");
}
