//! Bytes that have arrived: a prefix, and ranges beyond gaps.
//!
//! However many [`Islands`] wait, a segment costs O(log n) in whatever order a peer sends, and
//! their number is bounded: a peer, or an attacker in its name, must not be able to make us keep a
//! one-byte range for every second byte of the window. Beyond the bound the highest range is
//! dropped, even if it was SACKed: RFC 2018 §8 permits this when space runs out, and therefore has
//! senders keep data that was only SACKed. Linux drops from the same end (`tcp_prune_ofo_queue`):
//! the application waits for the lowest range, and filling the first hole always advances the
//! stream. In-order data is never dropped. Like Linux, and unlike RFC 2018 §8, a segment that is
//! itself dropped is not reported.

use alloc::boxed::Box;
use core::ops::Range;

use super::islands::Islands;

/// The result of an insertion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Insertion {
    /// Bytes not held before.
    pub fresh: u64,
    /// The first run of bytes that were already held.
    pub duplicate: Option<Range<u64>>,
}

/// The bytes of a stream that have arrived.
#[derive(Clone, Debug)]
pub struct Reassembly {
    next_expected: u64,
    /// Ranges above `next_expected`, if there are any. Boxed, so that very many receivers fit in
    /// memory.
    waiting: Option<Box<Islands>>,
    /// Bytes in them: at most a window, 2^30 (RFC 7323 §2.3).
    waiting_bytes: u32,
    /// Maximum number of waiting ranges.
    most: u32,
}

impl Reassembly {
    /// Creates an empty one; at most `most` ranges, and at least one, are held after gaps.
    pub const fn new(most: u32) -> Self {
        Self {
            next_expected: 0,
            waiting: None,
            waiting_bytes: 0,
            most: if most == 0 { 1 } else { most },
        }
    }

    /// Limits the ranges held after gaps to `most`; ranges already held stay.
    pub const fn set_most(&mut self, most: u32) {
        self.most = if most == 0 { 1 } else { most };
    }

    /// First byte that has not arrived.
    #[inline]
    pub const fn next_expected(&self) -> u64 {
        self.next_expected
    }

    /// Whether any data is held after a gap.
    #[inline]
    pub fn has_gaps(&self) -> bool {
        self.waiting.is_some()
    }

