//! Snapshot of a flow's link: queues and signal.

use airtcp_link::mac::medium::AggregationView;
use airtcp_units::Duration;

use crate::hop::{AirHop, Hop, Host};
use crate::packet::{Packet, Port};
use crate::{ACCESS_POINT, Network};

/// State of a flow's link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AirView {
    /// Packets of all flows queued for the first link on the data's path that can hold packets
    /// back: the medium, or the first pipe if there is no medium.
    pub queued: u64,
    /// Packets there that failed and wait for another attempt, by number of failed retransmissions.
    pub retries: [u64; 3],
    /// Signal-to-noise ratio of its mobile.
    pub snr_db: Option<f64>,
    /// Aggregation state of the link that carries its data, over all flows on that path.
    pub aggregation: Option<AggregationView>,
}

impl<C: Copy + Default, A: Copy> Network<C, A> {
    /// State of the link now on the path from `port`.
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
        // The link's pipe is added first.
        let queued = self
            .pipes
            .first_mut()
            .map_or(0, |node| node.pipe.queued_packets(now));
        AirView {
            queued: queued as u64,
            ..AirView::default()
        }
    }

    /// Packets of all flows queued now at every element on the path from `port` that can hold
    /// packets back.
    pub fn queued_from(&mut self, port: &Port) -> u64 {
        self.queued_along(port.route)
    }

    /// Packets of all flows queued now on the rest of a packet's path.
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

    /// Whether packets from `port` queue first at a station of a medium: in the host's device.
    #[must_use]
    pub fn begins_on_air(&self, port: &Port) -> bool {
        match self.routes.at(port.route) {
            Hop::Air(first) => first.from != ACCESS_POINT,
            _ => false,
        }
    }

    /// Retransmission timeout of the first hop from `port`, if it is a medium that reports one.
    #[must_use]
    pub fn told_retry_timeout(&self, port: &Port) -> Option<Duration> {
        match self.routes.at(port.route) {
            Hop::Air(first) => self.media[usize::from(first.medium)].told_retry_timeout(),
            _ => None,
        }
    }

    /// The hops still ahead of a packet, the destination host included.
    pub fn hops_ahead(&self, packet: &Packet<C>) -> impl Iterator<Item = Hop> {
        self.routes.from(packet.next)
    }

    /// The host at which a packet's path ends.
    #[must_use]
    pub fn destination(&self, packet: &Packet<C>) -> Host {
        match self.routes.from(packet.next).last() {
            Some(Hop::Host(host)) => host,
            _ => Host::Server,
        }
    }

    /// The port of the proxy on the path from `port`, if there is one: the rest of that path.
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

/// The end of a hop that is not the access point.
const fn mobile(hop: AirHop) -> u16 {
    if hop.from == ACCESS_POINT {
        hop.to
    } else {
        hop.from
    }
}
