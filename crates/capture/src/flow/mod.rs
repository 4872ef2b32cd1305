//! Flows: assigns packets to connections, with a row for each.

mod copies;
mod half;
mod packet_pool;
mod table;
#[cfg(test)]
mod tests;
mod verdict;

use airtcp_units::{Duration, Instant};

pub use half::Half;
pub use packet_pool::Packets;
pub(crate) use packet_pool::{Chain, PacketPool};
pub(crate) use table::Table;
pub use verdict::Verdict;

use crate::decode::{Carrier, Endpoint};
use crate::packet::Way;

/// Completeness of a flow's stored packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// All of them.
    Whole,
    /// The first ones, up to a certain time: then the store was full.
    Beginning,
    /// None: larger flows needed the room.
    None,
}

/// A flow of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Its number in the capture, from 1, in the order of first packets.
    pub number: u32,
    /// The end that opened the connection: the sender of the SYN, otherwise the one with the higher
    /// port, since servers have low ports.
    pub client: Endpoint,
    /// The other end.
    pub server: Endpoint,
    /// Packets of each end, in the order client, server.
    pub halves: [Half; 2],
    /// Time of its first packet, since the first of the capture.
    pub first: Instant,
    /// Time of its last packet.
    pub last: Instant,
    /// Its encapsulation.
    pub carrier: Carrier,
    /// Duplicate packets in the capture: seen on several interfaces, or frames retransmitted by the
    /// radio. They are ignored.
    pub copies: u64,
    pub(crate) chain: Chain,
}

impl Flow {
    /// The direction with more payload: the analysed transfer.
    #[must_use]
    pub fn data_way(&self) -> Way {
        if self.halves[Way::FromServer.index()].bytes > self.halves[Way::FromClient.index()].bytes {
            Way::FromServer
        } else {
            Way::FromClient
        }
    }

    /// Packets of the data sender.
    #[must_use]
    pub fn data(&self) -> &Half {
        &self.halves[self.data_way().index()]
    }

    /// Packets of the data receiver.
    #[must_use]
    pub fn acks(&self) -> &Half {
        &self.halves[self.data_way().back().index()]
    }

    /// Payload of both directions, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.halves[0].bytes.saturating_add(self.halves[1].bytes)
    }

    /// From its first packet to its last.
    #[must_use]
    pub fn length(&self) -> Duration {
        self.last - self.first
    }

    /// Bits of the data's sequence space a second, over the whole length of the flow.
    #[must_use]
    pub fn goodput_bps(&self) -> f64 {
        let seconds = self.length().as_secs_f64();
        if seconds > 0.0 {
            self.data().span as f64 * 8.0 / seconds
        } else {
            0.0
        }
    }

    /// From the first SYN to the first SYN+ACK at the capture: the round trip from here to the
    /// server.
    #[must_use]
    pub fn handshake(&self) -> Option<Duration> {
        let [client, server] = self.halves;
        let (syn, answer) = (client.syn?, server.syn?);
        (answer >= syn).then(|| answer - syn)
    }

    /// The stored part of its packets.
    #[must_use]
    pub fn completeness(&self) -> Completeness {
        match self.chain.state() {
            packet_pool::State::Whole => Completeness::Whole,
            packet_pool::State::Cut => Completeness::Beginning,
            packet_pool::State::Released => Completeness::None,
        }
    }

    /// The one-line verdict from the counts.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        Verdict::of(self)
    }
}

/// Totals of unlisted flows, if there are too many to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unlisted {
    /// Their number.
    pub flows: u64,
    /// Their packets.
    pub packets: u64,
    /// Their payload in bytes.
    pub bytes: u64,
}
