//! Where packets wait for the link: how much may wait, and which of them is served, dropped or
//! marked.

pub mod codel;
pub mod drop_tail;
pub mod fq_codel;
pub(crate) mod managed;
#[cfg(test)]
mod tests;

use airtcp_packet::{Ecn, Segment};

pub use codel::CoDelConfig;
pub use fq_codel::FqCoDelConfig;

/// How much may wait. What is being served has left the queue, as in ns-2, ns-3 and mahimahi.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// Everything may wait.
    Unlimited,
    /// At most this many packets wait.
    Packets(u32),
    /// At most this many bytes wait.
    Bytes(u64),
    /// At most this many packets wait, and at most this many bytes.
    Both {
        /// Packets.
        packets: u32,
        /// Bytes.
        bytes: u64,
    },
}

impl QueueLimit {
    /// Whether a packet of `more` bytes may wait beside `packets` packets of `bytes` bytes in all.
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

    /// Whether that many packets of that many bytes in all may wait.
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

/// Which waiting packet is served next, and which are dropped or marked though there is room.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Discipline {
    /// The oldest is served; what finds no room is dropped.
    #[default]
    DropTail,
    /// The oldest is served, unless packets wait for too long (RFC 8289).
    CoDel(CoDelConfig),
    /// A queue for each flow, served in turn, with CoDel in each (RFC 8290).
    FqCoDel(FqCoDelConfig),
}

/// The part of a packet that a queue may read and write.
pub trait EcnField {
    /// The ECN field of its IP header.
    fn ecn(&self) -> Ecn {
        Ecn::NotCapable
    }

    /// Sets the field to "congestion experienced". Called only where [`Self::ecn`] is capable.
    fn mark(&mut self) {}
}

/// Numbers stand for packets whose endpoints do not understand marks.
macro_rules! without_field {
    ($($Number:ty),*) => { $(impl EcnField for $Number {})* };
}
without_field!((), u32, u64, usize);
impl<const WORDS: usize> EcnField for [u64; WORDS] {}

impl EcnField for Segment {
    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn mark(&mut self) {
        self.ecn = Ecn::CongestionExperienced;
    }
}
