//! Bytes acknowledged together beyond the estimated bandwidth: links that aggregate
//! acknowledgments, such as Wi-Fi, need that much window beyond the bandwidth-delay product
//! (draft-ietf-ccwg-bbr §5.5.9; `bbr_update_ack_aggregation`).

use airtcp_units::Instant;

use super::bytes_in;

/// The maximum is kept for this many round trips, twice over.
const ROUNDS: u32 = 5;

/// The excess, in bytes.
#[derive(Clone, Debug, Default)]
pub struct Aggregation {
    began: Instant,
    acked: u64,
    /// Maxima of this stretch of round trips and of the one before.
    most: [u64; 2],
    rounds: u32,
}

impl Aggregation {
    /// The largest excess of the last five to ten round trips, in bytes.
    pub fn most(&self) -> u64 {
        self.most[0].max(self.most[1])
    }

    /// Restarts the count after a pause.
    pub const fn restart(&mut self, now: Instant) {
        self.began = now;
        self.acked = 0;
    }

    /// Takes `delivered` bytes that arrived at `now`, where `rate` bytes a second were expected;
    /// `cwnd` bounds the excess.
    pub fn on_delivered(
        &mut self,
        now: Instant,
        delivered: u64,
        rate: u64,
        cwnd: u64,
        round_start: bool,
    ) {
        if round_start {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                self.rounds = 0;
                self.most = [0, self.most[0]];
            }
        }
        let mut expected = bytes_in(rate, now - self.began);
        if self.acked <= expected {
            self.restart(now);
            expected = 0;
        }
        self.acked += delivered;
        let excess = self.acked.saturating_sub(expected).min(cwnd);
        self.most[0] = self.most[0].max(excess);
    }
}
