//! The server to which a client's connection continues.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::OwnedFd;

use airtcp_host::error::{Error, Result};

use crate::kernel_stack::KernelStack;
use crate::socket;

/// The servers of clients' connections.
#[derive(Clone, Debug)]
pub enum Servers {
    /// A server with these addresses, which are tried in order.
    Named(Vec<SocketAddr>),
    /// The server that the client addressed, with the client's address. No server for connections
    /// to the proxy's port.
    Original {
        /// The port of the listeners.
        listener: u16,
    },
}

impl Servers {
    /// Resolves the server with that name.
    ///
    /// # Errors
    ///
    /// The name has no address, or it resolves to the proxy.
    pub fn named(name: &str, listener: SocketAddr) -> Result<Self> {
        let addresses: Vec<SocketAddr> = name
            .to_socket_addrs()
            .map_err(|cause| {
                Error::system(
                    format!("--to {name}: expected a HOST:PORT that has an address"),
                    cause,
                )
            })?
            .collect();
        if addresses.is_empty() {
            return Err(Error::new(format!("--to {name}: it has no address")));
        }
        let is_own = |to: &SocketAddr| {
            let same_host = to.ip() == listener.ip()
                || (listener.ip().is_unspecified() && to.ip().is_loopback());
            to.port() == listener.port() && same_host
        };
        if addresses.iter().any(is_own) {
            return Err(Error::new(format!(
                "--to {name}: that is where the proxy itself listens"
            )));
        }
        Ok(Self::Named(addresses))
    }

    /// The server's first IPv4 address, if it is named and has one.
    pub fn first_v4(&self) -> Option<SocketAddr> {
        match self {
            Self::Named(addresses) => addresses.iter().copied().find(SocketAddr::is_ipv4),
            Self::Original { .. } => None,
        }
    }

    /// Begins a connection to the server that the client at `from` requested at `asked`: at the
    /// first reachable address.
    pub fn dial_first(&self, from: SocketAddr, asked: SocketAddr) -> Option<OwnedFd> {
        match self {
            Self::Named(addresses) => addresses
                .iter()
                .find_map(|&server| socket::dial(server, None, None).ok()),
            Self::Original { .. } => socket::dial(asked, Some(from), None).ok(),
        }
    }

    /// Opens a connection to that client's server, at its address number `attempt`. `None` if there
    /// is no such address.
    pub fn dial(
        &self,
        client: &OwnedFd,
        from: SocketAddr,
        attempt: usize,
        stack: Option<&KernelStack>,
    ) -> Option<io::Result<OwnedFd>> {
        match self {
            Self::Named(addresses) => {
                let server = *addresses.get(attempt)?;
                Some(socket::dial(server, None, stack))
            }
            Self::Original { listener } if attempt == 0 => {
                let server = asked_by(client, *listener)?;
                Some(socket::dial(server, Some(from), stack))
            }
            Self::Original { .. } => None,
        }
    }
}

/// The server addressed by a diverted client. TPROXY leaves the packet as it is: the socket's local
/// address is the server's. `None` for a client of the proxy's port, `listener`.
pub fn asked_by(client: &OwnedFd, listener: u16) -> Option<SocketAddr> {
    rustix::net::getsockname(client)
        .and_then(SocketAddr::try_from)
        .ok()
        .filter(|server| server.port() != listener)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_does_not_go_on_to_itself() {
        let listener = "[::]:8080".parse().unwrap();
        for own in ["127.0.0.1:8080", "[::1]:8080"] {
            let error = Servers::named(own, listener).unwrap_err().to_string();
            assert!(error.contains("itself"), "{error}");
        }
        assert!(Servers::named("127.0.0.1:8081", listener).is_ok());
        assert!(Servers::named("192.0.2.1", listener).is_err());
    }
}
