//! Data arrives unchanged, whichever side sends.

use std::io::{Read, Write};
use std::net::Shutdown;

use super::limits::assert_limited;
use super::payload::bytes;
use super::world::{Family, KERNEL, World, families, get, put};

/// One byte, around a segment of either family, around the capacity of one packet of the device,
/// and some MiB.
const LENGTHS: [usize; 7] = [1, 1427, 1447, 1449, 65_000, 65_537, 12 << 20];
const DEVICES: [&[&str]; 2] = [&[], &["--offload"]];

#[test]
fn serve_sends_and_stores_what_was_meant() {
    for options in DEVICES {
        let Some(world) = World::new() else { return };
        let server = world.serve(options);
        for (family, length) in each() {
            let connect = || world.connect_to(&world.machine, family.endpoint);
            let case = format!("{options:?}, {}: {length} bytes", family.endpoint);
            let sent = bytes(length as u64, length);
            world.file("down", &sent);
            let (promised, mut body) = get(connect(), "down");
            let mut arrived = Vec::new();
            body.read_to_end(&mut arrived).unwrap();
            assert_eq!(promised, length);
            assert!(arrived == sent, "{case} to the kernel");
            let status = put(connect(), "up", &sent);
            assert_eq!(status, "HTTP/1.1 201 Created");
            let stored = std::fs::read(world.folder().join("up")).unwrap();
            assert!(stored == sent, "{case} of the kernel's");
        }
        server.interrupt();
    }
}

/// The file goes one way and ends, then the answer comes the other way.
#[test]
fn send_sends_and_takes_an_answer_when_its_side_is_closed() {
    for options in DEVICES {
        let Some(world) = World::new() else { return };
        for (family, length) in each() {
            let case = format!("{options:?}, {}: {length} bytes", family.kernel);
            let (listener, to) = world.listen(&world.machine, family.kernel);
            let (question, answer) = (bytes(1, length), bytes(2, length + 3));
            world.file("question", &question);
            let mut sender = world.send("question", to, options);
            let (mut peer, from) = sender.connection(&listener);
            assert_eq!(from.ip(), family.endpoint);
            let mut arrived = Vec::new();
            peer.read_to_end(&mut arrived).unwrap();
            assert!(arrived == question, "{case}");
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    peer.write_all(&answer).unwrap();
                    peer.shutdown(Shutdown::Write).unwrap();
                });
                let output = sender.end();
                assert!(output.status.success(), "{output:?}");
                assert!(output.stdout == answer, "{case}: the answer");
            });
        }
    }
}

/// Every length in both families.
fn each() -> impl Iterator<Item = (Family, usize)> {
    let lengths = |family| LENGTHS.map(|length| (family, length));
    families().into_iter().flat_map(lengths)
}

/// Only the file sent or served remains accessible: no capability over the network, and no other
/// files (the kernel does not report Landlock in a status).
#[test]
fn neither_program_keeps_what_it_does_not_need() {
    let Some(world) = World::new() else { return };
    let server = world.serve(&[]);
    assert_limited(server.id(), &["DAC_READ_SEARCH", "DAC_OVERRIDE"]);
    server.interrupt();
    // More than the buffers hold: it waits for a reader.
    world.file("file", &bytes(8, 32 << 20));
    let (listener, to) = world.listen(&world.machine, KERNEL);
    let mut sender = world.send("file", to, &[]);
    let _connection = sender.connection(&listener);
    assert_limited(sender.id(), &[]);
    sender.kill();
}
