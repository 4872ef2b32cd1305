//! The side of the endpoint, and the ends of its connections there.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use airtcp_endpoint::{ListenerId, Options};
use rustix::net::{SocketAddrAny, sockopt};

use crate::admission::{Servers, asked_by};

/// Bytes of IP and TCP headers, for IPv4 and IPv6, and of timestamps in each segment.
const HEADER_BYTES: [u32; 2] = [20 + 20, 40 + 20];
const TIMESTAMP_BYTES: u32 = 12;

/// Side of the endpoint's connections.
#[derive(Debug)]
pub enum Way {
    /// Clients connect to the kernel, and the endpoint connects to the server.
    ToEndpoint(Beyond),
    /// Clients connect to the endpoint, and the kernel connects to the server.
    ToKernel {
        /// Listener of the clients.
        listener: ListenerId,
        /// Their servers.
        servers: Servers,
    },
}

impl Way {
    /// The ends of a connection by which the radio's driver and the endpoint both know it. If the
    /// nearer address is the endpoint's it may be translated; the ports are unchanged, and identify
    /// the connection.
    pub fn seen(&self, local: SocketAddr, remote: SocketAddr) -> [SocketAddr; 2] {
        let keeps_addresses = match self {
            Self::ToEndpoint(beyond) => matches!(beyond, Beyond::Original { .. }),
            Self::ToKernel { servers, .. } => matches!(servers, Servers::Original { .. }),
        };
        if keeps_addresses {
            [local, remote]
        } else {
            let anywhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, local.port()));
            [anywhere, remote]
        }
    }

    /// Limits segments to the path MTU to `server`, if the path is the machine's rather than a
    /// device of the endpoint.
    pub fn fit(&self, options: &mut Options, server: SocketAddr) {
        if let Self::ToEndpoint(Beyond::Original { .. }) = self
            && let Some(mtu) = path_mtu(server)
        {
            let headers = HEADER_BYTES[usize::from(server.is_ipv6())];
            let stamps = TIMESTAMP_BYTES * u32::from(options.config.timestamps);
            let most = mtu.saturating_sub(headers + stamps).max(1);
            if most < options.config.mss {
                Arc::make_mut(&mut options.config).mss = most;
            }
        }
    }
}

/// The ends of the endpoint's connections to servers.
#[derive(Clone, Copy, Debug)]
pub enum Beyond {
    /// From its address to one server.
    Fixed {
        /// Its address.
        from: SocketAddr,
        /// The server's.
        server: SocketAddr,
    },
    /// From the client's address to the server that the client addressed.
    Original {
        /// The port of the listeners.
        listener: u16,
    },
}

impl Beyond {
    /// The ends for that client: the nearer and the farther.
    pub fn of(self, client: &OwnedFd, from: Option<SocketAddrAny>) -> Option<[SocketAddr; 2]> {
        match self {
            Self::Fixed { from, server } => Some([from, server]),
            Self::Original { listener } => {
                let from = SocketAddr::try_from(from?).ok()?;
                Some([from, asked_by(client, listener)?])
            }
        }
    }
}

/// The path MTU to `server`, as far as the kernel knows it; `None` without a route.
fn path_mtu(server: SocketAddr) -> Option<u32> {
    let any = match server {
        SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
    };
    // Sends nothing: a connected socket has a route.
    let socket = UdpSocket::bind(any).ok()?;
    socket.connect(server).ok()?;
    let mtu = match server {
        SocketAddr::V4(_) => sockopt::ip_mtu(&socket),
        SocketAddr::V6(_) => sockopt::ipv6_mtu(&socket),
    };
    mtu.ok()
}
