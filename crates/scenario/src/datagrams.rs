//! Flows that are not TCP: datagrams at a rate, and pings.

use airtcp_units::{BitRate, Duration};

/// Bytes of the headers of IPv4 and UDP, as many as of IPv4 and an ICMP echo (RFC 768, RFC 792).
pub const HEADER_BYTES: u32 = 28;

/// Traffic of a flow that is not TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Datagrams {
    /// Datagrams from the sending host to the other.
    Udp(Udp),
    /// Datagrams that the other host answers.
    Ping(Ping),
}

/// A stream of datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Udp {
    /// Payload bits a second while it sends; `None` sends whenever there is room.
    pub rate: Option<BitRate>,
    /// Bytes of payload of each.
    pub size: u32,
    /// Pauses; `None` sends all the time.
    pub bursts: Option<Bursts>,
}

/// Times of sending and of silence in turn, both of exponential distributions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bursts {
    /// Mean time of sending.
    pub on: Duration,
    /// Mean time of silence.
    pub off: Duration,
}

/// An echo request now and then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping {
    /// Time from one to the next.
    pub interval: Duration,
    /// Bytes of payload of each.
    pub size: u32,
}

impl Datagrams {
    /// Size of each as an IP packet.
    #[must_use]
    pub const fn packet_bytes(&self) -> u32 {
        HEADER_BYTES
            + match self {
                Self::Udp(udp) => udp.size,
                Self::Ping(ping) => ping.size,
            }
    }
}
