//! Arrivals and losses in the network since the driver's last check.

use std::collections::VecDeque;
use std::convert::Infallible;

use airtcp_host::packet_store::Ticket;
use airtcp_link::Admission;
use airtcp_network::{Arrival, Host, Hosts, Network, Packet};
use airtcp_units::Instant;

/// The fate of a packet on its path.
#[derive(Clone, Copy, Debug)]
pub enum Outcome {
    /// It crossed a medium, or was given up there, after this many attempts.
    Attempted(Ticket, u32),
    /// A queue refused it or dropped it, at this time.
    Dropped(Ticket, Instant),
    /// The link lost it, at this time.
    Lost(Ticket, Instant),
}

/// The link's hosts from its network's view: they collect outcomes.
#[derive(Debug, Default)]
pub struct Outcomes {
    arrivals: VecDeque<Arrival<Ticket>>,
    /// In chronological order; empty unless `is_detailed`.
    outcomes: VecDeque<Outcome>,
    is_detailed: bool,
    /// Packets acknowledged on a medium, with their attempts; empty unless `hears_links`.
    acknowledged: VecDeque<(Packet<Ticket>, u32)>,
    hears_links: bool,
    lost: u64,
    dropped: u64,
}

impl Outcomes {
    /// Enables the collection of each packet's fate.
    #[must_use]
    pub fn detailed(self) -> Self {
        Self {
            is_detailed: true,
            ..self
        }
    }

    /// Enables the collection of media's reports on delivered packets.
    #[must_use]
    pub fn hearing_links(self) -> Self {
        Self {
            hears_links: true,
            ..self
        }
    }

    /// The next packet acknowledged on a medium, and its attempts.
    pub fn next_acknowledged(&mut self) -> Option<(Packet<Ticket>, u32)> {
        self.acknowledged.pop_front()
    }

    /// The next packet that arrived.
    pub fn next_arrival(&mut self) -> Option<Arrival<Ticket>> {
        self.arrivals.pop_front()
    }

    /// The next fate of a packet.
    pub fn next_outcome(&mut self) -> Option<Outcome> {
        self.outcomes.pop_front()
    }

    /// Packets that the link lost.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Packets that queues dropped.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    fn note(&mut self, outcome: Outcome) {
        if self.is_detailed {
            self.outcomes.push_back(outcome);
        }
    }
}

impl Hosts<Ticket, Infallible> for Outcomes {
    fn arrived(&mut self, network: &mut Network<Ticket>, host: Host, packet: &Packet<Ticket>) {
        self.arrivals.push_back(Arrival {
            time: network.now(),
            host,
            packet: *packet,
        });
    }

    fn woken(&mut self, _network: &mut Network<Ticket>, alarm: Infallible) {
        match alarm {}
    }

    fn lost(&mut self, network: &Network<Ticket>, packet: &Packet<Ticket>, why: Admission) {
        let (ticket, now) = (packet.carried, network.now());
        if why == Admission::Overflow {
            self.dropped += 1;
            self.note(Outcome::Dropped(ticket, now));
        } else {
            self.lost += 1;
            self.note(Outcome::Lost(ticket, now));
        }
    }

    fn acknowledged_by_link(&mut self, _now: Instant, packet: &Packet<Ticket>, attempts: u32) {
        if self.hears_links {
            self.acknowledged.push_back((*packet, attempts));
        }
    }

    fn crossed_air(&mut self, packet: &Packet<Ticket>, attempts: u32) {
        self.note(Outcome::Attempted(packet.carried, attempts));
    }
}
