//! The proxy's counters, as numbers and as text.

use serde::{Deserialize, Serialize};

/// Totals since the start, and the current state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Client connections since the start.
    pub accepted: u64,
    /// Current ones.
    pub open: u64,
    /// Open connections with an unanswered connection attempt to the server.
    pub connecting: u64,
    /// Connections closed cleanly by both ends.
    pub closed: u64,
    /// Connections reset because one end had failed.
    pub failed: u64,
    /// Connections reset because no server could be reached.
    pub connect_failed: u64,
    /// Bytes passed to servers.
    pub up_bytes: u64,
    /// Bytes passed to clients.
    pub down_bytes: u64,
    /// Pipes that currently hold data.
    pub pipes: u64,
    /// Reports of the radio's driver about a connection here.
    pub reports: u64,
    /// Limit on the bytes that the kernel may hold for the current connections.
    pub granted_bytes: u64,
}

impl Counters {
    /// Adds the totals of another process.
    pub const fn add(&mut self, other: &Self) {
        self.accepted += other.accepted;
        self.closed += other.closed;
        self.failed += other.failed;
        self.connect_failed += other.connect_failed;
        self.up_bytes += other.up_bytes;
        self.down_bytes += other.down_bytes;
        self.reports += other.reports;
    }

    /// One line with the current state, and the progress since `before`, `seconds` ago.
    pub fn line(&self, before: &Self, seconds: f64) -> String {
        let rate = |now: u64, then: u64| (now - then) as f64 * 8e-6 / seconds.max(1e-9);
        format!(
            "{} open ({} connecting), {} new, {} closed, {} failed, {} failed to connect, up {:.2} \
             Mbit/s, down {:.2} Mbit/s, at most {:.0} MiB",
            self.open,
            self.connecting,
            self.accepted - before.accepted,
            self.closed - before.closed,
            self.failed - before.failed,
            self.connect_failed - before.connect_failed,
            rate(self.up_bytes, before.up_bytes),
            rate(self.down_bytes, before.down_bytes),
            self.granted_bytes as f64 / f64::from(1 << 20),
        )
    }

    /// All totals, in a sentence.
    pub fn summary(&self) -> String {
        format!(
            "{} connections: {} closed, {} failed, {} failed to connect, {} reset at the end; up \
             {:.1} MB, down {:.1} MB",
            self.accepted,
            self.closed,
            self.failed,
            self.connect_failed,
            self.open,
            self.up_bytes as f64 * 1e-6,
            self.down_bytes as f64 * 1e-6,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_of_the_time_since_the_last_one() {
        let before = Counters {
            accepted: 10,
            closed: 4,
            up_bytes: 1_000_000,
            ..Counters::default()
        };
        let now = Counters {
            accepted: 12,
            open: 3,
            connecting: 1,
            closed: 9,
            up_bytes: 2_000_000,
            down_bytes: 500_000,
            granted_bytes: 3 << 20,
            ..before
        };
        assert_eq!(
            now.line(&before, 2.0),
            "3 open (1 connecting), 2 new, 5 closed, 0 failed, 0 failed to connect, up 4.00 Mbit/s, \
             down 2.00 Mbit/s, at most 3 MiB"
        );
    }
}
