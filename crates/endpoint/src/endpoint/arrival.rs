//! Packets that arrive.

use core::net::SocketAddr;

use airtcp_packet::wire::{
    Checksums, IcmpError, Trouble, WireError, parse_icmp, parse_ipv6_with, parse_with,
};
use airtcp_packet::{Flags, Segment, SequenceNumber};
use airtcp_units::Instant;

use super::Endpoint;
use crate::ids::ConnectionId;
use crate::ids::ListenerId;
use crate::time_wait::Verdict;
use crate::tuple::FourTuple;

/// The least MTU accepted from a router: RFC 791 §3.1 with the headroom of IPv4 networks (Linux,
/// `min_pmtu`: 552), and RFC 8200 §5.
const MIN_MTU: [u32; 2] = [552, 1280];
/// IP headers without options.
const IP_HEADER_BYTES: [u32; 2] = [20, 40];

/// The kind of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handled {
    /// It was for a past, present or new connection.
    Taken,
    /// No connection or listener matches it.
    Stray,
    /// A router's error about a connection here, believed or not.
    RouterError,
}

impl Endpoint {
    /// Processes an IPv4 or IPv6 packet that arrived at `now`, verifying its checksums.
    ///
    /// # Errors
    ///
    /// It is not TCP, or is damaged; nothing has changed. Never panics.
    pub fn handle_packet(&mut self, now: Instant, packet: &[u8]) -> Result<Handled, WireError> {
        self.handle_packet_with(now, packet, Checksums::Verified)
    }

    /// As [`handle_packet`](Self::handle_packet), with a choice of checksum treatment: if they are
    /// trusted, packets may be larger than on any network, as merged by devices.
    ///
    /// # Errors
    /// As [`handle_packet`](Self::handle_packet).
    pub fn handle_packet_with(
        &mut self,
        now: Instant,
        packet: &[u8],
        checksums: Checksums,
    ) -> Result<Handled, WireError> {
        self.counters.packets_received += 1;
        let handled = self.take_packet(now, packet, checksums);
        match handled {
            Err(_) => self.counters.packets_malformed += 1,
            Ok(Handled::Stray) => self.counters.strays += 1,
            Ok(_) => {}
        }
        handled
    }

    fn take_packet(
        &mut self,
        now: Instant,
        packet: &[u8],
        checksums: Checksums,
    ) -> Result<Handled, WireError> {
        let (source, destination, segment, payload) = match packet.first() {
            Some(version) if version >> 4 == 6 => match parse_ipv6_with(packet, checksums) {
                Err(WireError::NotTcp) => return self.take_error(packet),
                parsed => {
                    let parsed = parsed?;
                    let ends = parsed.addresses;
                    let (from, to) = (ends.source.into(), ends.destination.into());
                    (from, to, parsed.segment, parsed.payload)
                }
            },
            _ => match parse_with(packet, checksums) {
                Err(WireError::NotTcp) => return self.take_error(packet),
                parsed => {
                    let parsed = parsed?;
                    let ends = parsed.addresses;
                    let (from, to): (SocketAddr, _) = (ends.source.into(), ends.destination.into());
                    (from, to, parsed.segment, parsed.payload)
                }
            },
        };
        let tuple = FourTuple {
            local: destination,
            remote: source,
        };
        let payload = packet.get(payload).unwrap_or_default();
        Ok(self.take_segment(now, tuple, segment, payload))
    }

    fn take_segment(
        &mut self,
        now: Instant,
        tuple: FourTuple,
        segment: Segment,
        payload: &[u8],
    ) -> Handled {
        if let Some(&id) = self.by_tuple.get(&tuple) {
            self.deliver(now, id, segment, payload);
            return Handled::Taken;
        }
        let mut beyond = None;
        match self.time_wait.judge(now, &tuple, &segment) {
            None => {}
            Some(Verdict::Ignore) => return Handled::Taken,
            Some(Verdict::Answer(answer)) => {
                self.answer_closed(tuple, answer);
                return Handled::Taken;
            }
            Some(Verdict::Reuse(sequence)) => beyond = Some(sequence),
        }
        match self.listener(tuple.local) {
            Some(listener) => {
                self.take_for_listener(now, listener, tuple, segment, payload, beyond)
            }
            None => self.on_stray(tuple, &segment),
        }
    }

