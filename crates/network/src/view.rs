//! A look at a flow's link from outside: queues and signal.

use airtcp_link::mac::medium::AggregationView;
use airtcp_units::Duration;

use crate::hop::{AirHop, Hop, Host};
use crate::packet::{Packet, Port};
use crate::{ACCESS_POINT, Network};

/// State of a flow's link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AirView {
    /// Packets that wait for the first link on the way of its data that can hold packets back, of
    /// all flows: for the medium, or for the first pipe where there is none.
    pub queued: u64,
    /// Packets there that failed and wait for another turn, by how often they were retransmitted in
    /// vain.
    pub retries: [u64; 3],
    /// Signal-to-noise ratio of its mobile.
    pub snr_db: Option<f64>,
    /// What carries its data there, where frames are aggregated: of all flows on the same way.
    pub aggregation: Option<AggregationView>,
}

impl<C: Copy + Default, A: Copy> Network<C, A> {
    /// State of the link now on the way from `port`.
    pub fn air(&mut self, port: &Port) -> AirView {
        let now = self.now;
        if let Some(hop) = self.first_on_air(port.route) {
            let medium = &self.media[usize::from(hop.medium)];
            return AirView {
                queued: medium.queued_packets(hop.from, mobile(hop)) as u64,
                retries: [0, 1, 2].map(|times| medium.retries(hop.from, times) as u64),
                snr_db: medium.snr_db(mobile(hop), now),
                aggregation: medium.aggregation(hop.from, hop.to),
            };
        }
        // The link's own pipe is the first that is added.
        let queued = self
            .pipes
            .first_mut()
            .map_or(0, |node| node.pipe.queued_packets(now));
        AirView {
            queued: queued as u64,
            ..AirView::default()
        }
    }

    /// Packets that wait now on the way from `port`, of all flows, for everything there that can
    /// hold packets back.
    pub fn queued_from(&mut self, port: &Port) -> u64 {
        self.queued_along(port.route)
    }

    /// Packets that wait now on the rest of a packet's way, of all flows.
    pub fn queued_ahead(&mut self, packet: &Packet<C>) -> u64 {
        self.queued_along(packet.next)
    }

    fn queued_along(&mut self, route: u32) -> u64 {
        let now = self.now;
        let (routes, media, pipes) = (&self.routes, &self.media, &mut self.pipes);
        let mut queued = 0;
        for hop in routes.from(route) {
            queued += match hop {
                Hop::Air(hop) => {
                    media[usize::from(hop.medium)].queued_packets(hop.from, mobile(hop))
                }
                Hop::Pipe(pipe) => pipes[pipe as usize].pipe.queued_packets(now),
                Hop::Agent { .. } | Hop::Host(_) => 0,
            } as u64;
        }
        queued
    }

    /// Whether what leaves `port` waits first at a station of a medium: in the host's own device.
    #[must_use]
    pub fn begins_on_air(&self, port: &Port) -> bool {
        match self.routes.at(port.route) {
            Hop::Air(first) => first.from != ACCESS_POINT,
            _ => false,
        }
    }

    /// After how long the first hop from `port` retransmits, if it is a medium that tells.
    #[must_use]
    pub fn told_retry_timeout(&self, port: &Port) -> Option<Duration> {
        match self.routes.at(port.route) {
            Hop::Air(first) => self.media[usize::from(first.medium)].told_retry_timeout(),
            _ => None,
        }
    }

    /// The hops that are still before a packet, the host that ends its way included.
    pub fn hops_ahead(&self, packet: &Packet<C>) -> impl Iterator<Item = Hop> {
        self.routes.from(packet.next)
    }

    /// The host at which the way of a packet ends.
    #[must_use]
    pub fn destination(&self, packet: &Packet<C>) -> Host {
        match self.routes.from(packet.next).last() {
            Some(Hop::Host(host)) => host,
            _ => Host::Server,
        }
    }

    /// The port of the proxy on the way from `port`, if there is one: the same way, from behind it.
    #[must_use]
    pub fn port_behind_proxy(&self, port: &Port) -> Option<Port> {
        let is_proxy = |hop: Hop| matches!(hop, Hop::Host(Host::Proxy(_)));
        let place = self.routes.from(port.route).position(is_proxy)?;
        let route = port.route + u32::try_from(place).ok()? + 1;
        Some(Port::new(port.flow, route))
    }

    fn first_on_air(&self, route: u32) -> Option<AirHop> {
        self.routes.from(route).find_map(|hop| match hop {
            Hop::Air(hop) => Some(hop),
            _ => None,
        })
    }
}

/// The end of a way that is not the access point.
const fn mobile(hop: AirHop) -> u16 {
    if hop.from == ACCESS_POINT {
        hop.to
    } else {
        hop.from
    }
}
