//! Routes: the hops of a packet's path, in order.

use airtcp_link::agent::Toward;

/// An element of a packet's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// A pipe, by index.
    Pipe(u32),
    /// A medium, from one of its stations to another.
    Air(AirHop),
    /// An agent that an access point runs, by index.
    Agent {
        /// Its index.
        agent: u16,
        /// The direction in which the packet passes it.
        toward: Toward,
    },
    /// A host of the flow: the packet leaves the network.
    Host(Host),
}

/// A point where packets of a flow leave the network, and others enter it. Each flow has a separate
/// set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// The host that receives the flow's data: the end of the path.
    Server,
    /// The host that sends it: the end of the path.
    Client,
    /// The proxy of the flow, for packets from that side: the end of one connection and the start
    /// of the next, which continues at the following hop.
    Proxy(Side),
}

/// A side of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Towards the host that sends the flow's data.
    Client,
    /// Towards the host that receives it.
    Server,
}

/// A hop over a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AirHop {
    /// The medium, by index.
    pub medium: u16,
    /// The station that sends.
    pub from: u16,
    /// The station that receives.
    pub to: u16,
}

/// All routes, concatenated. A packet carries the index of its next hop; each route ends at a
/// server or a client, so that no length needs to be stored.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routes {
    hops: Vec<Hop>,
}

impl Routes {
    /// Adds a route that ends at `host`, and returns the index of its first hop. Consecutive flows
    /// with the same route share one copy.
    pub(crate) fn add(&mut self, way: &[Hop], host: Host) -> u32 {
        let host = Hop::Host(host);
        let length = way.len() + 1;
        for known in self.recent(length) {
            if self.hops[known..known + length - 1] == *way && self.hops[known + length - 1] == host
            {
                return index(known);
            }
        }
        let first = self.hops.len();
        self.hops.extend_from_slice(way);
        self.hops.push(host);
        index(first)
    }

    /// The hop at `index`.
    #[inline]
    pub(crate) fn at(&self, index: u32) -> Hop {
        self.hops[index as usize]
    }

    /// The hops from `index` on, the host that ends the route included.
    pub(crate) fn from(&self, index: u32) -> impl Iterator<Item = Hop> {
        let ends = |hop: &Hop| matches!(hop, Hop::Host(Host::Server | Host::Client));
        let rest = &self.hops[index as usize..];
        let length = rest.iter().position(ends).map_or(rest.len(), |end| end + 1);
        rest[..length].iter().copied()
    }

    /// Range in which a recently added route of `length` hops may start.
    fn recent(&self, length: usize) -> std::ops::Range<usize> {
        /// Both paths of a flow, at their longest.
        const LOOK_BACK: usize = 32;
        let last = (self.hops.len() + 1).saturating_sub(length);
        last.saturating_sub(LOOK_BACK)..last
    }
}

fn index(place: usize) -> u32 {
    u32::try_from(place).expect("fewer than 2^32 hops: a million flows have a few each")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_that_share_a_route_share_its_place() {
        let mut routes = Routes::default();
        let there = routes.add(&[Hop::Pipe(0)], Host::Server);
        let back = routes.add(&[Hop::Pipe(1)], Host::Client);
        assert_eq!((there, back), (0, 2));
        assert_eq!(routes.add(&[Hop::Pipe(0)], Host::Server), there);
        assert_eq!(routes.add(&[Hop::Pipe(1)], Host::Client), back);
        // The same hops towards another host, or one hop more, are another route.
        assert_eq!(routes.add(&[Hop::Pipe(0)], Host::Client), 4);
        let longer = routes.add(&[Hop::Pipe(0), Hop::Pipe(3)], Host::Server);
        let hops: Vec<_> = routes.from(longer).collect();
        assert_eq!(hops, [Hop::Pipe(0), Hop::Pipe(3), Hop::Host(Host::Server)]);
    }
}