    /// Bytes held after gaps.
    #[inline]
    pub fn waiting_bytes(&self) -> u64 {
        u64::from(self.waiting_bytes)
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "modulo 2^32, and the sum is below it"
    )]
    const fn count_waiting(&mut self, come: u64, gone: u64) {
        self.waiting_bytes = self
            .waiting_bytes
            .wrapping_add(come.wrapping_sub(gone) as u32);
    }

    /// Takes everything up to `end`, when no data is held after a gap.
    #[inline]
    pub fn extend(&mut self, end: u64) {
        debug_assert!(!self.has_gaps() && end >= self.next_expected);
        self.next_expected = end;
    }

    /// The waiting range that contains `offset`.
    pub fn containing(&self, offset: u64) -> Option<Range<u64>> {
        let (start, end) = self.waiting.as_deref()?.below(offset)?;
        (offset < end).then_some(start..end)
    }

    /// The end of the highest range after a gap.
    pub fn highest_end(&self) -> Option<u64> {
        self.waiting.as_deref()?.highest_end()
    }

    /// The ranges after a gap, in order.
    pub fn waiting(&self) -> impl Iterator<Item = Range<u64>> {
        self.waiting.as_deref().into_iter().flat_map(Islands::iter)
    }

    /// Takes `range`, whether or not parts of it were held before.
    pub fn insert(&mut self, range: Range<u64>) -> Insertion {
        let mut insertion = Insertion::default();
        if self.extend_highest(&range) {
            insertion.fresh = range.end - range.start;
            self.count_waiting(insertion.fresh, 0);
            return insertion;
        }
        let mut duplicate = |held: Range<u64>| {
            if held.start < held.end && insertion.duplicate.is_none() {
                insertion.duplicate = Some(held);
            }
        };
        duplicate(range.start..range.end.min(self.next_expected));
        let range = range.start.max(self.next_expected)..range.end;
        if range.start >= range.end {
            return insertion;
        }
        // The range below, if it reaches this one, is the first to merge with it.
        let below = self.waiting.as_deref();
        let (first, end) = match below.and_then(|islands| islands.below(range.start)) {
            Some((start, end)) if end >= range.start => {
                duplicate(range.start..end.min(range.end));
                insertion.fresh = range.end - end.min(range.end);
                (start, end.max(range.end))
            }
            _ => {
                insertion.fresh = range.end - range.start;
                (range.start, range.end)
            }
        };
        self.absorb(first..end, &range, &mut insertion);
        insertion
    }

    /// Extends the highest range, the common case for data after a gap. Returns whether `range` did
    /// so.
    #[inline]
    fn extend_highest(&mut self, range: &Range<u64>) -> bool {
        let highest = self.waiting.as_deref_mut();
        match highest.and_then(Islands::highest_end_mut) {
            Some(end) if *end == range.start => {
                *end = range.end.max(*end);
                true
            }
            _ => false,
        }
    }

    /// Merges the ranges that start in or next to `merged`, which contains `range`, and stores the
    /// result.
    fn absorb(&mut self, merged: Range<u64>, range: &Range<u64>, insertion: &mut Insertion) {
        let Range { start, mut end } = merged;
        while let Some(islands) = &mut self.waiting
            && let Some((other, other_end)) = islands.take_first_of(start + 1..end + 1)
        {
            let overlap = other.max(range.start)..other_end.min(range.end);
            if overlap.start < overlap.end {
                insertion.fresh -= overlap.end - overlap.start;
                insertion.duplicate.get_or_insert(overlap);
            }
            end = end.max(other_end);
        }
        if start == self.next_expected {
            // The data held until now, and the fresh bytes.
            self.count_waiting(insertion.fresh, end - start);
            self.next_expected = end;
            self.waiting.take_if(|islands| islands.is_empty());
            return;
        }
        self.count_waiting(insertion.fresh, 0);
        let islands = self.waiting.get_or_insert_with(|| Box::new(Islands::new()));
        islands.set(start, end);
        if islands.len() > self.most as usize {
            let forgotten = islands.forget_highest();
            self.count_waiting(0, forgotten);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MANY: u32 = 1000;

    fn holding(ranges: &[Range<u64>]) -> Reassembly {
        let mut reassembly = Reassembly::new(MANY);
        for range in ranges {
            reassembly.insert(range.clone());
        }
        reassembly
    }

    fn waiting(reassembly: &Reassembly) -> Vec<Range<u64>> {
        reassembly.waiting().collect()
    }

    #[test]
    fn merges_ranges_that_touch() {
        let mut reassembly = holding(&[10..20, 30..40]);
        assert_eq!(waiting(&reassembly), [10..20, 30..40]);
        let insertion = reassembly.insert(20..30);
        assert_eq!(
            insertion,
            Insertion {
                fresh: 10,
                duplicate: None
            }
        );
        assert_eq!(waiting(&reassembly), vec![10..40]);
        assert_eq!(reassembly.insert(0..10).fresh, 10);
        assert_eq!(reassembly.next_expected(), 40);
        assert!(!reassembly.has_gaps());
    }

    #[test]
    fn names_the_first_run_held_already() {
        let mut reassembly = holding(&[0..10, 20..30, 40..50]);
        let insertion = reassembly.insert(5..45);
        assert_eq!(
            insertion,
            Insertion {
                fresh: 20,
                duplicate: Some(5..10)
            }
        );
        assert_eq!(reassembly.next_expected(), 50);
        let mut reassembly = holding(core::slice::from_ref(&(20..30)));
        let insertion = reassembly.insert(25..27);
        assert_eq!(
            insertion,
            Insertion {
                fresh: 0,
                duplicate: Some(25..27)
            }
        );
    }

    #[test]
    fn finds_the_range_around_an_offset() {
        let reassembly = holding(&[10..20, 30..40]);
        assert_eq!(reassembly.containing(10), Some(10..20));
        assert_eq!(reassembly.containing(39), Some(30..40));
        assert_eq!(reassembly.containing(9), None);
        assert_eq!(reassembly.containing(20), None);
        assert_eq!(reassembly.containing(40), None);
    }

    /// The lowest ranges stay, and filling the first hole advances the stream whatever was dropped.
    #[test]
    fn beyond_the_bound_the_highest_range_is_forgotten() {
        let mut reassembly = Reassembly::new(2);
        for start in [10, 30, 50, 20] {
            reassembly.insert(start..start + 5);
        }
        assert_eq!(waiting(&reassembly), [10..15, 20..25]);
        // A range that merges needs no room.
        reassembly.insert(25..40);
        assert_eq!(waiting(&reassembly), [10..15, 20..40]);
        reassembly.insert(0..10);
        assert_eq!(reassembly.next_expected(), 15);
        assert_eq!(waiting(&reassembly), vec![20..40]);
    }

    proptest! {
        /// Compared with a naive model: one flag per byte, and islands recounted each time.
        #[test]
        fn agrees_with_a_map_of_bytes(
            most in 1_u32..12,
            arrivals in prop::collection::vec((0_u64..200, 1_u64..40), 1..60)
        ) {
            let mut reassembly = Reassembly::new(most);
            let mut held = [false; 256];
            for (start, length) in arrivals {
                let bytes = start as usize..(start + length) as usize;
                let fresh = bytes.clone().filter(|&byte| !held[byte]).count() as u64;
                let first_held = bytes.clone().find(|&byte| held[byte]);
                let insertion = reassembly.insert(start..start + length);
                prop_assert_eq!(insertion.fresh, fresh);
                prop_assert_eq!(insertion.duplicate.map(|run| run.start as usize), first_held);
                bytes.for_each(|byte| held[byte] = true);
                let prefix = held.iter().position(|&byte| !byte).unwrap_or(256);
                let starts: Vec<_> = (prefix.max(1)..256)
                    .filter(|&byte| held[byte] && !held[byte - 1])
                    .collect();
                if let Some(&forgotten) = starts.get(most as usize) {
                    held[forgotten..].fill(false);
                }
                prop_assert_eq!(reassembly.next_expected(), prefix as u64);
                for (byte, held) in held.iter().enumerate().skip(prefix) {
                    let waits = reassembly.containing(byte as u64).is_some();
                    prop_assert_eq!(waits, *held);
                }
                let kept = waiting(&reassembly);
                let apart = kept.windows(2).all(|pair| pair[0].end < pair[1].start);
                prop_assert!(apart, "{:?}", kept);
                prop_assert_eq!(reassembly.has_gaps(), !kept.is_empty());
                let bytes: u64 = kept.iter().map(|range| range.end - range.start).sum();
                prop_assert_eq!(reassembly.waiting_bytes(), bytes);
                prop_assert_eq!(kept.len(), starts.len().min(most as usize));
            }
        }
    }
}
