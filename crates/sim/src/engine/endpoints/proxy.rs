//! Proxies on the paths of flows: their arrivals, their output, and their timers.

use airtcp_network::{Content, Hop, Side};

use super::settle;
use crate::engine::insight::ProxyWitness;
use crate::engine::latency::NO_ANSWER;
use crate::engine::watch::Watch;
use crate::engine::{Endpoints, Host, Net, Packet, Turn};

impl<W: Watch> Endpoints<'_, W> {
    /// Delivers a segment to the proxy from the host on `side`.
    #[inline(never)]
    pub(in super::super) fn on_proxy_arrival(
        &mut self,
        network: &mut Net,
        packet: &Packet,
        side: Side,
    ) {
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

    pub(in super::super) fn on_proxy_timer(&mut self, network: &mut Net, index: u32) {
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

    /// Whether a packet belongs to the proxy's connection with the receiver.
    pub(in super::super) fn is_behind_proxy(&self, network: &Net, packet: &Packet) -> bool {
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
