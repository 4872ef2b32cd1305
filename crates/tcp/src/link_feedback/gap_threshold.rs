//! The dynamic duplicate-ACK threshold (Srinivasan §3.2): while the link still retransmits an
//! earlier segment, later ones that it delivers cause meaningless duplicate acknowledgments.
//!
//! The printed pseudocode counts in two ways. When the first gap closes, `dup_ack = DEFAULT_DUP_ACK
//! + (L_ack_max − indx)`, where `indx` is the first segment still pending: all segments above it up
//! to the highest acknowledged one, those pending among them included, since each of them will make
//! a duplicate when it arrives. Until then `dup_ack++` for each acknowledgment above the highest so
//! far. [`GapCount`] selects one.
//!
//! Its braces and `==1L` are misprints; it moves its highest mark before it looks for gaps, and
//! never moves its cumulative mark. Implemented as intended: `L_ack_cum` is the last segment before
//! the first gap.

use alloc::vec::Vec;

use crate::config::{DynamicThreshold, GapCount, ThresholdCap};

/// The link's deliveries above the first gap, and the resulting threshold.
#[derive(Clone, Debug)]
pub struct GapThreshold {
    config: DynamicThreshold,
    /// Everything below it has been delivered by the link, or acknowledged: `L_ack_cum`.
    contiguous: u64,
    /// In order and disjoint; the last one ends at `L_ack_max`.
    above: Vec<(u64, u64)>,
    /// `dup_ack − DEFAULT_DUP_ACK` as printed.
    printed: u32,
}

impl GapThreshold {
    /// Creates the threshold without deliveries.
    pub const fn new(config: DynamicThreshold) -> Self {
        Self {
            config,
            contiguous: 0,
            above: Vec::new(),
            printed: 0,
        }
    }

    /// Records that the link has delivered the bytes from `start` to `end`, in segments of `mss`
    /// bytes.
    pub fn on_delivered(&mut self, start: u64, end: u64, mss: u64) {
        if end <= self.contiguous {
            return;
        }
        let highest = self.above.last().map_or(self.contiguous, |&(_, end)| end);
        let place = self.above.partition_point(|&(_, behind)| behind < start);
        let mut merged = (start, end);
        while let Some(&(next, behind)) = self.above.get(place) {
            if next > merged.1 {
                break;
            }
            merged = (merged.0.min(next), merged.1.max(behind));
            self.above.remove(place);
        }
        self.above.insert(place, merged);
        if self.close() {
            self.printed = self.above_first_gap(mss);
        } else if end > highest {
            self.printed = self.printed.saturating_add(1);
        }
    }

    /// Records that everything below `una` has arrived, whatever the link reports.
    pub fn on_acknowledged(&mut self, una: u64, mss: u64) {
        if una > self.contiguous {
            self.contiguous = una;
            self.close();
            self.printed = self.above_first_gap(mss);
        }
    }

    /// Moves the cumulative mark over delivered bytes; returns whether it moved.
    fn close(&mut self) -> bool {
        let before = self.contiguous;
        while let Some(&(start, end)) = self.above.first() {
            if start > self.contiguous {
                break;
            }
            self.contiguous = self.contiguous.max(end);
            self.above.remove(0);
        }
        self.contiguous > before
    }

    /// `L_ack_max − indx`.
    fn above_first_gap(&self, mss: u64) -> u32 {
        let Some(&(_, highest)) = self.above.last() else {
            return 0;
        };
        let segments = (highest - self.contiguous).div_ceil(mss);
        // The first of them is the pending one.
        u32::try_from(segments.saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Number of duplicate acknowledgments that mean a loss with a window of `cwnd` bytes: `base`
    /// if there is no gap in the link's deliveries.
    pub fn threshold(&self, base: u32, cwnd: u64, mss: u64) -> u32 {
        let more = match self.config.count {
            GapCount::AboveFirstGap => self.above_first_gap(mss),
            GapCount::AsPrinted => self.printed,
        };
        let threshold = base.saturating_add(more);
        match self.config.cap {
            ThresholdCap::None => threshold,
            ThresholdCap::BelowWindow(segments) => {
                let most = (cwnd / mss).saturating_sub(u64::from(segments));
                threshold
                    .min(u32::try_from(most).unwrap_or(u32::MAX))
                    .max(base)
            }
        }
    }
}
