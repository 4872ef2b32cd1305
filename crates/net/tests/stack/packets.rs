//! A path whose packets become smaller on the way (RFC 1191, RFC 8201).

use std::io::Read;

use super::payload::bytes;
use super::world::{World, families, get};

const LENGTH: usize = 24 << 20;
/// Read before the path changes; the rest is more than both buffers hold.
const BEFORE: usize = 1 << 20;
/// The least that Linux lets IPv4 have is 68; IPv6, which the device has too, needs 1280.
const NARROW: &str = "ip link set m0 mtu 1280";
const NARROWER: &str = "ip link set m0 mtu 700";

#[test]
fn serve_follows_a_path_that_becomes_narrow() {
    for (family, steps) in families()
        .into_iter()
        .zip([&[NARROW, NARROWER][..], &[NARROW]])
    {
        let Some(world) = World::new() else { return };
        let sent = bytes(1, LENGTH);
        world.file("down", &sent);
        let server = world.serve(&[]);
        let (_, mut body) = get(world.connect_to(&world.far, family.endpoint), "down");
        let mut arrived = Vec::new();
        for command in steps {
            let begun = arrived.len();
            arrived.resize(begun + BEFORE, 0);
            body.read_exact(&mut arrived[begun..]).unwrap();
            world.on_machine(command);
        }
        body.read_to_end(&mut arrived).unwrap();
        assert!(arrived == sent, "{}", family.endpoint);
        // A router said so, and was believed.
        let said = server.interrupt();
        let errors = said.split("router_errors: ").nth(1).unwrap_or_default();
        assert!(!errors.starts_with('0'), "{}: {said}", family.endpoint);
    }
}

#[test]
fn send_follows_a_path_that_becomes_narrow() {
    let [v4, v6] = families();
    let cases = [
        (v4, NARROWER, &[][..]),
        (v4, NARROWER, &["--offload"]),
        (v6, NARROW, &[]),
        (v6, NARROW, &["--offload"]),
    ];
    for (family, narrow, options) in cases {
        let Some(world) = World::new() else { return };
        let sent = bytes(2, LENGTH);
        world.file("file", &sent);
        let (listener, to) = world.listen(&world.far, family.far);
        let mut sender = world.send("file", to, options);
        let (mut peer, _) = sender.connection(&listener);
        let mut arrived = vec![0; BEFORE];
        peer.read_exact(&mut arrived).unwrap();
        world.on_machine(narrow);
        peer.read_to_end(&mut arrived).unwrap();
        assert!(arrived == sent, "{options:?}, {}", family.far);
        drop(peer);
        let output = sender.end();
        assert!(output.status.success(), "{output:?}");
    }
}
