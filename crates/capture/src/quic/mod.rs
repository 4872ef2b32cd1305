//! QUIC in a capture: the readable parts of its headers without keys (RFC 9000 §17, RFC 8999).
//!
//! A datagram is a row: flow, direction, length, kind of its first packet, and the spin bit. Packet
//! numbers, acknowledgments and all frames are encrypted, so that no capture shows lost packets.

use std::collections::HashMap;
use std::path::Path;

use crate::decode::{Datagram, Endpoint, quic_of};
use crate::packet::Way;
use crate::read::{ReadError, Reader};

/// Maximum number of stored datagrams over all flows: 2^22 take 100 MiB.
const MAX_DATAGRAMS: usize = 1 << 22;
/// Maximum number of distinct flows.
const MAX_FLOWS: usize = 1 << 14;

/// The kind of a datagram's first packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Version negotiation (RFC 9000 §17.2.1).
    Negotiation,
    /// The first of a connection (§17.2.2).
    Initial,
    /// Data before the handshake is complete (§17.2.3).
    ZeroRtt,
    /// The handshake (§17.2.4).
    Handshake,
    /// The server requests proof of the address (§17.2.5).
    Retry,
    /// A long header of an unknown version: RFC 8999 does not define its type.
    UnknownVersion,
    /// A short header: 1-RTT (§17.3.1).
    OneRtt,
}

impl Kind {
    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Negotiation => "version-negotiation",
            Self::Initial => "initial",
            Self::ZeroRtt => "0-rtt",
            Self::Handshake => "handshake",
            Self::Retry => "retry",
            Self::UnknownVersion => "unknown-version",
            Self::OneRtt => "1-rtt",
        }
    }
}

/// The readable part of a header without keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The kind of packet.
    pub kind: Kind,
    /// The version, for long headers.
    pub version: Option<u32>,
    /// The latency spin bit, for short headers (RFC 9000 §17.4).
    pub spin: Option<bool>,
    /// Lengths of the destination's and the source's connection ID, for long headers: a short one
    /// does not contain it (§17.3.1).
    pub id_bytes: Option<[u8; 2]>,
}

impl Header {
    /// Parses the header at the start of `bytes`; `None` without one.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        const LONG: u8 = 0x80;
        const FIXED: u8 = 0x40;
        const SPIN: u8 = 0x20;
        const VERSION_1: u32 = 1;
        /// RFC 9369 §3.1.
        const VERSION_2: u32 = 0x6b33_43cf;
        let first = *bytes.first()?;
        if first & LONG == 0 {
            return (first & FIXED != 0).then_some(Self {
                kind: Kind::OneRtt,
                version: None,
                spin: Some(first & SPIN != 0),
                id_bytes: None,
            });
        }
        let version = u32::from_be_bytes(*bytes.get(1..)?.first_chunk()?);
        let destination = *bytes.get(5)?;
        let source = bytes.get(6 + usize::from(destination)).copied();
        let kind = match (version, first >> 4 & 3) {
            (0, _) => Kind::Negotiation,
            // RFC 9369 §3.2 rotates the types by one.
            (VERSION_1, 0) | (VERSION_2, 1) => Kind::Initial,
            (VERSION_1, 1) | (VERSION_2, 2) => Kind::ZeroRtt,
            (VERSION_1, 2) | (VERSION_2, 3) => Kind::Handshake,
            (VERSION_1, _) | (VERSION_2, _) => Kind::Retry,
            _ => Kind::UnknownVersion,
        };
        Some(Self {
            kind,
            version: Some(version),
            spin: None,
            id_bytes: source.map(|source| [destination, source]),
        })
    }
}

/// A datagram.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Nanoseconds since the capture's first packet.
    pub nanos: u64,
    /// Index of the flow in [`Quic::flows`].
    pub flow: u32,
    /// Its direction.
    pub way: Way,
    /// Bytes of the UDP payload.
    pub bytes: u32,
    /// The header of its first packet.
    pub header: Header,
}

/// A connection, identified by its ends: a client that changes its address starts another.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// The end that opened it, or the one with the higher port if the capture began later.
    pub client: Endpoint,
    /// The other end.
    pub server: Endpoint,
    /// Whether the capture holds its first packet.
    pub has_begun: bool,
}

/// The QUIC of a capture.
#[derive(Clone, Debug, Default)]
pub struct Quic {
    /// Its flows, in the order of their first packets.
    pub flows: Vec<Flow>,
    /// One row per datagram, in the order of the file.
    pub rows: Vec<Row>,
    /// Whether there were more than `MAX_DATAGRAMS`.
    pub is_cut: bool,
}

impl Quic {
    /// Reads the QUIC of a capture.
    ///
    /// # Errors
    /// There is no capture to read. A file damaged further on yields the part before the damage.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let mut found = Self::default();
        let mut places: HashMap<(Endpoint, Endpoint), u32> = HashMap::new();
        let mut start = None;
        Reader::open(path)?.for_each(|record| {
            let Some(nanos) = record.time else { return };
            let nanos = nanos.saturating_sub(*start.get_or_insert(nanos));
            let Some(datagram) = quic_of(record) else {
                return;
            };
            let payload = record.bytes.get(datagram.from..).unwrap_or_default();
            if let Some(header) = Header::of(payload) {
                found.take(&mut places, nanos, &datagram, header);
            }
        })?;
        Ok(found)
    }

    fn take(
        &mut self,
        places: &mut HashMap<(Endpoint, Endpoint), u32>,
        nanos: u64,
        datagram: &Datagram,
        header: Header,
    ) {
        let ends = [datagram.source, datagram.destination];
        let key = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        if self.rows.len() >= MAX_DATAGRAMS
            || (places.len() >= MAX_FLOWS && !places.contains_key(&key))
        {
            self.is_cut = true;
            return;
        }
        let flows = &mut self.flows;
        let place = *places.entry(key).or_insert_with(|| {
            let is_opening = matches!(header.kind, Kind::Initial | Kind::ZeroRtt);
            let is_from_client = is_opening || datagram.source.port > datagram.destination.port;
            let [client, server] = if is_from_client {
                ends
            } else {
                [ends[1], ends[0]]
            };
            flows.push(Flow {
                client,
                server,
                has_begun: header.kind == Kind::Initial,
            });
            (flows.len() - 1) as u32
        });
        let is_from_client = flows[place as usize].client == datagram.source;
        self.rows.push(Row {
            nanos,
            flow: place,
            way: if is_from_client {
                Way::FromClient
            } else {
                Way::FromServer
            },
            bytes: datagram.wire_bytes,
            header,
        });
    }
}

#[cfg(test)]
mod tests;
