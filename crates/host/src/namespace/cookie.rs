//! A network namespace's identity, unique until the machine restarts.

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use crate::error::{Error, Result, Tried};
use crate::socket_option;

/// The cookie of the calling thread's network namespace (`SO_NETNS_COOKIE`).
///
/// # Errors
///
/// The kernel is older than Linux 5.14.
pub fn cookie() -> Result<u64> {
    let socket = socket_with(
        AddressFamily::UNIX,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        None,
    )
    .tried(|| "cannot make a socket".to_owned())?;
    socket_option::get(&socket, libc::SOL_SOCKET, libc::SO_NETNS_COOKIE).map_err(|cause| {
        Error::system("cannot tell this network namespace from others", cause)
            .remedied_by("SO_NETNS_COOKIE needs Linux 5.14")
    })
}
