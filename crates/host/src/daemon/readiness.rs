//! Notifications to systemd (sd_notify(3)): a datagram to its socket.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use airtcp_units::Duration;

/// The connection to the service manager, if there is one.
#[derive(Debug)]
pub struct Manager {
    socket: Option<(UnixDatagram, SocketAddr)>,
    /// The manager's watchdog interval.
    pub watchdog: Option<Duration>,
}

impl Manager {
    /// Connects to the manager that started this process.
    pub fn from_environment() -> Self {
        let watchdog = std::env::var("WATCHDOG_USEC")
            .ok()
            .and_then(|text| text.parse().ok())
            .map(Duration::from_micros);
        Self {
            socket: connect(),
            watchdog,
        }
    }

    /// Sends a notification, such as `READY=1`. Ignores a manager that does not listen.
    pub fn say(&self, words: &str) {
        if let Some((socket, address)) = &self.socket {
            let _ = socket.send_to_addr(words.as_bytes(), address);
        }
    }
}

fn connect() -> Option<(UnixDatagram, SocketAddr)> {
    let name = std::env::var_os("NOTIFY_SOCKET")?;
    let address = match name.as_bytes().strip_prefix(b"@") {
        Some(hidden) => SocketAddr::from_abstract_name(hidden),
        None => SocketAddr::from_pathname(&name),
    };
    Some((UnixDatagram::unbound().ok()?, address.ok()?))
}
