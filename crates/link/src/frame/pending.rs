//! A packet in a station's queue, and its progress.

use super::offer::Offer;

/// A packet and its progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingPacket<P> {
    /// The packet.
    pub packet: P,
    /// The station it is addressed to.
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

impl<P> PendingPacket<P> {
    /// A packet for station `to` that was never sent.
    #[inline]
    #[must_use]
    pub const fn new(packet: P, to: u32, offer: Offer) -> Self {
        Self {
            packet,
            to,
            offer,
            failures: 0,
            fragment_failures: 0,
            fragments_done: 0,
            arrived: false,
        }
    }

    /// An attempt to send the next fragment failed.
    #[inline]
    pub const fn fail(&mut self) {
        self.failures += 1;
        self.fragment_failures += 1;
    }

    /// The next fragment was acknowledged.
    #[inline]
    pub const fn finish_fragment(&mut self) {
        self.fragments_done += 1;
        self.fragment_failures = 0;
    }
}
