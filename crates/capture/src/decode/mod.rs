//! Decodes a captured frame down to its TCP segment, through every encapsulation.
//!
//! ```text
//!   link ─▶ VLAN, MPLS, PPPoE ─▶ IPv4 | IPv6 ─▶ TCP
//!    │ 802.11 ▲                      ▲  ├─▶ UDP: GTP-U, VXLAN, GENEVE, TZSP, CAPWAP, L2TP ─┐
//!    └────────┴──────────────────────┴──└─▶ IP, GRE, ERSPAN, EtherIP, L2TP ─────────────────┘
//! ```
//!
//! Frames may be cut by a snap length, and packets for a network card to segment may be far
//! longer than a packet: neither checksums nor the frame's end are relied upon.

mod ip;
mod link;
mod monitor;
mod radiotap;
#[cfg(test)]
mod tests;
mod tunnel;
mod udp;
mod wlan;

use std::cell::Cell;

use airtcp_packet::Segment;
pub use radiotap::Radiotap;

use crate::read::Record;

/// One end of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// The address as IPv6; IPv4 as mapped by RFC 4291 §2.5.5.2.
    pub address: u128,
    /// The port.
    pub port: u16,
}

impl Endpoint {
    /// The address in its address family.
    #[must_use]
    pub fn ip(&self) -> std::net::IpAddr {
        std::net::Ipv6Addr::from_bits(self.address).to_canonical()
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::net::SocketAddr::new(self.ip(), self.port).fmt(f)
    }
}

/// Annotations of a radio monitor on a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Radio {
    /// The frame's retry bit (IEEE 802.11 §9.2.4.1.5).
    pub is_retry: bool,
    /// The bit rate in units of 100 kbit/s; zero if absent.
    pub rate_100kbps: u16,
}

/// Encapsulation of the packet other than an ordinary link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carrier {
    /// It was in a GTP-U tunnel (3GPP TS 29.281).
    pub gtp: bool,
    /// It was in a VXLAN tunnel (RFC 7348).
    pub vxlan: bool,
    /// It was an IP packet in another.
    pub ip_in_ip: bool,
    /// It was in GRE, GENEVE, TZSP, CAPWAP, L2TP or `EtherIP`.
    pub tunnel: bool,
}

/// A TCP segment out of a capture.
#[derive(Clone, Copy, Debug)]
pub struct Tcp {
    /// The sending end.
    pub source: Endpoint,
    /// The receiving end.
    pub destination: Endpoint,
    /// The segment; its payload length is from the IP header, or from the frame if that lacks it.
    pub segment: Segment,
    /// Whether the capture's snap length cut off part of its options.
    pub are_options_cut: bool,
    /// The IPv4 identification.
    pub identification: Option<u16>,
    /// Time to live, or hop limit.
    pub hops: u8,
    /// Annotations of the radio monitor.
    pub radio: Radio,
    /// Its encapsulation.
    pub carrier: Carrier,
}

/// Content of a frame that is not an analysable TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Other {
    /// QUIC (RFC 9000).
    Quic,
    /// IPsec: ESP, AH with something unknown in it, or its key exchange.
    Ipsec,
    /// WireGuard.
    WireGuard,
    /// Encrypted payload of UDP: DTLS of a CAPWAP data channel.
    Encrypted,
    /// A tunnel with content of an unknown kind.
    Tunnel,
    /// UDP of another kind.
    Udp,
    /// ICMP or ICMPv6.
    Icmp,
    /// Another protocol over IP.
    Ip,
    /// A fragment of an IP packet.
    Fragment,
    /// Not IP, such as ARP.
    NotIp,
    /// An 802.11 data frame with encrypted content.
    EncryptedRadio,
    /// An 802.11 frame with several packets in it (A-MSDU).
    Aggregate,
    /// An 802.11 frame without data.
    RadioControl,
    /// An unknown link type.
    UnknownLink,
    /// The frame was cut before the end of the headers.
    Cut,
    /// Headers that contradict themselves.
    Malformed,
}

impl Other {
    /// Number of kinds.
    pub const COUNT: usize = 16;
    /// All kinds, indexed by their numbers.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Quic,
        Self::Ipsec,
        Self::WireGuard,
        Self::Encrypted,
        Self::Tunnel,
        Self::Udp,
        Self::Icmp,
        Self::Ip,
        Self::Fragment,
        Self::NotIp,
        Self::EncryptedRadio,
        Self::Aggregate,
        Self::RadioControl,
        Self::UnknownLink,
        Self::Cut,
        Self::Malformed,
    ];

    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quic => "QUIC",
            Self::Ipsec => "IPsec",
            Self::WireGuard => "WireGuard",
            Self::Encrypted => "encrypted CAPWAP",
            Self::Tunnel => "unknown content of a tunnel",
            Self::Udp => "UDP",
            Self::Icmp => "ICMP",
            Self::Ip => "other IP",
            Self::Fragment => "IP fragments",
            Self::NotIp => "not IP",
            Self::EncryptedRadio => "encrypted 802.11",
            Self::Aggregate => "802.11 A-MSDU",
            Self::RadioControl => "802.11 without data",
            Self::UnknownLink => "unknown link type",
            Self::Cut => "cut before the end of the headers",
            Self::Malformed => "malformed",
        }
    }
}

