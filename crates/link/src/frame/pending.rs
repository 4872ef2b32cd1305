//! A packet in a station's queue, and how far it is.

use airtcp_packet::{Ecn, Segment};

use super::offer::Offer;
use crate::queue::EcnField;

/// A packet and how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingPacket<P> {
    /// The packet.
    pub packet: P,
    /// The station it is meant for.
    pub to: u32,
    /// Its description.
    pub offer: Offer,
    /// Failed attempts, of all its fragments.
    pub failures: u32,
    /// Failed attempts of the next fragment.
    pub fragment_failures: u32,
    /// Fragments that were acknowledged.
    pub fragments_done: u32,
    /// Whether it has arrived whole: if it is retransmitted, only an acknowledgment was lost.
    pub arrived: bool,
}

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
}
