//! The listening sockets of a proxy.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;

use airtcp_host::error::{Error, Result};

use crate::kernel_stack::KernelStack;
use crate::socket;

/// The listening sockets: one, and for `--transparent` on every address one of each family.
///
/// # Errors
///
/// `--transparent` at a single address, or the system refuses a socket.
pub fn listeners(
    listen: SocketAddr,
    transparent: bool,
    stack: Option<&KernelStack>,
) -> Result<Vec<OwnedFd>> {
    if transparent && !listen.ip().is_unspecified() {
        return Err(Error::new(format!(
            "--listen {listen}: expected a port of every address, such as :{}, with --transparent",
            listen.port()
        )));
    }
    let v4 = SocketAddr::from((Ipv4Addr::UNSPECIFIED, listen.port()));
    let has_v6 = std::path::Path::new("/proc/sys/net/ipv6").exists();
    match listen {
        SocketAddr::V6(address) if address.ip().is_unspecified() => {
            let mut made = Vec::new();
            if transparent || !has_v6 {
                made.push(socket::listener(v4, transparent, stack)?);
            }
            if has_v6 {
                made.push(socket::listener(listen, transparent, stack)?);
            }
            Ok(made)
        }
        listen => Ok(vec![socket::listener(listen, transparent, stack)?]),
    }
}
