//! Notifications to systemd (sd_notify(3)): a datagram to its socket.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use airtcp_units::Duration;
use rustix::time::{ClockId, clock_gettime};

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

    /// Reports that this process serves, as the service's main process.
    pub fn ready(&self) {
        self.say(&format!("READY=1\nMAINPID={}", std::process::id()));
    }

    /// Reports that this process reads its configuration again, until it is [ready](Self::ready).
    pub fn reloading(&self) {
        let now = clock_gettime(ClockId::Monotonic);
        let microseconds = now.tv_sec * 1_000_000 + now.tv_nsec / 1000;
        self.say(&format!("RELOADING=1\nMONOTONIC_USEC={microseconds}"));
    }

    /// Reports that this process is well, to a manager that asks for it.
    pub fn beat(&self) {
        if self.watchdog.is_some() {
            self.say("WATCHDOG=1");
        }
    }

    /// Reports that the service ends.
    pub fn stopping(&self) {
        self.say("STOPPING=1");
    }

    /// Sends a notification. Ignores a manager that does not listen.
    fn say(&self, words: &str) {
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
