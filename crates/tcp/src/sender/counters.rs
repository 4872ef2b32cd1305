//! Counters of a sender's actions.

/// Counters of a sender's actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments that carried data or a FIN, retransmissions included.
    pub segments_sent: u64,
    /// Of these, the retransmissions.
    pub segments_retransmitted: u64,
    /// Stream bytes in the retransmissions.
    pub bytes_retransmitted: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Timeouts that the endpoint later judged unnecessary (RFC 3522 §3).
    pub timeouts_judged_spurious: u64,
    /// Losses found by duplicate or selective acknowledgments.
    pub fast_retransmits: u64,
    /// Duplicates reported by the peer (RFC 2883).
    pub duplicates_reported: u64,
    /// Zero-window probes sent.
    pub window_probes: u64,
    /// Recoveries found needless and undone.
    pub recoveries_taken_back: u64,
    /// Tail loss probes sent (RFC 8985 §7).
    pub tail_probes: u64,
    /// Losses revealed only by the tail loss probe that repaired them (RFC 8985 §7.4).
    pub losses_repaired_by_probes: u64,
}

/// [`Counters`] as stored: rare events in half the room, so that very many senders fit in memory.
/// They saturate at 2^32. Probes are counted where they are sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub segments_sent: u64,
    pub bytes_retransmitted: u64,
    pub segments_retransmitted: Count,
    pub timeouts: Count,
    pub timeouts_judged_spurious: Count,
    pub fast_retransmits: Count,
    pub duplicates_reported: Count,
    pub window_probes: Count,
    pub recoveries_taken_back: Count,
}

/// A saturating counter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count(u32);

impl Count {
    /// Counts one more.
    #[inline]
    pub const fn add(&mut self) {
        self.0 = self.0.saturating_add(1);
    }
}

impl Count {
    /// Whether nothing was counted.
    #[inline]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl From<Count> for u64 {
    fn from(count: Count) -> Self {
        count.0.into()
    }
}

impl Counts {
    /// The public form of the counters.
    #[inline]
    pub fn told(&self) -> Counters {
        Counters {
            segments_sent: self.segments_sent,
            segments_retransmitted: self.segments_retransmitted.into(),
            bytes_retransmitted: self.bytes_retransmitted,
            timeouts: self.timeouts.into(),
            timeouts_judged_spurious: self.timeouts_judged_spurious.into(),
            fast_retransmits: self.fast_retransmits.into(),
            duplicates_reported: self.duplicates_reported.into(),
            window_probes: self.window_probes.into(),
            recoveries_taken_back: self.recoveries_taken_back.into(),
            // Only senders that probe have these.
            tail_probes: 0,
            losses_repaired_by_probes: 0,
        }
    }
}