    fn take_for_listener(
        &mut self,
        now: Instant,
        listener: ListenerId,
        tuple: FourTuple,
        segment: Segment,
        payload: &[u8],
        beyond: Option<SequenceNumber>,
    ) -> Handled {
        // RFC 9293 §3.10.7.2.
        if segment.flags.contains(Flags::RST) {
            return Handled::Stray;
        }
        if segment.flags.contains(Flags::ACK) {
            let found = self.on_acknowledgment_of_cookie(now, listener, tuple, &segment);
            return match found {
                Some(id) => {
                    self.deliver(now, id, segment, payload);
                    self.drop_unless_open(id);
                    Handled::Taken
                }
                None => self.on_stray(tuple, &segment),
            };
        }
        if !segment.flags.contains(Flags::SYN) {
            return Handled::Stray;
        }
        self.on_syn(now, listener, tuple, (&segment, payload), beyond);
        Handled::Taken
    }

    fn deliver(&mut self, now: Instant, id: ConnectionId, mut segment: Segment, payload: &[u8]) {
        let Some(entry) = self.connections.get_mut(id) else {
            return;
        };
        if let Some(stamps) = &mut segment.timestamps
            && stamps.echo != 0
        {
            stamps.echo = stamps.echo.wrapping_sub(entry.timestamp_offset);
        }
        let was_open = entry.stream.connection().is_synchronized();
        if !was_open
            && entry.early.is_none()
            && let Some(listener) = entry.listener
            && let Some(waits) = self.listeners.get(listener)
            && !waits.has_room_to_wait()
            && !segment.flags.contains(Flags::RST)
        {
            // The peer will retry (Linux, `tcp_check_req`).
            self.counters.refused += 1;
            return;
        }
        let asked = entry.stream.connection().fast_open_asked();
        entry.stream.handle(now, &segment, payload);
        if !was_open {
            self.settle_early(now, id);
            self.on_opened(id);
            if let Some(asked) = asked {
                self.learn(id, asked, &segment);
            }
        }
        self.settle(id);
    }

    /// Answers a packet without a matching connection (RFC 9293 §3.10.7.1).
    fn on_stray(&mut self, tuple: FourTuple, segment: &Segment) -> Handled {
        if segment.flags.contains(Flags::RST) || !self.settings.answers_strays {
            return Handled::Stray;
        }
        let answer = if segment.flags.contains(Flags::ACK) {
            Segment {
                sequence: segment.acknowledgment,
                flags: Flags::RST,
                ..Segment::default()
            }
        } else {
            Segment {
                acknowledgment: segment.sequence + segment.sequence_length(),
                flags: Flags::RST | Flags::ACK,
                ..Segment::default()
            }
        };
        self.answer(tuple, answer);
        Handled::Stray
    }

    fn answer_closed(&mut self, tuple: FourTuple, mut answer: Segment) {
        if let Some(stamps) = &mut answer.timestamps {
            let offset = self
                .secret
                .timestamp_offset(tuple.local.ip(), tuple.remote.ip());
            stamps.value = stamps.value.wrapping_add(offset);
        }
        self.answer(tuple, answer);
    }

    /// Processes a router's error about a packet of ours.
    fn take_error(&mut self, packet: &[u8]) -> Result<Handled, WireError> {
        let error = parse_icmp(packet)?;
        let tuple = FourTuple {
            local: error.addresses.source,
            remote: error.addresses.destination,
        };
        let Some(&id) = self.by_tuple.get(&tuple) else {
            return Ok(Handled::Stray);
        };
        if self.heed(id, &error) {
            self.counters.router_errors += 1;
            self.settle(id);
        }
        Ok(Handled::RouterError)
    }

    /// Acts on the error; returns whether it is believed (RFC 5927 §7.2).
    fn heed(&mut self, id: ConnectionId, error: &IcmpError) -> bool {
        let Some(entry) = self.connections.get_mut(id) else {
            return false;
        };
        let family = usize::from(entry.tuple.local.is_ipv6());
        let connection = entry.stream.connection_mut();
        match error.trouble {
            Trouble::TooBig { mtu } => {
                // A SYN's size need not be quoted: it is the only packet in flight.
                let is_smaller = mtu < error.packet_bytes || connection.fast_open_asked().is_some();
                let plausible = mtu >= MIN_MTU[family] && is_smaller;
                plausible
                    && connection.on_packet_too_big(error.sequence, mtu - IP_HEADER_BYTES[family])
            }
            Trouble::Unreachable => {
                let before = connection.end();
                connection.on_unreachable(error.sequence);
                connection.end() != before
            }
        }
    }
}
