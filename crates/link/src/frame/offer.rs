//! A packet as a medium sees it when it is handed over.

use airtcp_units::{Duration, Instant};

/// Facts about a packet that a medium needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Size of the IP packet, headers included; the medium adds its overhead.
    pub bytes: u32,
    /// Its flow; flows are numbered from zero without gaps.
    pub flow: u32,
    /// Its content: error models may spare one or the other.
    pub class: PacketClass,
    /// Its urgency, if an access point knows it.
    pub urgency: Option<Urgency>,
}

/// The content of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketClass {
    /// Data of a connection, its SYN and its FIN.
    Data,
    /// Pure acknowledgments.
    Acknowledgment,
}

/// An access point's estimate of the retransmission timer of a packet's sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Urgency {
    /// Expiry of the timer.
    pub expires: Instant,
    /// The length of the timer.
    pub timeout: Duration,
    /// The round-trip time of the connection.
    pub round_trip: Duration,
    /// Segments that the sender has in flight: its congestion window, as far as it uses it.
    pub in_flight: u32,
}
