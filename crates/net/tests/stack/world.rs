//! A machine with the endpoint on a TUN device, and a network beyond it:
//!
//! ```text
//!   airtcp 10.112.7.2 ── airtcp0 10.112.7.1  machine  10.1.0.1 m0 ── m1 10.1.0.2  far
//! ```
//!
//! The same in IPv6.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::{Duration, Instant};

use airtcp_host::device::pair;
use airtcp_host::error::Result;
use airtcp_host::interface::{self, Network, bring_up};
use airtcp_host::namespace::Namespace;
use rustix::process::{Pid, Signal, kill_process};

const PROGRAM: &str = env!("CARGO_BIN_EXE_airtcp-net");
/// Every wait is for an event; a machine under load gets this long for it.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// The kernel and the endpoint on the device, and the host beyond the machine.
pub const KERNEL: Ipv4Addr = Ipv4Addr::new(10, 112, 7, 1);
pub const ENDPOINT: Ipv4Addr = Ipv4Addr::new(10, 112, 7, 2);
const MACHINE: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 1);
pub const FAR: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 2);
const PORT: u16 = 8000;
/// The machine and the host beyond it in IPv6, with the length of their network's prefix.
const MACHINE_V6: &str = "fd01::1";
const FAR_V6: &str = "fd01::2";
const PREFIX_V6: u8 = 64;
/// The device that the programs make.
pub const DEVICE: &str = "airtcp0";

/// Addresses of one family.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The kernel's on the device.
    pub kernel: IpAddr,
    /// The endpoint's.
    pub endpoint: IpAddr,
    /// The address of the host beyond the machine.
    pub far: IpAddr,
}

/// IPv4 and IPv6.
pub fn families() -> [Family; 2] {
    let v6 = |address: &str| address.parse().unwrap();
    [
        Family {
            kernel: KERNEL.into(),
            endpoint: ENDPOINT.into(),
            far: FAR.into(),
        },
        Family {
            kernel: v6("fd61:6972:7463:70::1"),
            endpoint: v6("fd61:6972:7463:70::2"),
            far: v6(FAR_V6),
        },
    ]
}

/// The machine, the host beyond it, and a folder for files.
pub struct World {
    pub machine: Namespace,
    pub far: Namespace,
    folder: tempfile::TempDir,
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
        let (machine, far) = (Namespace::new()?, Namespace::new()?);
        machine.enter(|| {
            // Later requirements of the programs are checked here, where a refusal can be reported.
            airtcp_host::device::Tun::new("probe", 1500, &[])?;
            pair::make("m0", "m1", &far, 1500)?;
            fs::write("/proc/sys/net/ipv4/ip_forward", "1").unwrap();
            fs::write("/proc/sys/net/ipv6/conf/all/forwarding", "1").unwrap();
            address("m0", MACHINE, MACHINE_V6)
        })?;
        far.enter(|| {
            address("m1", FAR, FAR_V6)?;
            command(&format!("ip route add default via {MACHINE}"));
            command(&format!("ip -6 route add default via {MACHINE_V6}"));
            Ok(())
        })?;
        Ok(Self {
            machine,
            far,
            folder: tempfile::tempdir().unwrap(),
        })
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A file of the folder that both programs use.
    pub fn file(&self, name: &str, bytes: &[u8]) {
        fs::write(self.folder().join(name), bytes).unwrap();
    }

    /// `airtcp serve`, ready.
    pub fn serve(&self, options: &[&str]) -> Program {
        let words = ["serve", "--upload", "--dir", "."];
        let mut program = self.start(&words, options);
        let mut line = String::new();
        program.said.read_line(&mut line).unwrap();
        assert!(line.starts_with("serving "), "{line}");
        program
    }

    /// `airtcp send` of a file of the folder.
    pub fn send(&self, file: &str, to: SocketAddr, options: &[&str]) -> Program {
        self.start(&["send", file, &to.to_string()], options)
    }

    fn start(&self, words: &[&str], options: &[&str]) -> Program {
        let spawned = self.machine.enter(|| {
            let command = Command::new(PROGRAM)
                .args(words)
                .args(options)
                .current_dir(self.folder())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn();
            Ok(command.unwrap())
        });
        let mut process = spawned.unwrap();
        let said = BufReader::new(process.stderr.take().unwrap());
        Program { process, said }
    }

    /// A connection of the kernel to the served folder, from one of the namespaces.
    pub fn connect(&self, from: &Namespace) -> TcpStream {
        self.connect_to(from, ENDPOINT.into())
    }

