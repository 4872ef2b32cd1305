//! The disjoint byte ranges held after gaps: in a list while they are few, as they nearly always
//! are, so that very many receivers fit in memory; in a tree when they are many, so that each costs
//! O(log n) in whatever order a peer sends.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;

/// Maximum number of ranges kept in a list: moving its elements touches only a few cache lines.
const FEW: usize = 32;

/// Ranges by their start, each with its end.
#[derive(Clone, Debug)]
pub(super) enum Islands {
    Few(Vec<(u64, u64)>),
    #[expect(
        clippy::box_collection,
        reason = "the list then takes no more room than alone"
    )]
    Many(Box<BTreeMap<u64, u64>>),
}

impl Islands {
    /// Creates an empty set.
    pub const fn new() -> Self {
        Self::Few(Vec::new())
    }

    /// Whether there are no ranges.
    #[inline]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Few(list) => list.is_empty(),
            Self::Many(tree) => tree.is_empty(),
        }
    }

    /// Number of ranges.
    pub fn len(&self) -> usize {
        match self {
            Self::Few(list) => list.len(),
            Self::Many(tree) => tree.len(),
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = Range<u64>> {
        let (list, tree) = match self {
            Self::Few(list) => (list.as_slice(), None),
            Self::Many(tree) => (&[][..], Some(tree)),
        };
        let of_tree = tree
            .into_iter()
            .flat_map(|tree| tree.iter())
            .map(|(&start, &end)| (start, end));
        let all = list.iter().copied().chain(of_tree);
        all.map(|(start, end)| start..end)
    }

    /// The end of the highest range.
    pub fn highest_end(&self) -> Option<u64> {
        match self {
            Self::Few(list) => list.last().map(|&(_, end)| end),
            Self::Many(tree) => tree.last_key_value().map(|(_, &end)| end),
        }
    }

    /// The same, to be changed.
    #[inline]
    pub fn highest_end_mut(&mut self) -> Option<&mut u64> {
        match self {
            Self::Few(list) => list.last_mut().map(|(_, end)| end),
            Self::Many(tree) => tree.last_entry().map(|highest| highest.into_mut()),
        }
    }

    /// The highest range that starts at `offset` or below.
    #[inline]
    pub fn below(&self, offset: u64) -> Option<(u64, u64)> {
        match self {
            Self::Few(list) => list.iter().rev().find(|range| range.0 <= offset).copied(),
            Self::Many(tree) => {
                let (&start, &end) = tree.range(..=offset).next_back()?;
                Some((start, end))
            }
        }
    }

    /// Removes and returns the lowest range that starts in `starts`.
    pub fn take_first_of(&mut self, starts: Range<u64>) -> Option<(u64, u64)> {
        let taken = match self {
            Self::Few(list) => {
                let place = list.iter().position(|range| range.0 >= starts.start)?;
                starts.contains(&list[place].0).then(|| list.remove(place))
            }
            Self::Many(tree) => {
                let start = *tree.range(starts).next()?.0;
                tree.remove_entry(&start)
            }
        };
        if self.is_empty() {
            *self = Self::new();
        }
        taken
    }

    /// Sets the end of the range that starts at `start`, adding it if absent.
    pub fn set(&mut self, start: u64, end: u64) {
        match self {
            Self::Few(list) => match list.binary_search_by_key(&start, |range| range.0) {
                Ok(place) => list[place].1 = end,
                Err(place) if list.len() < FEW => {
                    if list.len() == list.capacity() {
                        list.reserve_exact(list.len().max(1));
                    }
                    list.insert(place, (start, end));
                }
                Err(_) => {
                    let mut tree: BTreeMap<_, _> = list.drain(..).collect();
                    tree.insert(start, end);
                    *self = Self::Many(Box::new(tree));
                }
            },
            Self::Many(tree) => {
                tree.insert(start, end);
            }
        }
    }

    /// Removes the highest range, and returns its length.
    pub fn forget_highest(&mut self) -> u64 {
        let highest = match self {
            Self::Few(list) => list.pop(),
            Self::Many(tree) => tree.pop_last(),
        };
        highest.map_or(0, |(start, end)| end - start)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compared with a tree, with fewer ranges than the list holds and with more.
        #[test]
        fn agrees_with_a_tree(
            operations in prop::collection::vec((0_u8..8, 0_u64..200, 1_u64..50), 1..300)
        ) {
            let mut islands = Islands::new();
            let mut tree = BTreeMap::new();
            for (operation, start, length) in operations {
                match operation {
                    0 => {
                        let length = tree.pop_last().map_or(0, |(start, end)| end - start);
                        prop_assert_eq!(islands.forget_highest(), length);
                    }
                    1 => {
                        let first = tree.range(start..start + length).next();
                        let expected = first.map(|(&start, &end)| (start, end));
                        tree.retain(|&other, _| Some(other) != expected.map(|range| range.0));
                        prop_assert_eq!(islands.take_first_of(start..start + length), expected);
                    }
                    2 => {
                        let end = tree.last_entry().map(|highest| *highest.get());
                        prop_assert_eq!(islands.highest_end_mut().copied(), end);
                    }
                    _ => {
                        islands.set(start, start + length);
                        tree.insert(start, start + length);
                    }
                }
                let below = tree.range(..=start).next_back();
                let below = below.map(|(&start, &end)| (start, end));
                prop_assert_eq!(islands.below(start), below);
                prop_assert_eq!(islands.len(), tree.len());
                prop_assert_eq!(islands.is_empty(), tree.is_empty());
                let all: Vec<_> = tree.iter().map(|(&start, &end)| start..end).collect();
                prop_assert_eq!(islands.iter().collect::<Vec<_>>(), all);
            }
        }
    }
}
