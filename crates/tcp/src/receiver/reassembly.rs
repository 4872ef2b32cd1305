//! Which bytes have arrived: a prefix, and ranges beyond a gap.

use std::ops::Range;

/// What an insertion brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Insertion {
    /// Bytes not held before.
    pub fresh: u64,
    /// The first run of bytes that were held already.
    pub duplicate: Option<Range<u64>>,
}

/// The bytes of a stream that have arrived.
#[derive(Clone, Debug, Default)]
pub struct Reassembly {
    next_expected: u64,
    /// Ranges above `next_expected`, in order, apart from each other.
    waiting: Vec<Range<u64>>,
}

impl Reassembly {
    /// First byte that has not arrived.
    #[inline]
    pub const fn next_expected(&self) -> u64 {
        self.next_expected
    }

    /// Whether anything waits behind a gap.
    #[inline]
    pub const fn has_gaps(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Takes everything up to `end`, when nothing waits behind a gap.
    #[inline]
    pub fn extend(&mut self, end: u64) {
        debug_assert!(!self.has_gaps() && end >= self.next_expected);
        self.next_expected = end;
    }

    /// The waiting range that contains `offset`.
    pub fn containing(&self, offset: u64) -> Option<&Range<u64>> {
        let index = self.waiting.partition_point(|range| range.end <= offset);
        self.waiting
            .get(index)
            .filter(|range| range.contains(&offset))
    }

    /// The ranges behind a gap, in order.
    pub fn waiting(&self) -> &[Range<u64>] {
        &self.waiting
    }

    /// Takes `range`, whatever of it was held before.
    pub fn insert(&mut self, range: Range<u64>) -> Insertion {
        let mut insertion = Insertion::default();
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
        // Ranges that touch this one merge with it.
        let first = self.waiting.partition_point(|held| held.end < range.start);
        let behind = self.waiting.partition_point(|held| held.start <= range.end);
        let mut merged = range.clone();
        let mut held_bytes = 0;
        for held in &self.waiting[first..behind] {
            let overlap = held.start.max(range.start)..held.end.min(range.end);
            held_bytes += overlap.end.saturating_sub(overlap.start);
            duplicate(overlap);
            merged = merged.start.min(held.start)..merged.end.max(held.end);
        }
        insertion.fresh = range.end - range.start - held_bytes;
        if merged.start == self.next_expected {
            self.next_expected = merged.end;
            self.waiting.drain(first..behind);
        } else {
            self.waiting.splice(first..behind, [merged]);
        }
        insertion
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn holding(ranges: &[Range<u64>]) -> Reassembly {
        let mut reassembly = Reassembly::default();
        for range in ranges {
            reassembly.insert(range.clone());
        }
        reassembly
    }

    #[test]
    fn merges_ranges_that_touch() {
        let mut reassembly = holding(&[10..20, 30..40]);
        assert_eq!(reassembly.waiting, [10..20, 30..40]);
        let insertion = reassembly.insert(20..30);
        assert_eq!(
            insertion,
            Insertion {
                fresh: 10,
                duplicate: None
            }
        );
        assert_eq!(reassembly.waiting, vec![10..40]);
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
        let mut reassembly = holding(std::slice::from_ref(&(20..30)));
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
        assert_eq!(reassembly.containing(10), Some(&(10..20)));
        assert_eq!(reassembly.containing(39), Some(&(30..40)));
        assert_eq!(reassembly.containing(9), None);
        assert_eq!(reassembly.containing(20), None);
        assert_eq!(reassembly.containing(40), None);
    }

    proptest! {
        /// Against a naive model: one flag a byte.
        #[test]
        fn agrees_with_a_map_of_bytes(
            arrivals in prop::collection::vec((0_u64..200, 1_u64..40), 1..60)
        ) {
            let mut reassembly = Reassembly::default();
            let mut held = [false; 256];
            for (start, length) in arrivals {
                let bytes = start as usize..(start + length) as usize;
                let fresh = bytes.clone().filter(|&byte| !held[byte]).count() as u64;
                let first_held = bytes.clone().find(|&byte| held[byte]);
                let insertion = reassembly.insert(start..start + length);
                prop_assert_eq!(insertion.fresh, fresh);
                prop_assert_eq!(insertion.duplicate.map(|run| run.start as usize), first_held);
                bytes.for_each(|byte| held[byte] = true);
                let prefix = held.iter().position(|&byte| !byte).unwrap_or(256) as u64;
                prop_assert_eq!(reassembly.next_expected(), prefix);
                for byte in prefix..256 {
                    let waits = reassembly.containing(byte).is_some();
                    prop_assert_eq!(waits, held[byte as usize]);
                }
                let apart = reassembly.waiting.windows(2).all(|pair| pair[0].end < pair[1].start);
                prop_assert!(apart, "{:?}", reassembly.waiting);
                prop_assert_eq!(reassembly.has_gaps(), !reassembly.waiting.is_empty());
            }
        }
    }
}
