//! A client, a router and a server, each in a separate namespace:
//!
//! ```text
//!   client 10.1.0.2 ── c0 10.1.0.1  router  10.2.0.1 s0 ── server 10.2.0.2
//! ```

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use airtcp_host::device::pair;
use airtcp_host::error::Result;
use airtcp_host::interface::{self, Network, bring_up};
use airtcp_host::namespace::Namespace;
use rustix::process::{Pid, Signal, kill_process};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_airtcp-net");
/// Every wait is for an event; a machine under load gets this long for it.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The three namespaces.
pub struct World {
    pub client: Namespace,
    pub router: Namespace,
    pub server: Namespace,
    pub state: tempfile::TempDir,
}

/// The addresses of one family.
#[derive(Clone, Copy, Debug)]
pub struct Addresses {
    pub client: IpAddr,
    pub server: IpAddr,
    /// The router's, on the client's side.
    pub router: IpAddr,
}

pub fn v4() -> Addresses {
    Addresses {
        client: "10.1.0.2".parse().unwrap(),
        server: "10.2.0.2".parse().unwrap(),
        router: "10.1.0.1".parse().unwrap(),
    }
}

pub fn v6() -> Addresses {
    Addresses {
        client: "fd01::2".parse().unwrap(),
        server: "fd02::2".parse().unwrap(),
        router: "fd01::1".parse().unwrap(),
    }
}

impl World {
    /// A world, or `None` with the reason why a test is skipped.
    pub fn new() -> Option<Self> {
        if !airtcp_needs::are_met(&["ip"]) {
            return None;
        }
        match Self::made() {
            Ok(world) => Some(world),
            Err(error) => {
                airtcp_needs::skip(error);
                None
            }
        }
    }

    fn made() -> Result<Self> {
        let (client, router, server) = (Namespace::new()?, Namespace::new()?, Namespace::new()?);
        router.enter(|| {
            pair::make("c0", "c1", &client, 1500)?;
            pair::make("s0", "s1", &server, 1500)?;
            fs::write("/proc/sys/net/ipv4/ip_forward", "1").unwrap();
            fs::write("/proc/sys/net/ipv6/conf/all/forwarding", "1").unwrap();
            address("c0", ["10.1.0.1/24", "fd01::1/64"])?;
            address("s0", ["10.2.0.1/24", "fd02::1/64"])
        })?;
        client.enter(|| {
            address("c1", ["10.1.0.2/24", "fd01::2/64"])?;
            route(["10.1.0.1", "fd01::1"]);
            Ok(())
        })?;
        server.enter(|| {
            address("s1", ["10.2.0.2/24", "fd02::2/64"])?;
            route(["10.2.0.1", "fd02::1"]);
            Ok(())
        })?;
        Ok(Self {
            client,
            router,
            server,
            state: tempfile::tempdir().unwrap(),
        })
    }

    /// A listener of the server's.
    pub fn listen(&self, address: IpAddr) -> TcpListener {
        let listener = self
            .server
            .enter(|| Ok(TcpListener::bind((address, 0)).unwrap()));
        listener.unwrap()
    }

    /// A connection of the client's.
    pub fn connect(&self, to: SocketAddr) -> TcpStream {
        self.try_connect(to).unwrap()
    }

    /// The same, where a reset may come before the client knows that it is connected.
    pub fn try_connect(&self, to: SocketAddr) -> std::io::Result<TcpStream> {
        let stream = self.client.enter(|| Ok(TcpStream::connect(to))).unwrap()?;
        // No test may wait for ever for data that a broken proxy does not send.
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Ok(stream)
    }

    /// Starts the proxy on the router, and waits until it is ready.
    pub fn proxy(&self, options: &[&str]) -> Proxy {
        let spawned = self.router.enter(|| {
            let command = Command::new(PROGRAM)
                .arg("proxy")
                .args(options)
                .arg("--state")
                .arg(self.state.path())
                .stderr(Stdio::piped())
                .spawn();
            Ok(command.unwrap())
        });
        let mut process = spawned.unwrap();
        let mut said = BufReader::new(process.stderr.take().unwrap());
        let mut before = String::new();
        while !before.ends_with("ready\n") {
            let read = said.read_line(&mut before).unwrap();
            assert!(read > 0, "the proxy has ended: {before}");
        }
        Proxy {
            process,
            said,
            before,
        }
    }

