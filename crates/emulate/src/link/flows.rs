//! The mapping from real packets to flows of the network.
//!
//! Every TCP connection is a separate flow, since agents keep their state by flow and a channel
//! draws its losses by flow and transmission: the first connection of a station sees the channel of
//! the simulation's first flow. All packets that are not TCP share a flow.

use std::collections::HashMap;
use std::net::SocketAddr;

use airtcp_host::packet_store::Ticket;
use airtcp_network::{Hop, Host, Network, Packet, Port};

use crate::end::End;

/// Maximum number of connections with separate flows. Later ones share the flow of packets that are
/// not TCP: they use the same link, but agents do not see them.
const MAX_CONNECTIONS: usize = 1 << 16;

/// The path of a station's packets over the network.
#[derive(Clone, Debug)]
pub struct Way {
    /// The hops of data.
    pub forward: Vec<Hop>,
    /// The hops of acknowledgments.
    pub reverse: Vec<Hop>,
    /// Whether the station is the destination of the data rather than its source.
    pub downwards: bool,
}

/// A flow, as the driver sees it.
#[derive(Clone, Copy, Debug)]
struct Flow {
    station: usize,
    /// Ports of the network's client and server.
    ports: [Port; 2],
}

/// Key of a connection: a station, its address and the server's.
type Connection = (usize, SocketAddr, SocketAddr);

/// All flows since the start.
#[derive(Debug)]
pub struct Flows {
    ways: Vec<Way>,
    flows: Vec<Flow>,
    connections: HashMap<Connection, u32>,
    /// The connection of each station's last segment, which mostly equals the next one's: hashing
    /// costs as much as everything else here.
    last: Vec<Option<(Connection, u32)>>,
    /// The shared flow of each station for packets without a connection.
    others: Vec<Option<u32>>,
}

impl Flows {
    /// Creates the mapping over these paths, one per station.
    pub fn new(ways: Vec<Way>) -> Self {
        Self {
            others: vec![None; ways.len()],
            last: vec![None; ways.len()],
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
        let known = match (key, self.last[station]) {
            (Some(key), Some((last, flow))) if key == last => Some(flow),
            (Some(key), _) => self.connections.get(&key).copied(),
            (None, _) => self.others[station],
        };
        let flow = known.unwrap_or_else(|| match key {
            Some(key) if self.connections.len() < MAX_CONNECTIONS => {
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
        if let Some(key) = key {
            self.last[station] = Some((key, flow));
        }
        let sends_data = self.sends_data(station, from);
        &mut self.flows[flow as usize].ports[usize::from(!sends_data)]
    }

    /// The end at which a packet of `flow` that leaves the network at `host` arrives. `None` for a
    /// proxy, which is a host only in simulations.
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

    /// Whether packets from `from` between `station` and the server take the data path of the
    /// scenario.
    pub fn sends_data(&self, station: usize, from: End) -> bool {
        (from == End::Server) == self.ways[station].downwards
    }

    /// The station's port, if `packet` is the station's data and has not passed its link yet.
    pub fn sent_by_station(&self, packet: &Packet<Ticket>) -> Option<&Port> {
        let flow = self.flows.get(packet.flow as usize)?;
        let port = &flow.ports[0];
        let is_own = !self.ways[flow.station].downwards && port.is_first_hop_of(packet);
        is_own.then_some(port)
    }

    /// Packets queued on the paths of all stations: one flow per station is counted, since a
    /// station's flows share queues.
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
    /// The flow does not exist.
    pub fn station(&self, flow: u32) -> usize {
        self.flows[flow as usize].station
    }

    /// Number of connections since the start.
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
