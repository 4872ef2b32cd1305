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
    /// Media at a rate that follows feedback.
    Scream(Scream),
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

/// Bytes of the header of RTP (RFC 3550 §5.1).
const RTP_HEADER_BYTES: u32 = 12;

/// Real-time media with SCReAM (RFC 8298).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scream {
    /// Rate of the encoder at the start.
    pub start: BitRate,
    /// Its least rate.
    pub least: BitRate,
    /// Its largest rate.
    pub most: BitRate,
    /// Time from one frame to the next.
    pub frame: Duration,
    /// The largest payload of a packet, in bytes.
    pub size: u32,
}

impl Datagrams {
    /// Size of one with `payload` bytes as an IP packet.
    #[must_use]
    pub const fn packet_bytes(&self, payload: u32) -> u32 {
        let headers = match self {
            Self::Udp(_) | Self::Ping(_) => HEADER_BYTES,
            Self::Scream(_) => HEADER_BYTES + RTP_HEADER_BYTES,
        };
        headers.saturating_add(payload)
    }
}
