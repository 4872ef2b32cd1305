//! A packet in a queue whose discipline decides at the head.

use airtcp_units::Instant;

use super::transmission::Transmission;

/// A packet that waits, and since when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuedPacket<P> {
    /// The packet.
    pub packet: P,
    /// Its description for a discipline.
    pub transmission: Transmission,
    /// Whether the link will lose it: it is served nevertheless.
    pub is_lost: bool,
    /// When it came.
    pub since: Instant,
}
