//! A network namespace's identity, unique until the machine restarts.

use std::mem::size_of;
use std::os::fd::AsRawFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use crate::error::{Error, Result, Tried};

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
    let mut cookie = 0_u64;
    let mut length = size_of::<u64>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into `cookie`.
    #[expect(unsafe_code, reason = "no library of ours wraps SO_NETNS_COOKIE")]
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_NETNS_COOKIE,
            (&raw mut cookie).cast(),
            &raw mut length,
        )
    };
    if result == 0 {
        return Ok(cookie);
    }
    Err(Error::system(
        "cannot tell this network namespace from others",
        std::io::Error::last_os_error(),
    )
    .remedied_by("SO_NETNS_COOKIE needs Linux 5.14"))
}
