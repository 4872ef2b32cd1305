//! Fast recovery: RFC 2581 §3.2 (Reno), RFC 6582 §3.2 (NewReno), RFC 6675 §5 (with SACK).

use airtcp_units::{Duration, Instant};

use super::proportional_rate::ProportionalRate;

/// How the window moves to the value that a loss sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Immediately.
    AtOnce,
    /// In proportion to the data delivered.
    Proportional(ProportionalRate),
    /// By one segment for every second acknowledgment; the flag marks the first of two.
    Halving {
        /// Whether one acknowledgment has arrived since the window last shrank.
        one: bool,
    },
}

/// The state of one fast recovery.
#[derive(Clone, Debug)]
pub struct FastRecovery {
    /// The recovery ends when everything below this offset is acknowledged (RFC 6582 §3.2,
    /// `recover`).
    pub recover: u64,
    /// Bytes by which duplicate acknowledgments inflate the window: each means that a segment has
    /// left the network. Zero with SACK, which identifies the segment.
    pub inflation: u64,
    /// Number of partial acknowledgments.
    pub partial_acknowledgments: u32,
    /// Whether the one rescue retransmission has been used (RFC 6675 §4, `NextSeg()` rule 4).
    pub rescued: bool,
    /// How the window moves during recovery.
    pub pace: Pace,
    /// Whether the reduction was needless and undone while losses are still being repaired: the
    /// window does not end at the threshold (Linux, `tcp_end_cwnd_reduction`).
    pub taken_back: bool,
    /// The last instant before the reduction, if the window may move again for what was sent since
    /// (RFC 9002 §7.3.2); [`Instant::ZERO`] after persistent congestion.
    pub reduced: Option<Instant>,
}

impl FastRecovery {
    /// Enters fast recovery after `duplicates` duplicate acknowledgments, with data outstanding up
    /// to `recover`.
    #[must_use]
    pub fn enter(recover: u64, duplicates: u32, mss: u64, sack: bool) -> Self {
        // RFC 6582 §3.2 step 2: cwnd = ssthresh + 3 SMSS.
        let inflation = if sack { 0 } else { u64::from(duplicates) * mss };
        Self {
            recover,
            inflation,
            partial_acknowledgments: 0,
            rescued: false,
            pace: Pace::AtOnce,
            taken_back: false,
            reduced: None,
        }
    }

    /// Begins a recovery period at `now`; segments that leave at that instant leave after it.
    pub fn begin_period(&mut self, now: Instant) {
        let before = now
            .as_nanos()
            .saturating_sub(Duration::from_nanos(1).as_nanos());
        self.reduced = Some(Instant::from_nanos(before));
    }

    /// Ends the recovery period, whatever is delivered (§B.8, `congestion_recovery_start_time`).
    pub fn end_period(&mut self) {
        self.reduced = Some(Instant::ZERO);
        self.pace = Pace::AtOnce;
    }

    /// Whether a segment sent at `sent_at` left after the reduction, in a recovery with a period.
    #[must_use]
    pub fn is_after_reduction(&self, sent_at: Instant) -> bool {
        self.reduced.is_some_and(|reduced| sent_at > reduced)
    }

    /// Ends the movement of the window towards the threshold. Returns how it moved.
    pub const fn end_reduction(&mut self) -> Pace {
        core::mem::replace(&mut self.pace, Pace::AtOnce)
    }

    /// Takes another duplicate acknowledgment: one more segment has left (RFC 6582 §3.2 step 3).
    pub fn on_duplicate(&mut self, mss: u64) {
        self.inflation = self.inflation.saturating_add(mss);
    }

    /// Takes a partial acknowledgment of `acked` bytes: deflates by the bytes that left the window,
    /// and adds one segment back if at least that much was acknowledged (RFC 6582 §3.2 step 3).
    pub fn on_partial(&mut self, acked: u64, mss: u64) {
        self.partial_acknowledgments += 1;
        let back = if acked >= mss { mss } else { 0 };
        self.inflation = (self.inflation + back).saturating_sub(acked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    #[test]
    fn inflates_by_what_left_the_network() {
        let mut recovery = FastRecovery::enter(20_000, 3, MSS, false);
        assert_eq!(recovery.inflation, 3 * MSS);
        recovery.on_duplicate(MSS);
        assert_eq!(recovery.inflation, 4 * MSS);
    }

    #[test]
    fn needs_no_inflation_with_sack() {
        assert_eq!(FastRecovery::enter(20_000, 3, MSS, true).inflation, 0);
    }

    /// RFC 6582 §3.2 step 3, second case.
    #[test]
    fn deflates_on_a_partial_acknowledgment() {
        let mut recovery = FastRecovery::enter(20_000, 7, MSS, false);
        recovery.on_partial(2 * MSS, MSS);
        assert_eq!(recovery.inflation, 6 * MSS);
        recovery.on_partial(MSS, MSS);
        assert_eq!(recovery.inflation, 6 * MSS);
        recovery.on_partial(MSS / 2, MSS);
        assert_eq!(recovery.inflation, 5 * MSS + MSS / 2);
        recovery.on_partial(20 * MSS, MSS);
        assert_eq!(recovery.inflation, 0);
        assert_eq!(recovery.partial_acknowledgments, 4);
    }
}
