//! Queues for the link: their limits, and the choice of the packet that is served, dropped or
//! marked.

pub mod abc;
pub mod cake;
pub mod codel;
pub mod drop_tail;
pub mod dual_pi2;
mod fifo;
pub mod fq_codel;
pub(crate) mod managed;
pub mod pie;
#[cfg(test)]
mod tests;

use airtcp_packet::{Ecn, Segment};

use crate::frame::PendingPacket;
pub use abc::AbcConfig;
pub use cake::{AckFilter, AutorateConfig, CakeConfig, CodePoints, Tins};
pub use codel::CoDelConfig;
pub use dual_pi2::DualPi2Config;
pub use fq_codel::FqCoDelConfig;
pub use pie::PieConfig;

/// The limit of a queue. The packet in service has left the queue, as in ns-2, ns-3 and mahimahi.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// Unlimited.
    Unlimited,
    /// Maximum number of packets.
    Packets(u32),
    /// Maximum number of bytes.
    Bytes(u64),
    /// Maximum number of packets, and of bytes.
    Both {
        /// Packets.
        packets: u32,
        /// Bytes.
        bytes: u64,
    },
}

impl QueueLimit {
    /// Whether a packet of `more` bytes may join `packets` packets of `bytes` bytes in all.
    #[inline]
    #[must_use]
    pub const fn has_room(self, packets: usize, bytes: u64, more: u32) -> bool {
        match self {
            Self::Unlimited => true,
            Self::Packets(limit) => packets < limit as usize,
            Self::Bytes(limit) => bytes.saturating_add(more as u64) <= limit,
            Self::Both {
                packets: most,
                bytes: limit,
            } => packets < most as usize && bytes.saturating_add(more as u64) <= limit,
        }
    }

    /// Whether the limit admits that many packets of that many bytes in all.
    #[must_use]
    pub(crate) const fn holds(self, packets: usize, bytes: u64) -> bool {
        match self {
            Self::Unlimited => true,
            Self::Packets(limit) => packets <= limit as usize,
            Self::Bytes(limit) => bytes <= limit,
            Self::Both {
                packets: most,
                bytes: limit,
            } => packets <= most as usize && bytes <= limit,
        }
    }
}

/// The choice of the packet to serve, and of packets dropped or marked although there is room.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Discipline {
    /// The oldest is served; packets without room are dropped.
    #[default]
    DropTail,
    /// The oldest is served, unless packets wait for too long (RFC 8289).
    CoDel(CoDelConfig),
    /// A queue for each flow, served round robin, with CoDel in each (RFC 8290).
    FqCoDel(FqCoDelConfig),
    /// Arriving packets are dropped with a probability that follows the delay (RFC 8033).
    Pie(PieConfig),
    /// A queue for senders that react to each mark, one for the others, coupled (RFC 9332).
    DualPi2(DualPi2Config),
    /// Queues for flows, fair to hosts, in tins by code point; with a rate, a shaper in front.
    Cake(CakeConfig),
    /// The oldest is served, and tells its sender to send more or less (ABC, NSDI 2020).
    Abc(AbcConfig),
}

impl Discipline {
    /// Its configuration as a shaper in front of the link's queue; `None` if it is that queue.
    #[must_use]
    pub const fn shaper(&self) -> Option<&CakeConfig> {
        match self {
            Self::Cake(config) if config.rate.is_some() || config.autorate.is_some() => {
                Some(config)
            }
            _ => None,
        }
    }

    /// Whether it draws: for the hash of its flows, or for each packet.
    #[must_use]
    pub const fn draws(&self) -> bool {
        matches!(
            self,
            Self::FqCoDel(_) | Self::Pie(_) | Self::DualPi2(_) | Self::Cake(_)
        )
    }
}

/// The part of a packet that a queue may read and write.
pub trait EcnField {
    /// The TCP segment, if it is one, for disciplines that drop acknowledgments by their content.
    fn segment(&self) -> Option<&Segment> {
        None
    }

    /// The ECN field of its IP header.
    fn ecn(&self) -> Ecn {
        Ecn::NotCapable
    }

    /// Sets the field to "congestion experienced". Called only where [`Self::ecn`] is capable.
    fn mark(&mut self) {}

    /// Sets the field to ABC's "brake", ECT(0). Called only where it is "accelerate", ECT(1).
    fn brake(&mut self) {}
}

/// Numbers represent packets of endpoints without ECN.
macro_rules! without_field {
    ($($Number:ty),*) => { $(impl EcnField for $Number {})* };
}
without_field!((), u32, u64, usize);
impl<const WORDS: usize> EcnField for [u64; WORDS] {}

impl EcnField for Segment {
    fn segment(&self) -> Option<&Segment> {
        Some(self)
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn mark(&mut self) {
        self.ecn = Ecn::CongestionExperienced;
    }

    fn brake(&mut self) {
        self.ecn = Ecn::Capable0;
    }
}

/// A packet in a station's queue has the field of the packet itself.
impl<P: EcnField> EcnField for PendingPacket<P> {
    fn segment(&self) -> Option<&Segment> {
        self.packet.segment()
    }

    fn ecn(&self) -> Ecn {
        self.packet.ecn()
    }

    fn mark(&mut self) {
        self.packet.mark();
    }

    fn brake(&mut self) {
        self.packet.brake();
    }
}
