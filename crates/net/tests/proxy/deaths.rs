//! `kill -9`: connections end with resets, and no rule stays.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use rustix::process::{Pid, Signal, kill_process};

use super::world::{Proxy, World, await_that, v4};

const OPTIONS: [&str; 5] = ["--listen", ":3129", "--transparent", "--device", "c0"];

/// A byte of a client's to a server, and the two ends of their connection.
pub fn through(world: &World) -> [TcpStream; 2] {
    let listener = world.listen(v4().server);
    let mut client = world.connect(listener.local_addr().unwrap());
    let (mut server, _) = listener.accept().unwrap();
    client.write_all(b"x").unwrap();
    server.read_exact(&mut [0]).unwrap();
    [client, server]
}

/// The guard that the proxy has started: the process whose parent it is.
pub fn guard_of(proxy: &Proxy) -> Pid {
    let parent = proxy.process.id().to_string();
    let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    let child = children.unwrap().trim().parse().unwrap();
    Pid::from_raw(child).unwrap()
}

#[test]
fn a_killed_proxy_resets_its_connections_and_leaves_no_rule() {
    let Some(world) = World::new() else { return };
    let mut proxy = world.proxy(&OPTIONS);
    let ends = through(&world);
    assert!(!world.rules().is_empty());
    proxy.kill();
    for mut end in ends {
        let error = end.read(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
    await_that(
        || world.rules().is_empty(),
        "the guard takes the rules away",
    );
}

/// The guard is killed too: connections go on without the proxy, and the next start cleans up.
#[test]
fn the_next_start_takes_away_what_no_guard_has() {
    let Some(world) = World::new() else { return };
    let mut proxy = world.proxy(&OPTIONS);
    kill_process(guard_of(&proxy), Signal::KILL).unwrap();
    proxy.kill();
    assert!(!world.rules().is_empty());
    // No listener, no mark: clients reach their servers as if there were no proxy.
    through(&world);
    let proxy = world.proxy(&OPTIONS);
    assert!(
        proxy.before.contains("a proxy that was killed"),
        "{}",
        proxy.before
    );
    through(&world);
    assert_eq!(world.counted("accepted"), 1);
    let (status, said) = proxy.end();
    assert!(status.success(), "{said}");
    assert_eq!(world.rules(), "");
}

/// Open connections are reset when a signal ends the proxy; the proxy reports how many.
#[test]
fn an_end_by_a_signal_is_clean() {
    let Some(world) = World::new() else { return };
    let proxy = world.proxy(&OPTIONS);
    let ends = through(&world);
    let (status, said) = proxy.end();
    assert!(status.success(), "{said}");
    assert!(said.contains("1 reset at the end"), "{said}");
    for mut end in ends {
        let error = end.read(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
    assert_eq!(world.rules(), "");
}

/// A second transparent proxy in the same network is refused, and changes nothing.
#[test]
fn there_is_one_diversion_at_a_time() {
    let Some(world) = World::new() else { return };
    let _proxy = world.proxy(&OPTIONS);
    let before = world.rules();
    let other = ["--listen", ":3130", "--transparent", "--device", "s0"];
    let refused = world.refused(&other);
    assert!(
        refused.contains("runs in this network namespace already"),
        "{refused}"
    );
    assert_eq!(world.rules(), before);
}
