//! A bulk transfer by the kernel's TCP: as much as possible until the end.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration as StdDuration;

use airtcp_host::clock::Clock;
use airtcp_host::error::{Error, Result, Tried};
use airtcp_host::tcp_info::{TcpInfo, tcp_info};
use airtcp_units::Instant;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, ipproto, socket_with, sockopt};

/// Interval at which a waiting thread checks for the end.
const LOOK: StdDuration = StdDuration::from_millis(20);
/// Bytes per write and read.
const CHUNK: usize = 65_536;

/// Start and end of a transfer, on the emulation's clock.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// The emulation's clock.
    pub clock: Clock,
    /// Time at which the connection is opened.
    pub start: Instant,
    /// Time at which the measurement ends.
    pub end: Instant,
}

/// Creates a socket with congestion control `control` for sending, whose module the kernel may have
/// to load first. Call it in the sender's namespace.
///
/// # Errors
///
/// The congestion control is not allowed here.
pub fn socket(to: SocketAddr, control: &str, paced: bool) -> Result<OwnedFd> {
    let socket = socket_with(
        if to.is_ipv4() {
            AddressFamily::INET
        } else {
            AddressFamily::INET6
        },
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        Some(ipproto::TCP),
    )
    .tried(|| "cannot make a socket".to_owned())?;
    // Before the connection: a socket that started with a paced control stays paced.
    sockopt::set_tcp_congestion(&socket, control).map_err(|cause| {
        Error::system(
            format!("cannot send with congestion control {control}"),
            cause,
        )
        .remedied_by(
            "root may use all that the kernel has (sysctl \
             net.ipv4.tcp_available_congestion_control; others are modules), a user those in \
             net.ipv4.tcp_allowed_congestion_control",
        )
    })?;
    if paced {
        airtcp_host::tcp_info::pace(&socket).tried(|| "cannot pace the socket".to_owned())?;
    }
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(LOOK))
        .tried(|| "cannot limit the time of a write".to_owned())?;
    Ok(socket)
}

/// Sends until the end; returns the kernel's information on the connection then, or `None` if the
/// link allowed no connection.
///
/// # Errors
///
/// The connection is refused, or ends early.
pub fn send(
    socket: OwnedFd,
    to: SocketAddr,
    times: Times,
    stop: &AtomicBool,
) -> Result<Option<TcpInfo>> {
    let chunk = vec![0_u8; CHUNK];
    wait_until(times.start, times.clock, stop);
    // The peer listens before the link carries anything.
    loop {
        match connect(&socket, &to) {
            Ok(()) => break,
            // The send timeout limits a call of connect too (socket(7), SO_SNDTIMEO); the handshake
            // continues, and the next call waits for it.
            Err(Errno::INPROGRESS | Errno::ALREADY | Errno::INTR) => {}
            Err(error) => {
                return Err(error).tried(|| format!("cannot connect to {to} over the link"));
            }
        }
        if times.clock.now() >= times.end || stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
    }
    let mut stream = TcpStream::from(socket);
    while times.clock.now() < times.end && !stop.load(Ordering::Relaxed) {
        match stream.write(&chunk) {
            Ok(_) => {}
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) => {}
            Err(error) => return Err(Error::system("the connection has ended early", error)),
        }
    }
    let info = tcp_info(&stream)?;
    end_at_once(&stream)?;
    Ok(Some(info))
}

/// Closes without waiting for the peer: the link is about to end, and a waiting connection would
/// hold its congestion control for minutes.
fn end_at_once(stream: &TcpStream) -> Result<()> {
    sockopt::set_socket_linger(stream, Some(StdDuration::ZERO))
        .tried(|| "cannot close the connection at once".to_owned())
}

/// Receives until the end. Call it in the receiver's namespace.
///
/// Returns the connection, if there was one, still open: closing it resets the sender, over a short
/// link before its counters have been read. The caller closes it once the sender is done.
///
/// # Errors
///
/// No connection was made until the end.
pub fn receive(
    listener: &TcpListener,
    times: Times,
    stop: &AtomicBool,
) -> Result<Option<TcpStream>> {
    listener
        .set_nonblocking(true)
        .tried(|| "cannot listen without waiting".to_owned())?;
    let mut stream = loop {
        match listener.accept() {
            Ok((stream, _)) => break stream,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(Error::system("cannot accept a connection", error)),
        }
        if times.clock.now() >= times.end || stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        std::thread::sleep(StdDuration::from_millis(1));
    };
    let mut chunk = vec![0_u8; CHUNK];
    let mut limit = StdDuration::ZERO;
    while times.clock.now() < times.end && !stop.load(Ordering::Relaxed) {
        let left = times
            .end
            .as_nanos()
            .saturating_sub(times.clock.now().as_nanos());
        let wanted = StdDuration::from_nanos(left).clamp(StdDuration::from_millis(1), LOOK);
        // The same until shortly before the end: a system call for each segment is expensive.
        if wanted != limit {
            stream
                .set_read_timeout(Some(wanted))
                .tried(|| "cannot limit the time of a read".to_owned())?;
            limit = wanted;
        }
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
            Err(error) => return Err(Error::system("cannot receive", error)),
        }
    }
    end_at_once(&stream)?;
    Ok(Some(stream))
}

fn wait_until(start: Instant, clock: Clock, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let left = start.as_nanos().saturating_sub(clock.now().as_nanos());
        if left == 0 {
            return;
        }
        std::thread::sleep(StdDuration::from_nanos(left).min(LOOK));
    }
}
