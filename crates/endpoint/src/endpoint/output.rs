//! Outgoing packets.

use alloc::vec::Vec;
use core::net::SocketAddr;

use airtcp_packet::Segment;
use airtcp_packet::wire::{Addresses, TcpChecksum, emit_headers, emit_headers_ipv6};
use airtcp_units::Instant;

use super::Endpoint;
use crate::ids::ConnectionId;
use crate::tuple::FourTuple;

/// A polled packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// To be reported when it has left; `None` if it carries no data, or belongs to no connection.
    pub departure: Option<Departure>,
    /// If present, the device must segment the payload into pieces of this size, each with the same
    /// header; the TCP checksum field holds the pseudo-header's sum. `None`: the packet is
    /// complete.
    pub cut: Option<Cut>,
}

/// The segmentation of a packet (virtio 1.2 §5.1.6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Payload of each piece except the last.
    pub payload_bytes: u16,
    /// Offset of the TCP header.
    pub tcp_at: u16,
    /// Offset of the payload.
    pub payload_at: u16,
    /// Whether it is IPv6.
    pub is_ipv6: bool,
}

/// A segment passed to the driver, to be reported when it has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    id: ConnectionId,
    offset: u64,
    polled_at: Instant,
}

impl Endpoint {
    /// Writes the next packet to send at `now` into `packet`, replacing its contents; `None` if no
    /// packet is due.
    pub fn poll_transmit(&mut self, now: Instant, packet: &mut Vec<u8>) -> Option<Transmit> {
        let (transmit, payload) = self.poll_pieces(now, packet)?;
        for piece in payload {
            packet.extend(piece);
        }
        Some(transmit)
    }

    /// As [`poll_transmit`](Self::poll_transmit), with only the headers in `headers`: the payload
    /// is passed in place, in two pieces, for devices with gather output.
    pub fn poll_pieces(
        &mut self,
        now: Instant,
        headers: &mut Vec<u8>,
    ) -> Option<(Transmit, [&[u8]; 2])> {
        headers.clear();
        while let Some((tuple, answer)) = self.answers.pop_front() {
            if write(&tuple, &answer, 0, [&[], &[]], TcpChecksum::Whole, headers) {
                self.counters.packets_sent += 1;
                let transmit = Transmit {
                    departure: None,
                    cut: None,
                };
                return Some((transmit, [&[], &[]]));
            }
        }
        while let Some(&id) = self.ready.front() {
            if let Some((transmit, segment)) = self.poll_connection(now, id, headers) {
                self.counters.packets_sent += 1;
                let entry = self.connections.get(id)?;
                return Some((transmit, entry.stream.payload(&segment)));
            }
            self.ready.pop_front();
            if let Some(entry) = self.connections.get_mut(id) {
                entry.is_queued = false;
            }
            // Departed data makes room for more.
            self.tell(id);
            self.retire(now, id);
        }
        None
    }

    fn poll_connection(
        &mut self,
        now: Instant,
        id: ConnectionId,
        headers: &mut Vec<u8>,
    ) -> Option<(Transmit, Segment)> {
        let most = u32::from(self.settings.largest_burst);
        let entry = self.connections.get_mut(id)?;
        let (mut segment, part) =
            entry
                .stream
                .poll_burst(now, most, self.settings.bursts_are_trains)?;
        let has_data = segment.payload_bytes > 0;
        let departure = has_data.then(|| Departure {
            id,
            offset: entry.stream.connection().payload_of(&segment).start,
            polled_at: now,
        });
        let payload = entry.stream.payload(&segment);
        debug_assert_eq!(
            payload[0].len() + payload[1].len(),
            segment.payload_bytes as usize,
            "what is sent is held"
        );
        if let Some(stamps) = &mut segment.timestamps {
            stamps.value = stamps.value.wrapping_add(entry.timestamp_offset);
        }
        let is_cut = segment.payload_bytes > part;
        let checksum = if is_cut {
            TcpChecksum::PseudoHeader
        } else {
            TcpChecksum::Whole
        };
        entry.identification = entry.identification.wrapping_add(1);
        let written = write(
            &entry.tuple,
            &segment,
            entry.identification,
            payload,
            checksum,
            headers,
        );
        debug_assert!(written, "segments fit the MTU");
        let is_ipv6 = entry.tuple.local.is_ipv6();
        let transmit = Transmit {
            departure,
            cut: is_cut.then(|| cut(&segment, part, is_ipv6)).flatten(),
        };
        Some((transmit, segment))
    }

    /// Reports that the packet with that departure left the device at `now`: its timer and its
    /// round trip start then rather than when it was polled. For radios that queue for long before
    /// they send.
    pub fn on_transmitted(&mut self, now: Instant, departure: Departure) {
        let Departure {
            id,
            offset,
            polled_at,
        } = departure;
        if let Some(entry) = self.connections.get_mut(id) {
            entry.stream.on_transmitted(now, offset, polled_at);
            self.arm(id);
        }
    }
}

fn cut(segment: &Segment, part: u32, is_ipv6: bool) -> Option<Cut> {
    let tcp_at: u16 = if is_ipv6 { 40 } else { 20 };
    Some(Cut {
        payload_bytes: u16::try_from(part).ok()?,
        tcp_at,
        payload_at: tcp_at + u16::try_from(segment.header_bytes()).ok()?,
        is_ipv6,
    })
}

/// Appends the packet's headers; returns whether they could be written.
fn write(
    tuple: &FourTuple,
    segment: &Segment,
    identification: u16,
    payload: [&[u8]; 2],
    checksum: TcpChecksum,
    headers: &mut Vec<u8>,
) -> bool {
    let written = match (tuple.local, tuple.remote) {
        (SocketAddr::V4(source), SocketAddr::V4(destination)) => {
            let addresses = Addresses {
                source,
                destination,
            };
            emit_headers(
                segment,
                &addresses,
                identification,
                payload,
                checksum,
                headers,
            )
        }
        (SocketAddr::V6(source), SocketAddr::V6(destination)) => {
            let addresses = Addresses {
                source,
                destination,
            };
            emit_headers_ipv6(segment, &addresses, 0, payload, checksum, headers)
        }
        _ => return false,
    };
    written.is_ok()
}
