//! The dynamic duplicate-ACK threshold (Srinivasan §3.2): while the link still retransmits an
//! earlier segment, later ones that it delivers make duplicate acknowledgments that mean nothing.
//!
//! The printed pseudocode counts in two ways. When the first gap closes,
//! `dup_ack = DEFAULT_DUP_ACK + (L_ack_max − indx)`, where `indx` is the first segment still
//! pending: all segments above it up to the highest acknowledged one, those pending among them
//! included, since each of them will make a duplicate when it arrives. Until then `dup_ack++` for
//! each acknowledgment above the highest so far. [`GapCount`] says which is used when.
//!
//! Its braces and `==1L` are print errors; it moves its highest mark before it looks for gaps, and
//! its cumulative mark never. Read here as meant: `L_ack_cum` is the last segment before the first
//! gap.

use crate::config::{DynamicThreshold, GapCount, ThresholdCap};

/// What the link has delivered above the first gap, and the threshold that follows.
#[derive(Clone, Debug)]
pub struct GapThreshold {
    config: DynamicThreshold,
    /// Everything below is delivered by the link, or acknowledged: `L_ack_cum`.
    contiguous: u64,
    /// In order, apart; the last one ends at `L_ack_max`.
    above: Vec<(u64, u64)>,
    /// `dup_ack − DEFAULT_DUP_ACK` as printed.
    printed: u32,
}

impl GapThreshold {
    /// Nothing delivered.
    pub const fn new(config: DynamicThreshold) -> Self {
        Self {
            config,
            contiguous: 0,
            above: Vec::new(),
            printed: 0,
        }
    }

    /// The link has delivered the bytes from `start` to `end`, of segments of `mss` bytes.
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

    /// Everything below `una` has arrived, whatever the link says.
    pub fn on_acknowledged(&mut self, una: u64, mss: u64) {
        if una > self.contiguous {
            self.contiguous = una;
            self.close();
            self.printed = self.above_first_gap(mss);
        }
    }

    /// Moves the cumulative mark over what is delivered; whether it moved.
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

    /// Duplicate acknowledgments that mean a loss with a window of `cwnd` bytes, `base` where there
    /// is no gap in what the link has delivered.
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