/// A UDP datagram that holds QUIC.
#[derive(Clone, Copy, Debug)]
pub struct Datagram {
    /// The sending end.
    pub source: Endpoint,
    /// The receiving end.
    pub destination: Endpoint,
    /// Bytes of its payload on the wire.
    pub wire_bytes: u32,
    /// Offset of its payload in the record's bytes.
    pub from: usize,
}

/// Maximum depth of tunnels within tunnels.
const MAX_LAYERS: u32 = 8;

/// A frame during decoding, from outside to inside.
#[derive(Clone, Copy)]
struct Frame<'a> {
    /// The remaining bytes.
    bytes: &'a [u8],
    /// Bytes on the wire.
    wire_bytes: u32,
    /// Number of layers removed.
    layers: u32,
    radio: Radio,
    carrier: Carrier,
    /// Output for a QUIC datagram, if requested.
    quic: Option<&'a Cell<Option<Datagram>>>,
    /// Output for the content of an A-MSDU.
    aggregate: Option<&'a Cell<Option<wlan::Aggregated>>>,
}

impl<'a> Frame<'a> {
    /// The frame without its first `bytes`.
    #[inline]
    fn skip(self, bytes: usize) -> Result<Self, Other> {
        Ok(Self {
            bytes: self.bytes.get(bytes..).ok_or(Other::Cut)?,
            wire_bytes: self.wire_bytes.saturating_sub(bytes as u32),
            ..self
        })
    }

    /// The frame one layer further inside.
    #[inline]
    fn inner(self) -> Result<Self, Other> {
        if self.layers >= MAX_LAYERS {
            return Err(Other::Malformed);
        }
        Ok(Self {
            layers: self.layers + 1,
            ..self
        })
    }

    #[inline]
    fn byte(&self, at: usize) -> Result<u8, Other> {
        self.bytes.get(at).copied().ok_or(Other::Cut)
    }

    #[inline]
    fn u16(&self, at: usize) -> Result<u16, Other> {
        self.bytes
            .get(at..)
            .and_then(<[u8]>::first_chunk)
            .map(|chunk| u16::from_be_bytes(*chunk))
            .ok_or(Other::Cut)
    }

    #[inline]
    fn array<const BYTES: usize>(&self, at: usize) -> Result<&'a [u8; BYTES], Other> {
        self.bytes
            .get(at..)
            .and_then(<[u8]>::first_chunk)
            .ok_or(Other::Cut)
    }
}

/// The TCP segment in a record.
///
/// # Errors
/// Content of the record instead.
#[inline]
pub fn decode(record: &Record<'_>) -> Result<Tcp, Other> {
    link::decode(record.link, outermost(record, None, None))
}

/// The payload type of a tunnel, a monitor's header or 802.11.
#[derive(Clone, Copy)]
enum Carried {
    /// A frame of a link type.
    Link(u16),
    Ethernet,
    /// The payload of an EtherType.
    EtherType(u16),
    /// An 802.2 header.
    Llc,
    Ppp,
    Ip,
}

/// Decodes a payload: from an inner protocol back to one that can also be outermost.
#[inline]
fn decode_carried(carried: Carried, frame: Frame<'_>) -> Result<Tcp, Other> {
    match carried {
        Carried::Link(link) => link::decode(link, frame),
        Carried::Ethernet => link::ethernet(frame),
        Carried::EtherType(kind) => link::ether_type(kind, frame),
        Carried::Llc => link::llc(frame),
        Carried::Ppp => link::ppp(frame),
        Carried::Ip => ip::decode(frame),
    }
}

/// The QUIC datagram in a record, if there is one.
#[must_use]
pub fn quic_of(record: &Record<'_>) -> Option<Datagram> {
    let found = Cell::new(None);
    // The record's classification is not needed here.
    let _ = link::decode(record.link, outermost(record, Some(&found), None));
    let left = found.get()?;
    // Every layer is the rest of the outer one: all end with the record.
    let from = record.bytes.len().checked_sub(left.from)?;
    Some(Datagram { from, ..left })
}

/// The TCP segments and other packets in a record that [`decode`] classifies as an A-MSDU
/// ([`Other::Aggregate`]); nothing for other records.
pub fn decode_aggregate(record: &Record<'_>, each: &mut dyn FnMut(Result<Tcp, Other>, u32)) {
    let found = Cell::new(None);
    let _ = link::decode(record.link, outermost(record, None, Some(&found)));
    if let Some(content) = found.get() {
        wlan::each_msdu(outermost(record, None, None), content, each);
    }
}

#[inline]
fn outermost<'a>(
    record: &Record<'a>,
    quic: Option<&'a Cell<Option<Datagram>>>,
    aggregate: Option<&'a Cell<Option<wlan::Aggregated>>>,
) -> Frame<'a> {
    Frame {
        bytes: record.bytes,
        wire_bytes: record.wire_bytes,
        layers: 0,
        radio: Radio::default(),
        carrier: Carrier::default(),
        quic,
        aggregate,
    }
}
