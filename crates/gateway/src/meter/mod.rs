//! Measurements of passing traffic by connection, treated and not: goodput, round trips,
//! retransmissions, duplicates reported by receivers.
//!
//! It sees only headers, in both directions, at the device towards the mobiles; so it measures the
//! mobiles' experience, injected delays included.
//!
//! A connection counts once data of one side was acknowledged by the other. Until then it is a
//! candidate in a separate table, so that forged packets neither count nor displace connections.

mod connection;
mod difference;
mod group;
mod station;
mod worse;

use std::num::NonZeroUsize;

use airtcp_link::agent::FlowKey;
use airtcp_packet::Flags;
use airtcp_units::{Duration, Instant};
use lru::LruCache;

use crate::agents::hold_limit::RoundTrip;
use crate::packets::packet_view::{Assignment, PacketView};
use connection::Connection;
pub use difference::Differences;
pub use group::{Group, GroupNumbers};
pub use station::ByStation;
use station::{Stations, index};
pub use worse::Evidence;
use worse::Worse;

/// Idle time after which a connection has ended.
const SILENT: Duration = Duration::from_secs(120);

/// Connections, and the groups of ended ones.
#[derive(Debug)]
pub struct Meter {
    /// Connections without acknowledged data.
    candidates: LruCache<FlowKey, Connection>,
    connections: LruCache<FlowKey, Connection>,
    ended: Ended,
    packets: u64,
    bytes: u64,
    timer_floor: Duration,
}

/// Totals of ended connections.
#[derive(Debug, Default)]
struct Ended {
    /// Control and treated.
    groups: [Group; 2],
    stations: Stations,
    worse: Worse,
}

/// The groups compared.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// The control group.
    pub control: GroupNumbers,
    /// The treated connections.
    pub treated: GroupNumbers,
    /// The differences, with a connection as their unit.
    pub by_connection: Differences,
    /// The differences, with a station as their unit.
    pub by_station: ByStation,
    /// The evidence that the treated are slower.
    pub worse: Evidence,
}

impl Meter {
    /// Creates a meter that tracks `most` connections and as many candidates at a time, with
    /// `timer_floor` as the minimum of their timers.
    pub fn new(most: NonZeroUsize, timer_floor: Duration) -> Self {
        Self {
            timer_floor,
            candidates: LruCache::new(most),
            connections: LruCache::new(most),
            ended: Ended::default(),
            packets: 0,
            bytes: 0,
        }
    }

    /// Processes a packet that passed at `now`. It `stands_for` itself and similar packets not
    /// examined. Its connection's group is determined once per connection.
    pub fn see(
        &mut self,
        now: Instant,
        key: FlowKey,
        packet: &PacketView,
        stands_for: u32,
        assign: impl FnOnce() -> Assignment,
    ) {
        self.packets += u64::from(stands_for);
        self.bytes += u64::from(stands_for) * u64::from(packet.segment.ip_bytes());
        if connection::begins(&packet.segment) {
            self.end(key);
        }
        if packet.segment.flags.contains(Flags::SYN) {
            // A connection is tracked once it carries data: a SYN flood takes no space.
            return;
        }
        self.end_silent(now);
        if let Some(connection) = self.connections.get_mut(&key) {
            connection.see(now, packet, stands_for);
            if connection.is_over() {
                self.end(key);
            } else {
                self.ended.judge(connection, false);
            }
            return;
        }
        let is_data = packet.segment.payload_bytes > 0;
        if !is_data && !self.candidates.contains(&key) {
            // Packets after the end of a connection, or before its data.
            return;
        }
        let candidate = self.candidates.get_or_insert_mut(key, || {
            Connection::new(now, packet.ends.mobile.ip(), assign())
        });
        candidate.see(now, packet, stands_for);
        if !candidate.is_confirmed() {
            if candidate.is_over() {
                self.candidates.pop(&key);
            }
            return;
        }
        if let Some(connection) = self.candidates.pop(&key)
            && let Some((_, idlest)) = self.connections.push(key, connection)
        {
            self.ended.add(idlest);
        }
    }

    /// The round trip of a connection, once measured in both directions.
    pub fn round_trip(&self, key: FlowKey) -> Option<RoundTrip> {
        self.connections.peek(&key)?.round_trip(self.timer_floor)
    }

    /// The current comparison of the groups.
    pub fn compare(&self) -> Comparison {
        let mut groups = self.ended.groups.clone();
        // In order of use, which does not depend on the keys.
        let living = self.connections.iter().map(|(_, one)| {
            let summary = one.summary();
            (one.station, one.assignment.is_treated, summary)
        });
        for (_, is_treated, summary) in living.clone() {
            groups[index(is_treated)].add(&summary);
        }
        let (by_station, stations) = self.ended.stations.compare(living);
        let [control, treated] = &groups;
        Comparison {
            control: control.numbers(stations[0], treated),
            treated: treated.numbers(stations[1], control),
            by_connection: treated.compared_with(control),
            by_station,
            worse: self.evidence(),
        }
    }

    /// The evidence that the treated are slower.
    pub const fn evidence(&self) -> Evidence {
        self.ended.worse.evidence()
    }

    /// Number of tracked connections.
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Number of candidates: forged, or too young.
    pub fn candidates(&self) -> usize {
        self.candidates.len()
    }

    /// Number of packets and bytes that passed.
    pub const fn passed(&self) -> (u64, u64) {
        (self.packets, self.bytes)
    }

    fn end(&mut self, key: FlowKey) {
        self.candidates.pop(&key);
        if let Some(connection) = self.connections.pop(&key) {
            self.ended.add(connection);
        }
    }

    /// Silent connections are the least recently used.
    fn end_silent(&mut self, now: Instant) {
        while let Some((_, idlest)) = self.connections.peek_lru()
            && now - idlest.last() > SILENT
            && let Some((_, idlest)) = self.connections.pop_lru()
        {
            self.ended.add(idlest);
        }
        while let Some((_, idlest)) = self.candidates.peek_lru()
            && now - idlest.last() > SILENT
        {
            self.candidates.pop_lru();
        }
    }
}

impl Ended {
    fn add(&mut self, mut connection: Connection) {
        self.judge(&mut connection, true);
        let is_treated = connection.assignment.is_treated;
        let summary = connection.summary();
        self.groups[index(is_treated)].add(&summary);
        self.stations.add(connection.station, is_treated, &summary);
    }

    fn judge(&mut self, connection: &mut Connection, is_at_end: bool) {
        if let Some(log_goodput) = connection.judge(is_at_end) {
            self.worse
                .see(connection.station, connection.assignment, log_goodput);
        }
    }
}

#[cfg(test)]
mod tests;
