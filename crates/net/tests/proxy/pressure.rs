//! Whoever reads slowly slows down whoever sends, and nothing is held without bounds.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::io::ioctl_fionread;
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_send_buffer_size};

use super::own;
use super::payload::bytes;
use super::world::{World, await_that, v4};

/// The ends' socket buffers, which the kernel doubles.
const OWN: usize = 64 << 10;
/// The proxy's limit for each of a direction's buffers.
const HELD: usize = 256 << 10;

/// Writes until the other side takes no more: returns how much it has taken.
fn fill(stream: &mut TcpStream, data: &[u8]) -> usize {
    stream.set_nonblocking(true).unwrap();
    let (mut taken, mut waits) = (0, 0);
    // The proxy may lag: it is full only if it takes nothing for as long as it needs for everything
    // else.
    while waits < 100 {
        match stream.write(&data[taken..]) {
            Ok(more) => {
                taken += more;
                waits = 0;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                waits += 1;
                std::thread::sleep(std::time::Duration::from_millis(3));
            }
            Err(error) => panic!("{error}"),
        }
    }
    stream.set_nonblocking(false).unwrap();
    taken
}

#[test]
fn a_slow_reader_bounds_what_is_held() {
    let Some(world) = World::new() else { return };
    let listener = world.listen(v4().server);
    let (_proxy, address) = world.proxy_to(&listener, &["--buffer", "256"]);
    let mut client = world.connect(address);
    let (mut server, _) = listener.accept().unwrap();
    set_socket_recv_buffer_size(&client, OWN).unwrap();
    set_socket_send_buffer_size(&server, OWN).unwrap();
    let data = bytes(5, 32 << 20);
    let taken = fill(&mut server, &data);
    // The two ends' buffers, two of the proxy's, each with the kernel's overhead, and a pipe. Data
    // promised by the client's window before its buffer was bounded counts too.
    let most = 2 * (2 * OWN) + 2 * (2 * HELD) + HELD + (64 << 10);
    assert!(taken <= most, "{taken} of at most {most}");
    assert!(world.counted("granted_bytes") <= 8 * HELD as u64);
    // All of it is still there, and the rest follows.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            server.write_all(&data[taken..]).unwrap();
            drop(server);
        });
        let mut read = Vec::new();
        client.read_to_end(&mut read).unwrap();
        assert!(read == data);
    });
}

/// With all places taken a client waits, and has its turn when another has ended.
#[test]
fn who_finds_no_place_waits_for_one() {
    let Some(world) = World::new() else { return };
    let listener = world.listen(v4().server);
    let (_proxy, address) = world.proxy_to(&listener, &["--connections", "1"]);
    let first = world.connect(address);
    let _server = listener.accept().unwrap();
    let mut second = world.connect(address);
    second.write_all(b"?").unwrap();
    await_that(|| world.counted("open") == 1, "one connection");
    assert_eq!(world.counted("accepted"), 1);
    // Its server would keep the first open: both its ends have to go.
    drop((first, _server));
    let (mut server, _) = listener.accept().unwrap();
    server.read_exact(&mut [0]).unwrap();
    assert_eq!(world.counted("accepted"), 2);
}

/// Grown buffers shrink for later connections, down to an equal share.
#[test]
fn memory_is_shared_among_many() {
    let Some(world) = World::new() else { return };
    let listener = world.listen(v4().server);
    let options = ["--connections", "100", "--memory", "8"];
    let (_proxy, address) = world.proxy_to(&listener, &options);
    let mut open = Vec::new();
    for number in 0..100 {
        let mut client = world.connect(address);
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(&[number]).unwrap();
        let mut seen = [0];
        server.read_exact(&mut seen).unwrap();
        assert_eq!(seen, [number]);
        open.push((client, server));
    }
    assert_eq!(world.counted("open"), 100);
    let granted = world.counted("granted_bytes");
    assert!(granted <= 8 << 20, "{granted}");
}

/// The radio's rate in bits per second, its queue in bytes, and the data of a transfer over it.
const RATE: u64 = 20_000_000;
const QUEUE: usize = 30_000;
const TRANSFER: usize = 6 << 20;

/// Between a server and a client behind a slow radio a fraction of a second of the radio's data is
/// buffered, and not a full buffer, with either TCP on the radio's side.
#[test]
fn little_waits_for_a_slow_radio() {
    if !airtcp_needs::are_met(&["tc"]) {
        return;
    }
    let Some(world) = World::new() else { return };
    let shape = format!("qdisc add dev c0 root tbf rate {RATE} burst 10000 limit {QUEUE}");
    let words: Vec<&str> = ["tc"].into_iter().chain(shape.split(' ')).collect();
    world.on_router(&words);
    if !world
        .on_router(&["tc", "qdisc", "show", "dev", "c0"])
        .contains("tbf")
    {
        airtcp_needs::skip("the kernel has no token bucket filter");
        return;
    }
    let listener = world.listen(v4().server);
    let server = listener.local_addr().unwrap();
    for stack in ["linux-reno", "newreno"] {
        let (_proxy, address) = if stack == "newreno" {
            own::proxy(&world, server, "clients", stack)
        } else {
            world.proxy_to(&listener, &["--mobile-stack", stack])
        };
        let mut client = world.connect(address);
        let (mut server, _) = listener.accept().unwrap();
        set_socket_send_buffer_size(&server, OWN).unwrap();
        let written = AtomicUsize::new(0);
        let mut waiting = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let data = bytes(6, 16 << 10);
                while written.load(Ordering::Relaxed) < TRANSFER {
                    server.write_all(&data).unwrap();
                    written.fetch_add(data.len(), Ordering::Relaxed);
                }
                drop(server);
            });
            let (mut read, mut buffer) = (0, vec![0; 64 << 10]);
            loop {
                let bytes = match client.read(&mut buffer) {
                    // A machine that was suspended interrupts a read with a timeout.
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    read => read.unwrap(),
                };
                if bytes == 0 {
                    break;
                }
                read += bytes;
                // The first buffers are a guess: the radio's rate is known after that.
                if read > 3 * TRANSFER / 4 {
                    // Data that the radio has carried waits for this reader alone.
                    let carried = read + ioctl_fionread(&client).unwrap() as usize;
                    waiting.push(written.load(Ordering::Relaxed).saturating_sub(carried));
                }
            }
        });
        // The server's buffer, the radio's queue, and a fifth of a second of the radio; unbounded
        // it is megabytes. The median, since a machine that stops lets more in for a moment.
        waiting.sort_unstable();
        let (usual, bound) = (
            waiting[waiting.len() / 2],
            2 * OWN + QUEUE + RATE as usize / 8 / 5,
        );
        assert!(usual < bound, "{stack}: {usual} of at most {bound}");
    }
}
