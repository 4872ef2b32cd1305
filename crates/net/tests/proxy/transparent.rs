//! Transparent mode: both ends see each other's addresses.

use std::io::{Read, Write};
use std::net::SocketAddr;

use super::limits::assert_limited;
use super::payload::bytes;
use super::world::{World, v4, v6};

/// The connection is the proxy's, and invisible in either end's addresses.
#[test]
fn both_ends_keep_their_addresses() {
    let Some(world) = World::new() else { return };
    let options = ["--listen", ":3129", "--transparent", "--device", "c0"];
    let proxy = world.proxy(&options);
    for (number, addresses) in [(1, v4()), (2, v6())] {
        let listener = world.listen(addresses.server);
        let mut client = world.connect(listener.local_addr().unwrap());
        let (mut server, peer) = listener.accept().unwrap();
        assert_eq!(peer, client.local_addr().unwrap());
        assert_eq!(peer.ip(), addresses.client);
        assert_eq!(client.peer_addr().unwrap(), server.local_addr().unwrap());
        let data = bytes(number, 1 << 20);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                server.write_all(&data).unwrap();
                drop(server);
            });
            let mut read = Vec::new();
            client.read_to_end(&mut read).unwrap();
            assert!(read == data);
        });
        assert_eq!(world.counted("accepted"), number);
        assert!(world.counted("down_bytes") >= data.len() as u64);
    }
    assert!(world.rules().contains("0x6174"), "{}", world.rules());
    let (status, said) = proxy.end();
    assert!(status.success(), "{said}");
    assert_eq!(world.rules(), "");
}

/// Other traffic bypasses it: other ports, other devices, and this machine's addresses.
#[test]
fn what_is_not_meant_passes_by() {
    let Some(world) = World::new() else { return };
    let meant = world.listen(v4().server);
    let port = meant.local_addr().unwrap().port().to_string();
    let _proxy = world.proxy(&[
        "--listen",
        ":3129",
        "--transparent",
        "--device",
        "c0",
        "--port",
        &port,
    ]);
    let _first = world.connect(meant.local_addr().unwrap());
    meant.accept().unwrap();
    assert_eq!(world.counted("accepted"), 1);
    let other = world.listen(v4().server);
    let _second = world.connect(other.local_addr().unwrap());
    other.accept().unwrap();
    // A connection to the router itself, at the port that is meant.
    let own = SocketAddr::from((v4().router, port.parse().unwrap()));
    let bound = world
        .router
        .enter(|| Ok(std::net::TcpListener::bind(own).unwrap()));
    let bound = bound.unwrap();
    let _third = world.connect(own);
    bound.accept().unwrap();
    assert_eq!(world.counted("accepted"), 1);
}

/// A connection that is older than the proxy goes on as it was.
#[test]
fn older_connections_go_on() {
    let Some(world) = World::new() else { return };
    let listener = world.listen(v4().server);
    let mut client = world.connect(listener.local_addr().unwrap());
    let (mut server, _) = listener.accept().unwrap();
    let _proxy = world.proxy(&["--listen", ":3129", "--transparent", "--device", "c0"]);
    for _ in 0..2 {
        client.write_all(b"still here").unwrap();
        let mut read = [0; 10];
        server.read_exact(&mut read).unwrap();
        assert_eq!(&read, b"still here");
    }
    assert_eq!(world.counted("accepted"), 0);
}

/// A server that does not answer the proxy resets the client, as the client's kernel would see it
/// without a proxy: refused.
#[test]
fn a_refused_connection_is_told() {
    let Some(world) = World::new() else { return };
    let _proxy = world.proxy(&["--listen", ":3129", "--transparent", "--device", "c0"]);
    let listener = world.listen(v4().server);
    let closed = listener.local_addr().unwrap();
    drop(listener);
    let mut client = world.connect(closed);
    let error = client.read(&mut [0]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    world.await_count("connect_failed", 1);
}

/// Once ready it keeps only the privileges that its connections and its rules need.
#[test]
fn it_keeps_no_privilege_that_it_does_not_need() {
    let Some(world) = World::new() else { return };
    let listener = world.listen(v4().server);
    let (plain, _) = world.proxy_to(&listener, &[]);
    assert_limited(plain.process.id(), &[]);
    drop(plain);
    let options = ["--listen", ":3129", "--transparent", "--device", "c0"];
    for stack in [&[][..], &["--mobile-stack", "newreno"]] {
        let metrics = ["--metrics", "127.0.0.1:9722"];
        let proxy = world.proxy(&[&options[..], stack, &metrics].concat());
        let page = world.router.enter(|| {
            let mut stream = std::net::TcpStream::connect(metrics[1]).unwrap();
            stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
            let mut page = String::new();
            stream.read_to_string(&mut page).unwrap();
            Ok(page)
        });
        let page = page.unwrap();
        assert!(page.contains("\nairtcp_proxy_accepted_total 0\n"), "{page}");
        assert_limited(
            proxy.process.id(),
            &["NET_ADMIN", "NET_RAW", "NET_BIND_SERVICE"],
        );
        let (status, said) = proxy.end();
        assert!(status.success(), "{said}");
        assert_eq!(world.rules(), "");
    }
}
