//! A packet in a queue with a discipline that decides at the head.

use airtcp_units::Instant;

use super::transmission::Transmission;

/// A queued packet, and the time of its arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuedPacket<P> {
    /// The packet.
    pub packet: P,
    /// Its description for a discipline.
    pub transmission: Transmission,
    /// Whether the link will lose it: it is served nevertheless.
    pub is_lost: bool,
    /// Time of its arrival.
    pub since: Instant,
}
