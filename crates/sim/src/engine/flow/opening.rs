//! How a flow's connection is opened, where the client does not simply open it.

use std::net::{Ipv4Addr, SocketAddr};

use airtcp_endpoint::FourTuple;
use airtcp_network::Host;
use airtcp_scenario::FlowConfig;

/// The first address of the hosts: 10.0.0.0 (RFC 1918).
const FIRST_ADDRESS: u32 = 10 << 24;

/// Bytes that timestamps take of a segment (RFC 7323 §3.2, appendix A).
const TIMESTAMPS_BYTES: u32 = 12;

/// The opening of a flow that begins with a request, or whose endpoints use Fast Open.
#[derive(Clone, Debug)]
pub(in super::super) struct Opening {
    /// The host that opens the connection.
    pub by: Host,
    /// Bytes of the server's request that the client has not received yet.
    pub request_left: u64,
    /// Bytes that the client sends; `None` sends until the end of the run.
    pub bytes: Option<u64>,
    /// Payload of a segment without options.
    pub payload: u16,
    /// The connection as the opener and as the other host see it, if they use Fast Open.
    pub tuples: Option<[FourTuple; 2]>,
    /// Whether the opener has been woken to open it.
    pub has_begun: bool,
}

impl Opening {
    /// `None` for a connection that the client opens without Fast Open.
    pub fn new(config: &FlowConfig) -> Option<Box<Self>> {
        let is_tcp = config.datagrams.is_none();
        let opens_fast = is_tcp && config.tcp.fast_open;
        if config.request.is_none() && !opens_fast {
            return None;
        }
        let [client, server] = config.hosts.map(address);
        let (by, local, remote) = match config.request {
            Some(_) => (Host::Server, server, client),
            None => (Host::Client, client, server),
        };
        let stamps = if config.tcp.timestamps {
            TIMESTAMPS_BYTES
        } else {
            0
        };
        Some(Box::new(Self {
            by,
            request_left: config.request.unwrap_or(0),
            bytes: config.bytes,
            payload: u16::try_from(config.tcp.mss + stamps).unwrap_or(u16::MAX),
            tuples: opens_fast.then_some([
                FourTuple { local, remote },
                FourTuple {
                    local: remote,
                    remote: local,
                },
            ]),
            has_begun: false,
        }))
    }
}

/// An address for host number `host`; ports play no part in Fast Open.
fn address(host: u32) -> SocketAddr {
    SocketAddr::new(Ipv4Addr::from(FIRST_ADDRESS | host).into(), 0)
}
