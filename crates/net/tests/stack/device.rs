//! A device that goes down and comes up again: transfers continue.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::payload::bytes;
use super::world::{DEVICE, KERNEL, World, await_that, begin_put, get};

const LENGTH: usize = 96 << 20;
/// Bytes transferred before the device goes down, and the length of the outage: longer than the
/// shortest retransmission timeout.
const BEFORE: usize = 4 << 20;
const DOWN: Duration = Duration::from_millis(300);
const PIECE: usize = 1 << 16;

/// Takes the device down when some of a transfer has passed, and up again.
fn interrupt(world: &World, passed: &AtomicUsize) {
    await_that(
        || passed.load(Ordering::Relaxed) >= BEFORE,
        "the transfer begins",
    );
    world.on_machine(&format!("ip link set {DEVICE} down"));
    std::thread::sleep(DOWN);
    let then = passed.load(Ordering::Relaxed);
    assert!(then < LENGTH, "the transfer ended before the device did");
    world.on_machine(&format!("ip link set {DEVICE} up"));
}

/// Reads to the end and counts.
fn count(from: &mut impl Read, passed: &AtomicUsize) -> Vec<u8> {
    let mut arrived = Vec::with_capacity(LENGTH);
    let mut piece = vec![0; PIECE];
    loop {
        let read = from.read(&mut piece).unwrap();
        if read == 0 {
            return arrived;
        }
        arrived.extend(&piece[..read]);
        passed.store(arrived.len(), Ordering::Relaxed);
    }
}

#[test]
fn a_file_that_serve_sends_outlives_it() {
    for options in [&[][..], &["--offload"]] {
        let Some(world) = World::new() else { return };
        let sent = bytes(1, LENGTH);
        world.file("down", &sent);
        let server = world.serve(options);
        let (_, mut body) = get(world.connect(&world.machine), "down");
        let passed = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| count(&mut body, &passed));
            interrupt(&world, &passed);
            assert!(reader.join().unwrap() == sent, "{options:?}");
        });
        server.interrupt();
    }
}

#[test]
fn a_file_that_send_sends_outlives_it() {
    let Some(world) = World::new() else { return };
    let sent = bytes(2, LENGTH);
    world.file("file", &sent);
    let (listener, to) = world.listen(&world.machine, KERNEL);
    let mut sender = world.send("file", to, &[]);
    let (mut peer, _) = sender.connection(&listener);
    let passed = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| count(&mut peer, &passed));
        interrupt(&world, &passed);
        assert!(reader.join().unwrap() == sent);
    });
    drop(peer);
    let output = sender.end();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_file_that_serve_receives_outlives_it() {
    let Some(world) = World::new() else { return };
    let sent = bytes(3, LENGTH);
    let server = world.serve(&[]);
    let mut peer = world.connect(&world.machine);
    begin_put(&mut peer, "up", LENGTH);
    let passed = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for piece in sent.chunks(PIECE) {
                peer.write_all(piece).unwrap();
                passed.fetch_add(piece.len(), Ordering::Relaxed);
            }
        });
        interrupt(&world, &passed);
    });
    let mut answer = String::new();
    peer.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    assert!(std::fs::read(world.folder().join("up")).unwrap() == sent);
    server.interrupt();
}
