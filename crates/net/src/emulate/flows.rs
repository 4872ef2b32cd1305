//! Which flow of the network a real packet belongs to.
//!
//! Every TCP connection is a flow of its own, since agents keep what they know by flow and a
//! channel draws its losses by flow and transmission: the first connection of a station meets what
//! the first flow of the simulation meets. What is no TCP shares a flow.

use std::collections::HashMap;
use std::net::SocketAddr;

use airtcp_network::{Hop, Host, Network, Packet, Port};

use super::store::Ticket;

/// Connections that have a flow of their own. Those after them share the flow of what is no TCP:
/// they meet the same link, but agents do not see them.
const MOST_CONNECTIONS: usize = 1 << 16;

/// The way of a station's packets over the network.
#[derive(Clone, Debug)]
pub struct Way {
    /// What data meets.
    pub forward: Vec<Hop>,
    /// What acknowledgments meet.
    pub reverse: Vec<Hop>,
    /// The station is where the data goes, not where it comes from.
    pub downwards: bool,
}

/// An end of the emulated link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A station's, by number.
    Station(usize),
    /// The server's.
    Server,
}

/// What a flow is to the driver.
#[derive(Clone, Copy, Debug)]
struct Flow {
    station: usize,
    /// Ports of the network's client and server.
    ports: [Port; 2],
}

/// All flows so far.
#[derive(Debug)]
pub struct Flows {
    ways: Vec<Way>,
    flows: Vec<Flow>,
    /// By station, the station's address and the server's.
    connections: HashMap<(usize, SocketAddr, SocketAddr), u32>,
    /// The flow of all that is no connection of its own, a station each.
    others: Vec<Option<u32>>,
}

impl Flows {
    /// No flows yet over these ways, a station each.
    pub fn new(ways: Vec<Way>) -> Self {
        Self {
            others: vec![None; ways.len()],
            ways,
            flows: Vec::new(),
            connections: HashMap::new(),
        }
    }

    /// The flow of a packet that `from` sends over the link between `station` and the server, and
    /// its port there. `ends` are source and destination of a TCP segment.
    pub fn port<'a>(
        &'a mut self,
        network: &mut Network<Ticket>,
        station: usize,
        from: End,
        ends: Option<(SocketAddr, SocketAddr)>,
    ) -> &'a mut Port {
        let key = ends.map(|(source, destination)| match from {
            End::Station(_) => (station, source, destination),
            End::Server => (station, destination, source),
        });
        let known = match key {
            Some(key) => self.connections.get(&key).copied(),
            None => self.others[station],
        };
        let flow = known.unwrap_or_else(|| match key {
            Some(key) if self.connections.len() < MOST_CONNECTIONS => {
                let flow = self.add(network, station);
                self.connections.insert(key, flow);
                flow
            }
            _ => match self.others[station] {
                Some(flow) => flow,
                None => {
                    let flow = self.add(network, station);
                    self.others[station] = Some(flow);
                    flow
                }
            },
        });
        let sends_data = self.sends_data(station, from);
        &mut self.flows[flow as usize].ports[usize::from(!sends_data)]
    }

    /// The end at which a packet of `flow` that leaves the network at `host` arrives. `None` for a
    /// proxy, which is a host in simulations alone.
    pub fn end(&self, flow: u32, host: Host) -> Option<End> {
        let station = self.flows.get(flow as usize)?.station;
        let downwards = self.ways[station].downwards;
        match host {
            Host::Server if downwards => Some(End::Station(station)),
            Host::Client if !downwards => Some(End::Station(station)),
            Host::Server | Host::Client => Some(End::Server),
            Host::Proxy(_) => None,
        }
    }

    /// Whether what `from` sends between `station` and the server goes the way of the scenario's
    /// data.
    pub fn sends_data(&self, station: usize, from: End) -> bool {
        (from == End::Server) == self.ways[station].downwards
    }

    /// The station's port, if `packet` is data of its own that has not passed its own link.
    pub fn sent_by_station(&self, packet: &Packet<Ticket>) -> Option<&Port> {
        let flow = self.flows.get(packet.flow as usize)?;
        let port = &flow.ports[0];
        let is_own = !self.ways[flow.station].downwards && port.is_first_hop_of(packet);
        is_own.then_some(port)
    }

    /// Packets that wait on the ways of all stations: of each, those of a flow of its own, since
    /// flows share what holds packets back.
    pub fn queued(&self, network: &mut Network<Ticket>) -> u64 {
        let mut seen = vec![false; self.ways.len()];
        let mut queued = 0;
        for flow in &self.flows {
            if !std::mem::replace(&mut seen[flow.station], true) {
                let ports = flow.ports.iter();
                queued += ports.map(|port| network.queued_from(port)).sum::<u64>();
            }
        }
        queued
    }

    /// The station of a flow.
    ///
    /// # Panics
    ///
    /// There is no such flow.
    pub fn station(&self, flow: u32) -> usize {
        self.flows[flow as usize].station
    }

    /// Connections so far.
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    fn add(&mut self, network: &mut Network<Ticket>, station: usize) -> u32 {
        let way = &self.ways[station];
        let ports = network.add_flow(&way.forward, &way.reverse);
        self.flows.push(Flow { station, ports });
        u32::try_from(self.flows.len() - 1).unwrap_or(u32::MAX)
    }
}
