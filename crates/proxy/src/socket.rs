//! The proxy's sockets: their creation, and options without wrappers in the libraries used.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use airtcp_host::error::{Error, Result, Tried};
use airtcp_host::socket_option;
use rustix::io::Errno;
use rustix::net::sockopt;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use crate::kernel_stack::KernelStack;

/// The kernel limits it to net.core.somaxconn.
const BACKLOG: i32 = 4096;
/// IP_TRANSPARENT of `linux/in.h` and IPV6_TRANSPARENT of `linux/in6.h`.
const TRANSPARENT: [i32; 2] = [19, 75];

/// Creates a listening socket; with `transparent` for connections to any address.
///
/// # Errors
///
/// The address is in use or not local, or the process lacks a privilege.
pub fn listener(
    address: SocketAddr,
    transparent: bool,
    stack: Option<&KernelStack>,
) -> Result<OwnedFd> {
    let make = || {
        let socket = stream(address)?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        if address.is_ipv6() {
            // There is a separate one for IPv4.
            sockopt::set_ipv6_v6only(&socket, transparent)?;
        }
        Ok::<_, io::Error>(socket)
    };
    let what = || format!("cannot listen at {address}");
    let socket = make().tried(what)?;
    if transparent {
        set_transparent(&socket, address)?;
    }
    // Connections have the listener's congestion control from their first segment on.
    if let Some(stack) = stack {
        stack.apply(&socket)?;
    }
    rustix::net::bind(&socket, &address).tried(what)?;
    rustix::net::listen(&socket, BACKLOG).tried(what)?;
    Ok(socket)
}

/// Opens a connection to `server`, from the address `client` if given.
///
/// # Errors
///
/// The system's immediate error; a later one is reported by the socket.
pub fn dial(
    server: SocketAddr,
    client: Option<SocketAddr>,
    stack: Option<&KernelStack>,
) -> io::Result<OwnedFd> {
    let socket = stream(server)?;
    prepare(&socket)?;
    if let Some(client) = client {
        transparent(&socket, server)?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        rustix::net::bind(&socket, &client)?;
    }
    if let Some(stack) = stack {
        stack.set(&socket)?;
    }
    match rustix::net::connect(&socket, &server) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(cause) => Err(cause.into()),
    }
}

/// Sets the options of both sockets of a connection: no delay of small segments, which either end
/// may have requested from its TCP; probes after hours of silence; and a close that is a reset
/// until both ends have finished, so that a killed proxy truncates nothing silently.
///
/// # Errors
///
/// The system refuses an option.
pub fn prepare(socket: &impl AsFd) -> io::Result<()> {
    sockopt::set_tcp_nodelay(socket, true)?;
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_socket_linger(socket, Some(Duration::ZERO))?;
    Ok(())
}

/// Makes the socket close cleanly from now on.
pub fn close_in_order(socket: &impl AsFd) {
    // A socket that refuses is reset when it closes, which is the other way to end.
    let _ = sockopt::set_socket_linger(socket, None);
}

/// Limits the received data held by the kernel, in bytes of payload; it allocates twice that for
/// overhead (sock_setsockopt, SO_RCVBUF). The window follows.
pub fn bound_receiving(socket: &impl AsFd, bytes: usize) {
    // Without privilege net.core.rmem_max is a further limit.
    if sockopt::set_socket_recv_buffer_size_force(socket, bytes).is_err() {
        let _ = sockopt::set_socket_recv_buffer_size(socket, bytes);
    }
    // A larger buffer needs a larger clamp (tcp_set_window_clamp); the buffer is the limit.
    let clamp = i32::try_from(bytes.saturating_mul(2)).unwrap_or(i32::MAX);
    let _ = socket_option::set(socket, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, &clamp);
}

/// Limits the unacknowledged data held by the kernel, likewise.
pub fn bound_sending(socket: &impl AsFd, bytes: usize) {
    if sockopt::set_socket_send_buffer_size_force(socket, bytes).is_err() {
        let _ = sockopt::set_socket_send_buffer_size(socket, bytes);
    }
}

/// Limits the unsent data held by the kernel, in bytes: the socket is writable below half of it
/// (tcp_stream_memory_free).
pub fn bound_unsent(socket: &impl AsFd, bytes: usize) {
    let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
    let _ = socket_option::set(socket, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, &bytes);
}

fn stream(address: SocketAddr) -> io::Result<OwnedFd> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(rustix::net::socket_with(
        family,
        SocketType::STREAM,
        flags,
        None,
    )?)
}

fn set_transparent(socket: &impl AsFd, address: SocketAddr) -> Result<()> {
    transparent(socket, address).map_err(|cause| {
        Error::system("cannot keep the addresses of connections", cause)
            .remedied_by("IP_TRANSPARENT needs CAP_NET_ADMIN: run the proxy as root")
    })
}

fn transparent(socket: &impl AsFd, address: SocketAddr) -> io::Result<()> {
    match address {
        SocketAddr::V4(_) => socket_option::set(socket, libc::IPPROTO_IP, TRANSPARENT[0], &1_i32),
        SocketAddr::V6(_) => socket_option::set(socket, libc::IPPROTO_IPV6, TRANSPARENT[1], &1_i32),
    }
}
