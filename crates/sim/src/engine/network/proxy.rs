//! A proxy on a flow's way: it ends the sender's connection and has one of its own to the receiver.

use airtcp_packet::SequenceNumber;
use airtcp_tcp::{Config, Relay, Side};
use airtcp_units::Instant;

use super::endpoints::settle;
use super::hop::{Hop, Routes};
use super::{Content, Network, Packet, Turn};
use crate::engine::insight::ProxyWitness;
use crate::engine::watch::Watch;

/// What tells the proxy's sequence numbers from those of the hosts, so that a segment that went
/// astray would be noticed.
const APART: u32 = 1 << 30;

/// What a proxy is.
#[derive(Clone, Debug)]
pub struct ProxyConfig {
    /// The endpoint towards the host that sends the data.
    pub client_side: Config,
    /// The endpoint towards the host that receives it.
    pub server_side: Config,
    /// Most bytes that are held for one side.
    pub buffer_bytes: u64,
}

/// A proxy in the network.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Proxy {
    pub(in crate::engine) relay: Relay,
    /// First hops of what it sends to the client and to the server.
    routes: [u32; 2],
    /// Packets sent on either side so far.
    sent: [u64; 2],
    /// Time of the pending timer event; [`Instant::FAR_FUTURE`] when there is none.
    timer: Instant,
}

impl Proxy {
    pub(in crate::engine) fn new(
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
            routes: [0, 0],
            sent: [0, 0],
            timer: Instant::FAR_FUTURE,
        }
    }

    /// Finds where the proxy stands on the routes of its flow.
    pub(super) fn lay_routes(&mut self, routes: &Routes, there: u32, back: u32) {
        for (route, side) in [(back, Side::Client), (there, Side::Server)] {
            let is_proxy = |hop: Hop| matches!(hop, Hop::Proxy(_));
            if let Some(place) = routes.from(route).position(is_proxy) {
                self.routes[side as usize] = route + u32::try_from(place).unwrap_or(0) + 1;
            }
        }
    }
}

impl Network {
    /// A segment reaches the proxy from the host on `side`.
    #[inline(never)]
    pub(super) fn on_proxy_arrival(&mut self, packet: &Packet, side: Side, watch: &mut impl Watch) {
        let Content::Segment(segment) = &packet.content else {
            return;
        };
        let now = self.now;
        let flow = &mut self.flows[packet.flow as usize];
        if side == Side::Client {
            settle(flow, now, packet, segment, watch);
        }
        let mut witness = ProxyWitness { coins: flow.coins };
        if let Some(proxy) = &mut flow.proxy {
            proxy.relay.handle(now, side, segment, &mut witness);
        }
        self.drain_proxy(packet.flow, watch);
    }

    pub(super) fn on_proxy_timer(&mut self, index: u32, watch: &mut impl Watch) {
        let now = self.now;
        self.queue.remove_first();
        let flow = &mut self.flows[index as usize];
        let mut witness = ProxyWitness { coins: flow.coins };
        let Some(proxy) = &mut flow.proxy else {
            return;
        };
        if proxy.timer != now {
            // An earlier timer was announced since.
            return;
        }
        proxy.timer = Instant::FAR_FUTURE;
        if proxy.relay.next_wakeup() <= now {
            proxy.relay.on_wakeup(now, &mut witness);
        }
        self.drain_proxy(index, watch);
    }

    /// Sends what a proxy has to send, and looks after its timer.
    fn drain_proxy(&mut self, index: u32, watch: &mut impl Watch) {
        let now = self.now;
        loop {
            let Some(proxy) = &mut self.flows[index as usize].proxy else {
                return;
            };
            let Some((side, segment)) = proxy.relay.poll(now) else {
                let wanted = proxy.relay.next_wakeup();
                if wanted < proxy.timer {
                    proxy.timer = wanted.max(now);
                    self.queue.schedule(proxy.timer, Turn::Proxy(index));
                }
                return;
            };
            let packet = Packet {
                content: Content::Segment(segment),
                flow: index,
                next: proxy.routes[side as usize],
                index: proxy.sent[side as usize],
            };
            proxy.sent[side as usize] += 1;
            self.forward(packet, watch);
        }
    }

    /// Whether a packet belongs to the proxy's own connection with the receiver.
    pub(super) fn is_behind_proxy(&self, packet: &Packet) -> bool {
        if self.flows[packet.flow as usize].proxy.is_none() {
            return false;
        }
        let mut rest = self.routes.from(packet.next);
        // Data has the proxy still ahead where it is the sender's; an acknowledgment, where it is
        // the receiver's.
        let is_ahead = rest.any(|hop| matches!(hop, Hop::Proxy(_)));
        let goes_to_server = self.routes.from(packet.next).last() == Some(Hop::Server);
        is_ahead != goes_to_server
    }
}
