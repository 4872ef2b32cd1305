//! The two hosts of each flow: the configuration of their kernels, and their counters.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use airtcp_host::device::discipline::Discipline;
use airtcp_host::error::Result;
use airtcp_host::namespace::Namespace;

use super::counters::Counters;
use super::queue::KernelQueue;
use super::stack::{self, Stack};
use crate::link::ends::{Ends, Line};
use crate::link::flows::Way;

/// The reported kernel counters, from the sender's namespace.
pub(super) const COUNTED: [&str; 7] = [
    "TcpRetransSegs",
    "TcpExtTCPTimeouts",
    "TcpExtTCPLossProbes",
    "TcpExtTCPFullUndo",
    "TcpExtTCPPartialUndo",
    "TcpExtTCPDSACKUndo",
    "TcpExtTCPLossUndo",
];
/// The receivers' port.
pub(super) const PORT: u16 = 5001;

/// The two hosts of a flow.
pub(super) struct Hosts {
    pub sender: Arc<Namespace>,
    pub receiver: Arc<Namespace>,
    /// Their devices.
    pub devices: [String; 2],
    /// The receiver's address.
    pub to: SocketAddr,
    pub downwards: bool,
}

impl Hosts {
    pub fn new(ends: &Ends, station: usize, way: &Way) -> Self {
        let line = Line::of(station);
        let (at_station, at_server) = (
            Arc::clone(&ends.stations[station]),
            Arc::clone(&ends.server),
        );
        let (sender, receiver, to) = if way.downwards {
            (at_server, at_station, line.station)
        } else {
            (at_station, at_server, line.server)
        };
        let (station_device, server_device) = (
            ends.station_devices[station].name().to_owned(),
            ends.server_devices[station].name().to_owned(),
        );
        Self {
            sender,
            receiver,
            devices: if way.downwards {
                [server_device, station_device]
            } else {
                [station_device, server_device]
            },
            to: SocketAddr::new(IpAddr::V4(to), PORT),
            downwards: way.downwards,
        }
    }

    /// Configures the kernel's TCP at both ends.
    pub fn prepare(
        &self,
        ends: &Ends,
        station: usize,
        stack: &Stack,
        [queue, ack_queue]: [&Option<KernelQueue>; 2],
    ) -> Result<()> {
        let (at_station, at_server) = (
            &ends.station_devices[station],
            &ends.server_devices[station],
        );
        let line = Line::of(station);
        let (sender, receiver, from) = if self.downwards {
            (at_server, at_station, line.server)
        } else {
            (at_station, at_server, line.station)
        };
        self.sender.enter(|| {
            stack::apply(&stack.sender_settings)?;
            match queue {
                Some(queue) => queue.put(sender.name())?,
                None => {
                    if let Some(words) = &stack.discipline {
                        Discipline::parse(words)?.put(sender.name())?;
                    }
                }
            }
            sender.route(self.to.ip(), 32, &stack.sender_route)
        })?;
        self.receiver.enter(|| {
            stack::apply(&stack.receiver_settings)?;
            if let Some(queue) = ack_queue {
                queue.put(receiver.name())?;
            }
            receiver.route(IpAddr::V4(from), 32, &stack.receiver_route)
        })
    }
}

/// The counters of all senders' namespaces, each namespace counted once.
pub(super) fn counted(hosts: &[Hosts]) -> Result<[u64; COUNTED.len()]> {
    let mut sums = [0; COUNTED.len()];
    let mut seen: Vec<&Arc<Namespace>> = Vec::new();
    for host in hosts {
        if seen.iter().any(|known| Arc::ptr_eq(known, &host.sender)) {
            continue;
        }
        seen.push(&host.sender);
        let counters = host.sender.enter(Counters::read)?;
        for (sum, name) in sums.iter_mut().zip(COUNTED) {
            *sum += counters.get(name);
        }
    }
    Ok(sums)
}
