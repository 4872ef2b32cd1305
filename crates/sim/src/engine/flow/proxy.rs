//! A proxy on a flow's path: it terminates the sender's connection and opens another to the
//! receiver.

use airtcp_network::{Alarm, Port, Side};
use airtcp_packet::SequenceNumber;
use airtcp_scenario::ProxyConfig;
use airtcp_tcp::Relay;

use crate::engine::Net;

/// Distance between the proxy's sequence numbers and the hosts', so that a misdelivered segment
/// would be noticed.
const APART: u32 = 1 << 30;

/// A proxy in the network.
#[derive(Clone, Debug)]
pub(in super::super) struct Proxy {
    pub relay: Relay,
    /// The points at which its output towards the client and the server enters the network.
    pub ports: [Option<Port>; 2],
    pub alarm: Alarm,
}

impl Proxy {
    pub(super) fn new(
        config: &ProxyConfig,
        (client_iss, server_iss): (SequenceNumber, SequenceNumber),
    ) -> Self {
        let own = |iss: SequenceNumber| SequenceNumber(iss.0.wrapping_add(APART));
        Self {
            relay: Relay::new(
                &config.client_side,
                &config.server_side,
                [own(server_iss), own(client_iss)],
                config.buffer_bytes,
            ),
            ports: [None; 2],
            alarm: Alarm::default(),
        }
    }

    /// Index of the next packet that it sends to the client.
    pub(super) fn next_towards_client(&self) -> u64 {
        let port = &self.ports[Side::Client as usize];
        port.as_ref().map_or(0, Port::sent)
    }

    /// Finds the proxy's place on the paths from the server and from the client.
    pub(super) fn connect(&mut self, network: &Net, ends: [&Port; 2]) {
        self.ports = ends.map(|end| network.port_behind_proxy(end));
    }
}
