//! The dynamic duplicate-ACK threshold (Srinivasan §3.2): while the link still retransmits an earlier
//! segment, every later one it delivers makes a duplicate acknowledgment that means nothing.
//!
//! The printed pseudocode moves its highest mark before it looks for gaps, and its cumulative mark never;
//! read here as the text says: 3, and the segments between the first gap and the highest delivered.

/// Ranges the link has delivered above the first gap.
#[derive(Clone, Debug, Default)]
pub struct GapThreshold {
    /// Everything below is delivered by the link, or acknowledged.
    contiguous: u64,
    /// In order, apart.
    above: Vec<(u64, u64)>,
}

impl GapThreshold {
    /// The link delivered the bytes from `start` to `end`.
    pub fn on_delivered(&mut self, start: u64, end: u64) {
        if end <= self.contiguous {
            return;
        }
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
        self.close();
    }

    /// Everything below `una` has arrived, whatever the link says.
    pub fn on_acknowledged(&mut self, una: u64) {
        self.contiguous = self.contiguous.max(una);
        self.close();
    }

    fn close(&mut self) {
        while let Some(&(start, end)) = self.above.first() {
            if start > self.contiguous {
                break;
            }
            self.contiguous = self.contiguous.max(end);
            self.above.remove(0);
        }
    }

    /// Segments delivered above the first gap: each makes a duplicate acknowledgment.
    pub fn segments_behind(&self, mss: u64) -> u32 {
        let delivered: u64 = self.above.iter().map(|(start, end)| end - start).sum();
        u32::try_from(delivered.div_ceil(mss)).unwrap_or(u32::MAX)
    }
}
