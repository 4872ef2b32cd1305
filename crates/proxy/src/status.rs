//! A running proxy's answer to `--status`: one JSON object for each client of its socket.
//!
//! The socket has an abstract name (unix(7)) in the network namespace, which vanishes with the
//! process.

use std::io::{Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

use airtcp_host::error::{Error, Result, Tried};

const NAME: &str = "airtcp-proxy/";
/// A proxy answers immediately; a stopped one does not.
const PATIENCE: Duration = Duration::from_secs(2);

/// Listens for status requests.
///
/// # Errors
///
/// The system has no sockets left.
pub fn listener() -> Result<UnixListener> {
    let what = || "cannot make a socket for --status".to_owned();
    let address = address(&std::process::id().to_string()).tried(what)?;
    let listener = UnixListener::bind_addr(&address).tried(what)?;
    listener.set_nonblocking(true).tried(what)?;
    Ok(listener)
}

/// Answers all pending requests.
pub fn answer(listener: &UnixListener, said: impl Fn() -> String) {
    while let Ok((mut stream, _)) = listener.accept() {
        // It fits into an empty buffer; a client that does not read it gets no answer.
        let _ = stream.set_nonblocking(true);
        let _ = writeln!(stream, "{}", said());
    }
}

/// Prints the answers of every proxy of this network namespace. Returns the exit status.
///
/// # Errors
///
/// The system does not list them.
pub fn print_all() -> Result<i32> {
    let names = std::fs::read_to_string("/proc/net/unix")
        .tried(|| "cannot read /proc/net/unix".to_owned())?;
    let mut processes: Vec<u32> = names
        .lines()
        .filter_map(|line| line.rsplit_once('@')?.1.strip_prefix(NAME)?.parse().ok())
        .collect();
    processes.sort_unstable();
    processes.dedup();
    if processes.is_empty() {
        println!("no proxy is running here");
    }
    for process in processes {
        match ask(process) {
            Ok(said) => println!("{}", said.trim_end()),
            Err(error) => println!("{{\"process\":{process},\"error\":\"{error}\"}}"),
        }
    }
    Ok(0)
}

/// Queries the proxy of that process, in this network namespace.
///
/// # Errors
///
/// There is no proxy, or it does not answer.
pub fn ask(process: u32) -> Result<String> {
    let answer = || {
        let mut stream = UnixStream::connect_addr(&address(&process.to_string())?)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut said = String::new();
        stream.read_to_string(&mut said)?;
        Ok::<_, std::io::Error>(said)
    };
    match answer() {
        Ok(said) if !said.is_empty() => Ok(said),
        Ok(_) => Err(Error::new("no answer")),
        Err(cause) => Err(Error::system("no answer", cause)),
    }
}

fn address(process: &str) -> std::io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("{NAME}{process}"))
}
