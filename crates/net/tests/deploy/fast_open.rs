//! TCP Fast Open as deployed, on this machine's kernel: the setting, and programs that take part.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::process::Command;

use airtcp_host::error::Result;
use rustix::net::{AddressFamily, SocketType, bind, connect, listen, socket};

use crate::machine::{on_a_machine, setting, succeeds};

const KEY: &str = "net.ipv4.tcp_fastopen";
const REQUEST: &[u8] = b"GET /";

/// The first connection requests a cookie, the second carries its request in the SYN; without the
/// deployment neither does.
#[test]
fn the_second_connection_sends_its_request_in_the_syn() {
    on_a_machine(|directory| {
        raise_loopback();
        let before = setting(KEY);
        assert_eq!(requests_in_syns(&[true, true]), 0, "deployed by nobody");
        succeeds(directory, &["deploy", "fast-open", "--all"])?;
        assert_eq!(setting(KEY), "3");
        assert_eq!(requests_in_syns(&[true, true]), 1);
        let said = succeeds(directory, &["deployed", "--check"])?;
        assert!(said.contains("in place: "), "{said}");
        succeeds(directory, &["undeploy"])?;
        assert_eq!(setting(KEY), before);
        Ok(())
    });
}

/// The setting alone is not enough, as the deployment says.
#[test]
fn programs_that_take_no_part_open_connections_as_before() {
    on_a_machine(|directory| {
        raise_loopback();
        let said = plan(directory)?;
        for option in ["TCP_FASTOPEN_CONNECT 1", "TCP_FASTOPEN 1024"] {
            let left = format!("left to the programs, on their sockets: setsockopt {option}");
            assert!(said.contains(&left), "{said}");
        }
        succeeds(directory, &["deploy", "fast-open", "--all"])?;
        assert_eq!(requests_in_syns(&[false, false]), 0);
        succeeds(directory, &["undeploy"])?;
        Ok(())
    });
}

fn plan(directory: &Path) -> Result<String> {
    succeeds(directory, &["deploy", "fast-open", "--all", "--dry-run"])
}

fn raise_loopback() {
    let words = ["link", "set", "lo", "up"];
    assert!(Command::new("ip").args(words).status().unwrap().success());
}

/// Opens a connection for each entry, with the deployment's options if it is true; returns the
/// number of SYNs whose data the server took.
fn requests_in_syns(takes_part: &[bool]) -> u64 {
    let before = accepted_syns();
    let listening = new_socket();
    if takes_part.contains(&true) {
        set(&listening, libc::TCP_FASTOPEN, 1024);
    }
    bind(&listening, &"127.0.0.1:0".parse::<SocketAddr>().unwrap()).unwrap();
    listen(&listening, 8).unwrap();
    let server = TcpListener::from(listening);
    let address = server.local_addr().unwrap();
    for &takes_part in takes_part {
        let connecting = new_socket();
        if takes_part {
            set(&connecting, libc::TCP_FASTOPEN_CONNECT, 1);
        }
        connect(&connecting, &address).unwrap();
        let mut client = TcpStream::from(connecting);
        client.write_all(REQUEST).unwrap();
        let (mut served, _) = server.accept().unwrap();
        let mut request = [0; REQUEST.len()];
        served.read_exact(&mut request).unwrap();
        assert_eq!(request, *REQUEST);
    }
    accepted_syns() - before
}

fn new_socket() -> OwnedFd {
    socket(AddressFamily::INET, SocketType::STREAM, None).unwrap()
}

/// Sets an option of TCP.
fn set(socket: &OwnedFd, option: libc::c_int, value: libc::c_int) {
    // SAFETY: the kernel reads an integer of the length given, which lives until it returns.
    #[expect(unsafe_code, reason = "no library of ours wraps these options")]
    let status = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            option,
            (&raw const value).cast(),
            size_of_val(&value) as libc::socklen_t,
        )
    };
    assert_eq!(status, 0, "{}", std::io::Error::last_os_error());
}

/// The kernel's count of SYNs of this namespace with data that it took (`TCPFastOpenPassive`).
fn accepted_syns() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/net/netstat").unwrap();
    let mut lines = text.lines().filter(|line| line.starts_with("TcpExt:"));
    let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
    let mut counters = names.split(' ').zip(values.split(' '));
    let (_, value) = counters
        .find(|(name, _)| *name == "TCPFastOpenPassive")
        .unwrap();
    value.parse().unwrap()
}
