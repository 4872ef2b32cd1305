//! Measurements of passing traffic by connection, treated and not: goodput, round trips,
//! retransmissions, duplicates reported by receivers.
//!
//! It sees only headers, in both directions, at the device towards the mobiles; so it measures the
//! mobiles' experience, injected delays included.

mod connection;
mod group;

use std::num::NonZeroUsize;

use airtcp_link::agent::FlowKey;
use airtcp_packet::Flags;
use airtcp_units::{Duration, Instant};
use lru::LruCache;

use crate::agents::hold_limit::RoundTrip;
use crate::packets::packet_view::PacketView;
use connection::Connection;
pub use group::{Difference, Differences, Group, GroupNumbers};

/// A connection silent for this long has ended.
const SILENT: Duration = Duration::from_secs(120);

/// Connections, and the groups of those that have ended.
#[derive(Debug)]
pub struct Meter {
    connections: LruCache<FlowKey, Connection>,
    /// Ended connections: of the control group, and treated.
    over: [Group; 2],
    packets: u64,
    bytes: u64,
    timer_floor: Duration,
}

impl Meter {
    /// Creates a meter that tracks `most` connections at a time, whose timers have this floor.
    pub fn new(most: NonZeroUsize, timer_floor: Duration) -> Self {
        Self {
            timer_floor,
            connections: LruCache::new(most),
            over: [Group::default(), Group::default()],
            packets: 0,
            bytes: 0,
        }
    }

    /// Takes a packet that passed at `now`. It `stands_for` itself and similar packets that were
    /// not examined. Whether its connection is treated is determined once per connection.
    pub fn see(
        &mut self,
        now: Instant,
        key: FlowKey,
        packet: &PacketView,
        stands_for: u32,
        is_treated: impl FnOnce() -> bool,
    ) {
        self.packets += u64::from(stands_for);
        self.bytes += u64::from(stands_for) * u64::from(packet.segment.ip_bytes());
        if connection::begins(&packet.segment) {
            self.end(key);
        }
        if packet.segment.flags.contains(Flags::SYN) {
            // A connection is tracked once it carries data: a SYN flood takes no room.
            return;
        }
        self.end_silent(now);
        if self.connections.len() >= self.connections.cap().get()
            && !self.connections.contains(&key)
            && let Some((_, idlest)) = self.connections.pop_lru()
        {
            self.over[usize::from(idlest.is_treated)].add(&idlest.summary());
        }
        let connection = self
            .connections
            .get_or_insert_mut(key, || Connection::new(now, is_treated()));
        connection.see(now, packet, stands_for);
        if connection.is_over() {
            self.end(key);
        }
    }

    /// The round trip of a connection, once measured in both directions.
    pub fn round_trip(&self, key: FlowKey) -> Option<RoundTrip> {
        self.connections.peek(&key)?.round_trip(self.timer_floor)
    }

    /// The current groups: control, treated.
    pub fn groups(&self) -> [Group; 2] {
        let mut groups = self.over.clone();
        // In order of use, which is the same whatever the keys are.
        for (_, connection) in &self.connections {
            groups[usize::from(connection.is_treated)].add(&connection.summary());
        }
        groups
    }

    /// Number of tracked connections.
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Number of packets and bytes that passed.
    pub const fn passed(&self) -> (u64, u64) {
        (self.packets, self.bytes)
    }

    fn end(&mut self, key: FlowKey) {
        if let Some(connection) = self.connections.pop(&key) {
            self.over[usize::from(connection.is_treated)].add(&connection.summary());
        }
    }

    /// Silent connections are the least recently used.
    fn end_silent(&mut self, now: Instant) {
        while let Some((_, idlest)) = self.connections.peek_lru()
            && now - idlest.last() > SILENT
            && let Some((_, idlest)) = self.connections.pop_lru()
        {
            self.over[usize::from(idlest.is_treated)].add(&idlest.summary());
        }
    }
}

#[cfg(test)]
mod tests {
    use airtcp_link::agent::Toward;
    use airtcp_packet::{Segment, SequenceNumber};

    use super::*;
    use crate::packets::packet_view::Ends;

    fn packet(port: u16, flags: Flags, payload_bytes: u32) -> PacketView {
        PacketView {
            ends: Ends {
                mobile: ([10, 0, 0, 1], port).into(),
                wired: ([10, 0, 0, 2], 80).into(),
            },
            toward: Toward::Wired,
            segment: Segment {
                sequence: SequenceNumber(1),
                flags,
                payload_bytes,
                ..Segment::default()
            },
        }
    }

    /// A SYN flood takes no room from tracked connections; a flood of forged data takes all of it,
    /// and no more.
    #[test]
    fn floods_are_bounded() {
        let most = NonZeroUsize::new(100).unwrap();
        let mut meter = Meter::new(most, Duration::from_millis(200));
        meter.see(Instant::ZERO, 0, &packet(1, Flags::ACK, 100), 1, || true);
        for flow in 1..100_000_u64 {
            meter.see(Instant::ZERO, flow, &packet(2, Flags::SYN, 0), 1, || true);
        }
        assert_eq!(meter.connections(), 1);
        for flow in 1..100_000_u64 {
            meter.see(Instant::ZERO, flow, &packet(2, Flags::ACK, 100), 1, || true);
        }
        assert_eq!(meter.connections(), 100);
        // Evicted connections still count in their group.
        assert_eq!(meter.groups()[1].numbers().connections, 100_000);
    }
}
