//! The world around a network: the hosts that receive its packets.

use std::collections::VecDeque;
use std::convert::Infallible;

use airtcp_link::Admission;
use airtcp_link::agent::AgentEvent;
use airtcp_link::frame::Occupancy;
use airtcp_packet::Segment;
use airtcp_units::Instant;

use crate::Network;
use crate::hop::Host;
use crate::packet::Packet;

/// Everything at the hosts of a network. Its methods are called as packets arrive, and may send
/// into the network: an endpoint's answer leaves in the instant of the packet that it answers.
///
/// `C` is the type that packets carry, and `A` identifies the hosts' timers, which share the
/// network's single queue: that fixes the order of simultaneous events.
pub trait Hosts<C: Copy + Default, A: Copy>: Sized {
    /// A packet reaches the host on its way.
    fn arrived(&mut self, network: &mut Network<C, A>, host: Host, packet: &Packet<C>);

    /// An event that hosts have armed is due. Its owner calls
    /// [`Network::rings`] first, and [`Network::rearm`] once if that returns true.
    fn woken(&mut self, network: &mut Network<C, A>, alarm: A);

    /// A packet was dropped or lost: it will not arrive.
    #[inline]
    fn lost(&mut self, _network: &Network<C, A>, _packet: &Packet<C>, _why: Admission) {}

    /// A packet crossed a medium or was discarded there, after `attempts` attempts.
    #[inline]
    fn crossed_air(&mut self, _packet: &Packet<C>, _attempts: u32) {}

    /// A medium has the acknowledgment of a packet, after `attempts` attempts.
    #[inline]
    fn acknowledged_by_link(&mut self, _now: Instant, _packet: &Packet<C>, _attempts: u32) {}

    /// A packet has left the queue of a medium's station: acknowledged, given up or dropped.
    #[inline]
    fn left_station(&mut self, _network: &mut Network<C, A>, _packet: &Packet<C>) {}

    /// An agent has sent another copy of a segment of flow `flow`.
    #[inline]
    fn repeated(&mut self, _flow: u32, _segment: &Segment) {}

    /// A station occupies a medium.
    #[inline]
    fn occupied(&mut self, _medium: u16, _occupancy: &Occupancy) {}

    /// An agent at an access point has acted on flow `flow`.
    #[inline]
    fn agent_acted(&mut self, _now: Instant, _flow: u32, _event: AgentEvent) {}
}

/// Hosts that only collect: packets that left the network, in order, for a driver that reads them
/// after [`Network::advance`] has returned.
#[derive(Clone, Debug)]
pub struct Arrivals<C> {
    waiting: VecDeque<Arrival<C>>,
}

/// A packet that left the network.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<C> {
    /// Time of arrival.
    pub time: Instant,
    /// Host at which it arrived.
    pub host: Host,
    /// The packet.
    pub packet: Packet<C>,
}

impl<C> Default for Arrivals<C> {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
        }
    }
}

impl<C> Iterator for Arrivals<C> {
    type Item = Arrival<C>;

    /// The next packet that left the network.
    fn next(&mut self) -> Option<Arrival<C>> {
        self.waiting.pop_front()
    }
}

impl<C: Copy + Default> Hosts<C, Infallible> for Arrivals<C> {
    fn arrived(&mut self, network: &mut Network<C, Infallible>, host: Host, packet: &Packet<C>) {
        self.waiting.push_back(Arrival {
            time: network.now(),
            host,
            packet: *packet,
        });
    }

    fn woken(&mut self, _network: &mut Network<C, Infallible>, alarm: Infallible) {
        match alarm {}
    }
}
