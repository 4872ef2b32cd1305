//! A proxy on a flow's path: it terminates the sender's connection and has one of its own to the
//! receiver.

use airtcp_network::{Alarm, Content, Hop, Port, Side};
use airtcp_packet::SequenceNumber;
use airtcp_scenario::ProxyConfig;
use airtcp_tcp::Relay;

use super::endpoints::settle;
use super::insight::ProxyWitness;
use super::latency::NO_ANSWER;
use super::watch::Watch;
use super::{Endpoints, Host, Net, Packet, Turn};

/// Distance between the proxy's sequence numbers and those of the hosts, so that a misdelivered
/// segment would be noticed.
const APART: u32 = 1 << 30;

/// A proxy in the network.
#[derive(Clone, Debug)]
pub(super) struct Proxy {
    pub relay: Relay,
    /// The points at which its output towards the client and the server enters the network.
    ports: [Option<Port>; 2],
    alarm: Alarm,
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

impl<W: Watch> Endpoints<'_, W> {
    /// Delivers a segment to the proxy from the host on `side`.
    #[inline(never)]
    pub(super) fn on_proxy_arrival(&mut self, network: &mut Net, packet: &Packet, side: Side) {
        let Content::Segment(segment) = &packet.content else {
            return;
        };
        let now = network.now();
        let flow = &mut self.flows[packet.flow as usize];
        if side == Side::Client {
            settle(flow, now, packet, segment, self.watch);
        }
        let mut witness = ProxyWitness {
            coins: flow.coins.as_deref().copied(),
        };
        if let Some(proxy) = &mut flow.proxy {
            proxy
                .relay
                .handle(now, of_relay(side), segment, &mut witness);
            self.send_for_proxy(network, packet.flow);
            if let Some(proxy) = &mut self.flows[packet.flow as usize].proxy {
                let wanted = proxy.relay.next_wakeup();
                network.arm(&mut proxy.alarm, wanted, Turn::Proxy(packet.flow));
            }
        }
    }

    pub(super) fn on_proxy_timer(&mut self, network: &mut Net, index: u32) {
        let now = network.now();
        let flow = &mut self.flows[index as usize];
        let mut witness = ProxyWitness {
            coins: flow.coins.as_deref().copied(),
        };
        let Some(proxy) = &mut flow.proxy else {
            return;
        };
        if !network.rings(proxy.alarm) {
            return;
        }
        if proxy.relay.next_wakeup() <= now {
            proxy.relay.on_wakeup(now, &mut witness);
        }
        self.send_for_proxy(network, index);
        if let Some(proxy) = &mut self.flows[index as usize].proxy {
            let wanted = proxy.relay.next_wakeup();
            network.rearm(&mut proxy.alarm, wanted);
        }
    }

    /// Sends a proxy's output.
    fn send_for_proxy(&mut self, network: &mut Net, index: u32) {
        let now = network.now();
        while let Some(proxy) = &mut self.flows[index as usize].proxy
            && let Some((side, segment)) = proxy.relay.poll(now)
        {
            if let Some(port) = &mut proxy.ports[side as usize] {
                let packet = port.packet(Content::Segment(segment), NO_ANSWER);
                network.send(packet, self);
            }
        }
    }

    /// Whether a packet belongs to the proxy's own connection with the receiver.
    pub(super) fn is_behind_proxy(&self, network: &Net, packet: &Packet) -> bool {
        if self.flows[packet.flow as usize].proxy.is_none() {
            return false;
        }
        // The sender's data has the proxy still ahead of it; the receiver's acknowledgments do.
        let is_proxy = |hop: Hop| matches!(hop, Hop::Host(Host::Proxy(_)));
        let is_ahead = network.hops_ahead(packet).any(is_proxy);
        let goes_to_server = network.destination(packet) == Host::Server;
        is_ahead != goes_to_server
    }
}

/// The relay's name for a side of the proxy.
const fn of_relay(side: Side) -> airtcp_tcp::Side {
    match side {
        Side::Client => airtcp_tcp::Side::Client,
        Side::Server => airtcp_tcp::Side::Server,
    }
}