    /// The message of a proxy that refuses to start.
    pub fn refused(&self, options: &[&str]) -> String {
        let output = self.router.enter(|| {
            let output = Command::new(PROGRAM)
                .arg("proxy")
                .args(options)
                .arg("--state")
                .arg(self.state.path())
                .output();
            Ok(output.unwrap())
        });
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// A proxy to a listener of the server's, and where it listens.
    pub fn proxy_to(&self, listener: &TcpListener, options: &[&str]) -> (Proxy, SocketAddr) {
        let listen = SocketAddr::from((v4().router, 8080));
        let words = [
            listen.to_string(),
            listener.local_addr().unwrap().to_string(),
        ];
        let mut all = vec!["--listen", &words[0], "--to", &words[1]];
        all.extend(options);
        (self.proxy(&all), listen)
    }

    /// Status of the router's proxies.
    pub fn status(&self) -> String {
        self.on_router(&[PROGRAM, "proxy", "--status"])
    }

    /// Output of a command on the router.
    pub fn on_router(&self, words: &[&str]) -> String {
        let output = self.router.enter(|| {
            let output = Command::new(words[0]).args(&words[1..]).output();
            Ok(output.unwrap())
        });
        String::from_utf8_lossy(&output.unwrap().stdout).into_owned()
    }

    /// A number that the one proxy counts.
    pub fn counted(&self, what: &str) -> u64 {
        let said: serde_json::Value = serde_json::from_str(&self.status()).unwrap();
        said[what].as_u64().unwrap()
    }

    /// Waits until the proxy counts that many.
    pub fn await_count(&self, what: &str, number: u64) {
        await_that(|| self.counted(what) == number, what);
    }

    /// Rules and routes of the proxy's on the router.
    pub fn rules(&self) -> String {
        let mut rules = String::new();
        for family in ["-4", "-6"] {
            for (rule, table) in [("6174", "24948"), ("6175", "24949")] {
                rules += &self.on_router(&["ip", family, "rule", "show", "pref", rule]);
                rules += &self.on_router(&["ip", family, "route", "show", "table", table]);
            }
        }
        rules
    }
}

/// A running proxy; it is killed if a test ends before it.
pub struct Proxy {
    pub process: Child,
    said: BufReader<ChildStderr>,
    /// Its output before it was ready.
    pub before: String,
}

impl Proxy {
    /// Ends it as Ctrl-C does; returns its output since it was ready.
    pub fn end(mut self) -> (ExitStatus, String) {
        let process = Pid::from_child(&self.process);
        kill_process(process, Signal::INT).unwrap();
        let mut said = String::new();
        while self.said.read_line(&mut said).unwrap() > 0 {}
        (self.process.wait().unwrap(), said)
    }

    /// kill -9.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Waits until something is so.
pub fn await_that(mut is_so: impl FnMut() -> bool, what: &str) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "timed out: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn address(device: &str, networks: [&str; 2]) -> Result<()> {
    bring_up(device)?;
    let [v4, v6] = networks.map(|network| {
        let (address, prefix) = network.split_once('/').unwrap();
        Network {
            address: address.parse().unwrap(),
            prefix: prefix.parse().unwrap(),
        }
    });
    interface::add_address(device, v4)?;
    // Without detection of duplicates an address is there at once (ip-address(8)).
    let words = format!(
        "-6 address add {}/{} dev {device} nodad",
        v6.address, v6.prefix
    );
    run("ip", &words);
    Ok(())
}

fn route(gateways: [&str; 2]) {
    for (family, gateway) in ["-4", "-6"].into_iter().zip(gateways) {
        run("ip", &format!("{family} route add default via {gateway}"));
    }
}

fn run(program: &str, words: &str) {
    let output = Command::new(program)
        .args(words.split(' '))
        .output()
        .unwrap();
    assert!(output.status.success(), "{words}: {output:?}");
}
