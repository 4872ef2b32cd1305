//! Data that has arrived after a gap when no SACK identifies the segments: a duplicate
//! acknowledgment counts as one (Linux, `sacked_out` of a connection without SACK). Arrived data is
//! no longer in flight, so the window needs no inflation.

use super::reordering_of;

/// Arrivals inferred from duplicate acknowledgments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrivals {
    bytes: u64,
    /// Extent of the reordering seen so far, in segments; zero without any.
    reordering: u32,
}

/// Outstanding data after an acknowledgment, as a bound on the data that can have arrived.
#[derive(Clone, Copy, Debug)]
pub struct Outstanding {
    /// Bytes between the first and the last outstanding byte.
    pub bytes: u64,
    /// Bytes of these that are presumed lost.
    pub lost: u64,
    /// Payload of a full segment.
    pub mss: u64,
}

impl Arrivals {
    /// Bytes that have arrived after a gap.
    #[inline]
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.bytes
    }

    /// Extent of the reordering seen, in segments; zero without any.
    #[inline]
    #[must_use]
    pub const fn reordering(self) -> u32 {
        self.reordering
    }

    /// Records that a segment has arrived after one sent `reach` segments later.
    pub fn on_reordering(&mut self, reach: u32) {
        self.reordering = self.reordering.max(reach);
    }

    /// Forgets the extent of reordering, which was overestimated (`tcp_enter_loss`).
    pub const fn forget_reordering(&mut self) {
        self.reordering = 0;
    }

    /// Counts a duplicate acknowledgment: one more segment has arrived (`tcp_add_reno_sack`).
    /// Returns the bytes delivered: zero if there are more duplicates than segments that can have
    /// arrived.
    pub fn on_duplicate(&mut self, outstanding: Outstanding) -> u64 {
        let before = self.bytes;
        self.bytes += outstanding.mss;
        self.bound(outstanding, 0);
        self.bytes.saturating_sub(before)
    }

    /// Removes the first `acked` bytes, now acknowledged: one segment of them filled the gap, the
    /// others had arrived before (`tcp_remove_reno_sacks`). Returns the bytes newly delivered.
    pub fn on_acknowledged(&mut self, acked: u64, outstanding: Outstanding) -> u64 {
        let gap = acked.min(outstanding.mss);
        let delivered = acked.saturating_sub(self.bytes).max(gap);
        self.bytes = self.bytes.saturating_sub(acked - gap);
        self.bound(outstanding, acked);
        delivered
    }

    /// Forgets the arrivals: the data is known to be acknowledged, or given up
    /// (`tcp_reset_reno_sack`).
    #[inline]
    pub const fn forget(&mut self) {
        self.bytes = 0;
    }

    /// Data presumed lost has not arrived, and neither has the segment expected next
    /// (`tcp_limit_reno_sacked`). More duplicates than that indicate reordering, up to the data
    /// outstanding before `acked` bytes of it were acknowledged (`tcp_check_reno_reordering`).
    fn bound(&mut self, outstanding: Outstanding, acked: u64) {
        let gap = outstanding.lost.max(outstanding.mss).min(outstanding.bytes);
        let most = outstanding.bytes - gap;
        if self.bytes > most {
            self.bytes = most;
            self.reordering =
                reordering_of((outstanding.bytes + acked).div_ceil(outstanding.mss.max(1)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::LARGEST_REORDERING;
    use super::*;

    const MSS: u64 = 1000;

    fn outstanding(segments: u64, lost: u64) -> Outstanding {
        Outstanding {
            bytes: segments * MSS,
            lost: lost * MSS,
            mss: MSS,
        }
    }

    /// Ten segments outstanding, the first and the fifth lost. Eight duplicates arrive, the
    /// retransmission of the first brings an acknowledgment of four, and five segments remain that
    /// have arrived after the fifth.
    #[test]
    fn a_partial_acknowledgment_leaves_what_arrived_behind_the_next_gap() {
        let mut arrivals = Arrivals::default();
        for _ in 0..8 {
            assert_eq!(arrivals.on_duplicate(outstanding(10, 1)), MSS);
        }
        let delivered = arrivals.on_acknowledged(4 * MSS, outstanding(6, 0));
        assert_eq!((delivered, arrivals.bytes()), (MSS, 5 * MSS));
        let delivered = arrivals.on_acknowledged(6 * MSS, outstanding(0, 0));
        assert_eq!((delivered, arrivals.bytes()), (MSS, 0));
    }

    /// Lost acknowledgments leave fewer duplicates than segments that arrived.
    #[test]
    fn what_no_duplicate_told_is_delivered_when_it_is_acknowledged() {
        let mut arrivals = Arrivals::default();
        arrivals.on_duplicate(outstanding(10, 1));
        let delivered = arrivals.on_acknowledged(6 * MSS, outstanding(4, 0));
        assert_eq!((delivered, arrivals.bytes()), (5 * MSS, 0));
    }

    /// Five outstanding segments, two of them lost: three can have arrived, and the fourth
    /// duplicate comes from a segment that was late. Acknowledged bytes count as outstanding
    /// before.
    #[test]
    fn more_duplicates_than_can_have_arrived_tell_of_reordering() {
        let mut arrivals = Arrivals::default();
        for _ in 0..3 {
            arrivals.on_duplicate(outstanding(5, 2));
            assert_eq!(arrivals.reordering(), 0);
        }
        arrivals.on_duplicate(outstanding(5, 2));
        assert_eq!((arrivals.reordering(), arrivals.bytes()), (5, 3 * MSS));
        arrivals.on_acknowledged(MSS, outstanding(4, 2));
        assert_eq!((arrivals.reordering(), arrivals.bytes()), (5, 2 * MSS));
        arrivals.forget_reordering();
        arrivals.forget();
        for _ in 0..500 {
            arrivals.on_duplicate(outstanding(400, 1));
        }
        assert_eq!(arrivals.reordering(), LARGEST_REORDERING);
    }

    /// Of three outstanding segments the first is expected next: two can have arrived.
    #[test]
    fn no_more_can_have_arrived_than_is_outstanding() {
        let mut arrivals = Arrivals::default();
        assert_eq!(arrivals.on_duplicate(outstanding(3, 0)), MSS);
        assert_eq!(arrivals.on_duplicate(outstanding(3, 0)), MSS);
        assert_eq!(arrivals.on_duplicate(outstanding(3, 0)), 0);
        assert_eq!(arrivals.bytes(), 2 * MSS);
        arrivals.forget();
        assert_eq!(arrivals.bytes(), 0);
    }
}
