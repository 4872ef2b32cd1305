//! A successor takes a proxy's place while data passes: nothing is reset, nothing is lost, and the
//! rules of a diversion stay.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr};

use rustix::process::{Pid, Signal, kill_process};

use super::ends::exchange;
use super::payload::bytes;
use super::world::{World, await_that, v4};

const LENGTH: usize = 16 << 20;

/// Connections in every state go through two successors: one with data both ways all the time, one
/// half closed, and one with a server that does not read, so that data is buffered in the proxy.
#[test]
fn connections_go_on_through_successors() {
    let Some(world) = World::new() else { return };
    let listener = world.listen(v4().server);
    let (first, address) = world.proxy_to(&listener, &[]);
    let server = listener.local_addr().unwrap().to_string();

    let (up, down) = (bytes(1, LENGTH), bytes(2, LENGTH + 1));
    let mut busy = world.connect(address);
    let (mut busy_server, _) = listener.accept().unwrap();
    let mut half = world.connect(address);
    let (mut half_server, _) = listener.accept().unwrap();
    half.write_all(b"a question").unwrap();
    half.shutdown(Shutdown::Write).unwrap();
    let mut full = world.connect(address);
    let (mut full_server, _) = listener.accept().unwrap();
    full.set_nonblocking(true).unwrap();
    let (stalled, mut written) = (bytes(3, LENGTH), 0);
    while let Ok(more) = full.write(&stalled[written..]) {
        written += more;
    }
    assert!(written < LENGTH, "nothing stands anywhere");

    let mut proxies = vec![first];
    std::thread::scope(|scope| {
        let at_server = scope.spawn(|| exchange(&mut busy_server, &down) == up);
        let at_client = scope.spawn(|| exchange(&mut busy, &up) == down);
        for _ in 0..2 {
            await_that(|| world.counted("up_bytes") > 100_000, "data passes");
            let before = proxies.last_mut().unwrap();
            let words = [address.to_string(), before.process.id().to_string()];
            let options = [
                "--listen",
                &words[0],
                "--to",
                &server,
                "--take-over",
                &words[1],
            ];
            let next = world.proxy(&options);
            let status = proxies.last_mut().unwrap().process.wait().unwrap();
            assert!(status.success(), "{status}");
            assert_eq!(world.counted("accepted"), 3);
            proxies.push(next);
        }
        assert!(at_server.join().unwrap(), "to the server");
        assert!(at_client.join().unwrap(), "to the client");
    });

    let mut read = Vec::new();
    half_server.read_to_end(&mut read).unwrap();
    assert_eq!(read, b"a question");
    half_server.write_all(b"an answer").unwrap();
    drop(half_server);
    read.clear();
    half.read_to_end(&mut read).unwrap();
    assert_eq!(read, b"an answer");

    let mut came = vec![0; written];
    full_server.read_exact(&mut came).unwrap();
    assert!(came == stalled[..written]);
    drop((full, full_server));
    // New clients find the same listener.
    let mut late = world.connect(address);
    let (mut late_server, _) = listener.accept().unwrap();
    late.write_all(b"late").unwrap();
    late.shutdown(Shutdown::Write).unwrap();
    read.clear();
    late_server.read_to_end(&mut read).unwrap();
    assert_eq!(read, b"late");
    drop(late_server);
    world.await_count("open", 0);
    let said = world.status();
    assert_eq!(world.counted("accepted"), 4, "{said}");
    assert_eq!(
        (world.counted("pipes"), world.counted("granted_bytes")),
        (0, 0),
        "{said}"
    );
    let (status, said) = proxies.pop().unwrap().end();
    assert!(
        status.success() && said.contains("4 connections:"),
        "{said}"
    );
}

/// With --transparent a signal is enough; rules stay until the last one ends, and go with it.
#[test]
fn a_transparent_proxy_starts_its_successor() {
    let Some(world) = World::new() else { return };
    let listener = world.listen(v4().server);
    let port = listener.local_addr().unwrap().port();
    let options = ["--listen", ":3129", "--transparent", "--device", "c0"];
    let mut proxy = world.proxy(&options);
    let mut client = world.connect(SocketAddr::from((v4().server, port)));
    let (mut server, from) = listener.accept().unwrap();
    assert_eq!(from.ip(), v4().client);
    world.await_count("open", 1);
    let rules = world.rules();
    assert!(!rules.is_empty());
    kill_process(Pid::from_child(&proxy.process), Signal::USR2).unwrap();
    assert!(proxy.process.wait().unwrap().success());
    await_that(
        || world.status().contains("\"open\":1"),
        "the successor has it",
    );
    assert_eq!(world.rules(), rules);
    client.write_all(b"still here").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut read = Vec::new();
    server.read_to_end(&mut read).unwrap();
    assert_eq!(read, b"still here");
    drop((client, server));
    world.await_count("open", 0);
    let successor = world.counted("process");
    let successor = Pid::from_raw(i32::try_from(successor).unwrap()).unwrap();
    kill_process(successor, Signal::INT).unwrap();
    await_that(
        || world.rules().is_empty(),
        "the rules go with the last one",
    );
}

/// Whoever wants something else gets nothing, and the proxy goes on.
#[test]
fn a_successor_that_is_another_proxy_is_refused() {
    let Some(world) = World::new() else { return };
    let listener = world.listen(v4().server);
    let (proxy, address) = world.proxy_to(&listener, &[]);
    let process = proxy.process.id().to_string();
    let server = listener.local_addr().unwrap().to_string();
    let other = [
        "--listen",
        "10.1.0.1:8081",
        "--to",
        &server,
        "--take-over",
        &process,
    ];
    let said = world.refused(&other);
    assert!(said.contains("expected the same --listen"), "{said}");
    let own = ["--mobile-stack", "newreno"];
    let same = address.to_string();
    let same = ["--listen", &same, "--to", &server, "--take-over", &process];
    let said = world.refused(&[&same[..], &own].concat());
    assert!(said.contains("in the memory of their process"), "{said}");
    let nobody = [
        "--listen",
        "10.1.0.1:8081",
        "--to",
        &server,
        "--take-over",
        "1",
    ];
    assert!(world.refused(&nobody).contains("no proxy of that process"));
    let mut client = world.connect(address);
    let (server, _) = listener.accept().unwrap();
    drop(server);
    assert_eq!(client.read(&mut [0]).unwrap(), 0);
    drop(client);
    world.await_count("closed", 1);
    assert!(proxy.end().0.success());
}