    /// The same, to the endpoint's address of either family.
    pub fn connect_to(&self, from: &Namespace, endpoint: IpAddr) -> TcpStream {
        let connected = from.enter(|| Ok(TcpStream::connect((endpoint, PORT)).unwrap()));
        let stream = connected.unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// A listener of the kernel's in one of the namespaces, and where `send` finds it.
    pub fn listen(&self, at: &Namespace, address: impl Into<IpAddr>) -> (TcpListener, SocketAddr) {
        let address = address.into();
        let any = match address {
            IpAddr::V4(_) => IpAddr::from(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(_) => IpAddr::from(Ipv6Addr::UNSPECIFIED),
        };
        let bound = at.enter(|| Ok(TcpListener::bind((any, 0)).unwrap()));
        let listener = bound.unwrap();
        let port = listener.local_addr().unwrap().port();
        (listener, (address, port).into())
    }

    /// Runs a command of the machine's.
    pub fn on_machine(&self, line: &str) {
        self.machine
            .enter(|| {
                command(line);
                Ok(())
            })
            .unwrap();
    }
}

/// A running program; it is killed if a test ends before it.
pub struct Program {
    process: Child,
    said: BufReader<ChildStderr>,
}

impl Program {
    /// The connection that it opens. Fails with its output if it ends without one.
    pub fn connection(&mut self, listener: &TcpListener) -> (TcpStream, SocketAddr) {
        listener.set_nonblocking(true).unwrap();
        let mut accepted = None;
        await_that(
            || {
                accepted = listener.accept().ok();
                accepted.is_some() || self.process.try_wait().unwrap().is_some()
            },
            "a connection",
        );
        accepted.unwrap_or_else(|| {
            let mut said = String::new();
            self.said.read_to_string(&mut said).unwrap();
            panic!("ended without a connection: {said}")
        })
    }

    /// Waits for its end, and returns its output.
    pub fn end(mut self) -> Output {
        let mut said = Vec::new();
        let mut out = self.process.stdout.take().unwrap();
        let answered = std::thread::spawn(move || {
            let mut answer = Vec::new();
            out.read_to_end(&mut answer).unwrap();
            answer
        });
        self.said.read_to_end(&mut said).unwrap();
        Output {
            status: self.process.wait().unwrap(),
            stdout: answered.join().unwrap(),
            stderr: said,
        }
    }

    /// Ends it as Ctrl-C does; returns its output since it was ready.
    pub fn interrupt(self) -> String {
        kill_process(Pid::from_child(&self.process), Signal::INT).unwrap();
        let output = self.end();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// kill -9.
    pub fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Requests a file; returns its announced length, with the connection after the answer's head.
pub fn get(mut stream: TcpStream, name: &str) -> (usize, BufReader<TcpStream>) {
    let request = format!("GET /{name} HTTP/1.1\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    // Half a connection: the answer comes all the same.
    stream.shutdown(Shutdown::Write).unwrap();
    let mut stream = BufReader::new(stream);
    let mut length = None;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        if let Some(number) = line.strip_prefix("Content-Length: ") {
            length = number.trim().parse().ok();
        }
        if line == "\r\n" {
            return (length.unwrap(), stream);
        }
    }
}

/// Stores a file; returns the answer's first line.
pub fn put(mut stream: TcpStream, name: &str, bytes: &[u8]) -> String {
    begin_put(&mut stream, name, bytes.len());
    stream.write_all(bytes).unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line.trim().to_owned()
}

/// The head of a request that stores a file.
pub fn begin_put(stream: &mut TcpStream, name: &str, length: usize) {
    let request =
        format!("PUT /{name} HTTP/1.1\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
}

/// Waits until something is so.
pub fn await_that(mut is_so: impl FnMut() -> bool, what: &str) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "timed out: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn address(device: &str, v4: Ipv4Addr, v6: &str) -> Result<()> {
    bring_up(device)?;
    interface::add_address(
        device,
        Network {
            address: v4.into(),
            prefix: 24,
        },
    )?;
    // Without detection of duplicates an address is there at once (ip-address(8)).
    command(&format!(
        "ip -6 address add {v6}/{PREFIX_V6} dev {device} nodad"
    ));
    Ok(())
}

fn command(line: &str) {
    let mut words = line.split(' ');
    let output = Command::new(words.next().unwrap()).args(words).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
}
