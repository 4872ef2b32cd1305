//! The connection under test, between the script's numbers and the wire's: as in packetdrill, ports
//! are left to the runner, sequence numbers count from the initial ones, and timestamps are mapped.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use airtcp_endpoint::FourTuple;
use airtcp_packet::wire::{
    Addresses, Checksums, WireError, emit, emit_ipv6, parse_ipv6_with, parse_with,
};
use airtcp_packet::{Flags, SackBlock, Segment, SequenceNumber, TailOptions, Timestamps};

/// The port that sockets are bound and connected to, and the peer's first one.
const PORT: u16 = 8080;
const FIRST_REMOTE_PORT: u16 = 32_768;

/// The two hosts, and the connection between them to which the script's packets belong.
#[derive(Debug)]
pub(super) struct Path {
    local: IpAddr,
    remote: IpAddr,
    next_port: u16,
    pub flow: Option<Flow>,
}

/// One connection's ends and numbers.
#[derive(Debug)]
pub(super) struct Flow {
    pub ends: FourTuple,
    /// Our initial sequence number, once a SYN has left.
    ours: Option<u32>,
    /// The peer's: origin of the script's numbers, except in a SYN.
    pub theirs: u32,
    /// Whether its handshake was complete at any time.
    pub is_open: bool,
    /// Mapping from the script's timestamps to the connection's.
    stamps: BTreeMap<u32, u32>,
}

impl Path {
    pub const fn new(local: IpAddr, remote: IpAddr) -> Self {
        Self {
            local,
            remote,
            next_port: FIRST_REMOTE_PORT,
            flow: None,
        }
    }

    /// The address of bind.
    pub const fn bound(&self) -> SocketAddr {
        SocketAddr::new(self.local, PORT)
    }

    /// The address of connect.
    pub const fn server(&self) -> SocketAddr {
        SocketAddr::new(self.remote, PORT)
    }

    /// The connection under test; without one, a new one from the peer.
    pub fn arrival(&mut self) -> &mut Flow {
        let local = self.bound();
        self.flow.get_or_insert_with(|| {
            let remote = SocketAddr::new(self.remote, self.next_port);
            self.next_port = self.next_port.checked_add(1).unwrap_or(FIRST_REMOTE_PORT);
            Flow::new(FourTuple { local, remote })
        })
    }
}

impl Flow {
    pub const fn new(ends: FourTuple) -> Self {
        Self {
            ends,
            ours: None,
            theirs: 0,
            is_open: false,
            stamps: BTreeMap::new(),
        }
    }

    /// The bytes of a segment from the peer: its acknowledgment, SACK blocks and echo count as in
    /// the script.
    pub fn arriving(&self, segment: &Segment) -> Result<Vec<u8>, WireError> {
        let ours = self.ours.unwrap_or(0);
        let mut segment = *segment;
        if segment.flags.contains(Flags::ACK) {
            segment.acknowledgment = SequenceNumber(segment.acknowledgment.0.wrapping_add(ours));
        }
        // A SYN may have the option of Fast Open instead.
        if !segment.tail.blocks().is_empty() {
            let mut tail = TailOptions::default();
            for block in segment.tail.blocks() {
                tail.push(SackBlock {
                    start: SequenceNumber(block.start.0.wrapping_add(ours)),
                    end: SequenceNumber(block.end.0.wrapping_add(ours)),
                });
            }
            segment.tail = tail;
        }
        segment.timestamps = segment.timestamps.map(|stamps| Timestamps {
            echo: self.our_stamp(stamps.echo),
            ..stamps
        });
        let mut bytes = Vec::new();
        match (self.ends.remote, self.ends.local) {
            (SocketAddr::V4(source), SocketAddr::V4(destination)) => {
                let ends = Addresses {
                    source,
                    destination,
                };
                emit(&segment, &ends, 0, &[], &mut bytes)?;
            }
            (SocketAddr::V6(source), SocketAddr::V6(destination)) => {
                let ends = Addresses {
                    source,
                    destination,
                };
                emit_ipv6(&segment, &ends, 0, &[], &mut bytes)?;
            }
            _ => return Err(WireError::Version),
        }
        Ok(bytes)
    }

    /// The segment in a packet of this connection that leaves: sequence numbers count from ours.
    pub fn leaving(&mut self, packet: &[u8]) -> Option<Segment> {
        let (ends, mut segment) = parsed(packet)?;
        if ends != self.ends {
            return None;
        }
        if segment.flags.contains(Flags::SYN) && self.ours.is_none() {
            self.ours = Some(segment.sequence.0);
        }
        let ours = self.ours.unwrap_or(0);
        segment.sequence = SequenceNumber(segment.sequence.0.wrapping_sub(ours));
        Some(segment)
    }

    /// Maps a timestamp of the script to that of a segment that left.
    pub fn map_stamp(&mut self, script: u32, ours: u32) {
        self.stamps.insert(script, ours);
    }

    /// The connection's timestamp for the one that the script echoes.
    fn our_stamp(&self, echo: u32) -> u32 {
        if echo == 0 {
            return 0;
        }
        // At the same distance from the nearest known lower one as in the script.
        match self.stamps.range(..=echo).next_back() {
            Some((&known, &ours)) => ours.wrapping_add(echo - known),
            None => echo,
        }
    }
}

/// The ends of a packet that leaves, and its segment.
fn parsed(packet: &[u8]) -> Option<(FourTuple, Segment)> {
    if packet.first()? >> 4 == 6 {
        let parsed = parse_ipv6_with(packet, Checksums::Trusted).ok()?;
        let ends = FourTuple {
            local: parsed.addresses.source.into(),
            remote: parsed.addresses.destination.into(),
        };
        return Some((ends, parsed.segment));
    }
    let parsed = parse_with(packet, Checksums::Trusted).ok()?;
    let ends = FourTuple {
        local: parsed.addresses.source.into(),
        remote: parsed.addresses.destination.into(),
    };
    Some((ends, parsed.segment))
}
