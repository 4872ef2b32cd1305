//! What is sent arrives as it was, whichever side sends.

use std::io::{Read, Write};
use std::net::Shutdown;

use super::payload::bytes;
use super::world::{KERNEL, World, get, put};

/// One byte, around a segment, around what fits one packet of the device's, and some MiB.
const LENGTHS: [usize; 6] = [1, 1447, 1449, 65_000, 65_537, 12 << 20];
const DEVICES: [&[&str]; 2] = [&[], &["--offload"]];

#[test]
fn serve_sends_and_stores_what_was_meant() {
    for options in DEVICES {
        let Some(world) = World::new() else { return };
        let server = world.serve(options);
        for length in LENGTHS {
            let sent = bytes(length as u64, length);
            world.file("down", &sent);
            let (promised, mut body) = get(world.connect(&world.machine), "down");
            let mut arrived = Vec::new();
            body.read_to_end(&mut arrived).unwrap();
            assert_eq!(promised, length);
            assert!(arrived == sent, "{options:?}: {length} bytes to the kernel");
            let status = put(world.connect(&world.machine), "up", &sent);
            assert_eq!(status, "HTTP/1.1 201 Created");
            let stored = std::fs::read(world.folder().join("up")).unwrap();
            assert!(
                stored == sent,
                "{options:?}: {length} bytes of the kernel's"
            );
        }
        server.interrupt();
    }
}

/// The file goes one way and ends, then the answer comes the other way.
#[test]
fn send_sends_and_takes_an_answer_when_its_side_is_closed() {
    for options in DEVICES {
        let Some(world) = World::new() else { return };
        let (listener, to) = world.listen(&world.machine, KERNEL);
        for length in LENGTHS {
            let (question, answer) = (bytes(1, length), bytes(2, length + 3));
            world.file("question", &question);
            let sender = world.send("question", to, options);
            let (mut peer, _) = listener.accept().unwrap();
            let mut arrived = Vec::new();
            peer.read_to_end(&mut arrived).unwrap();
            assert!(arrived == question, "{options:?}: {length} bytes");
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    peer.write_all(&answer).unwrap();
                    peer.shutdown(Shutdown::Write).unwrap();
                });
                let output = sender.end();
                assert!(output.status.success(), "{output:?}");
                assert!(output.stdout == answer, "{options:?}: the answer");
            });
        }
    }
}
