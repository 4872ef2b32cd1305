//! Resource blocks of a carrier, in the groups that are granted and the subbands that are reported.

use std::ops::Range;

/// Most subbands of a carrier.
pub const MAX_SUBBANDS: usize = 8;

/// Resource blocks of a carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    blocks: u32,
    group: u32,
    subbands: u32,
}

impl Grid {
    /// `blocks` resource blocks, granted in groups of `group`, with a channel for each of
    /// `subbands`, at most [`MAX_SUBBANDS`] and at most one a group.
    #[must_use]
    pub fn new(blocks: u32, group: u32, subbands: u32) -> Self {
        let group = group.max(1);
        let most = blocks.div_ceil(group).clamp(1, MAX_SUBBANDS as u32);
        Self {
            blocks,
            group,
            subbands: subbands.clamp(1, most),
        }
    }

    /// Resource blocks.
    #[must_use]
    pub const fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Subbands.
    #[must_use]
    pub const fn subbands(&self) -> usize {
        self.subbands as usize
    }

    /// Groups of resource blocks.
    pub(super) const fn groups(&self) -> u32 {
        self.blocks.div_ceil(self.group)
    }

    /// Resource blocks of a group: the last one may be smaller.
    pub(super) fn blocks_in(&self, group: u32) -> u32 {
        self.group
            .min(self.blocks.saturating_sub(group * self.group))
    }

    /// The subband of a group.
    pub(super) const fn subband_of(&self, group: u32) -> usize {
        (group * self.subbands / self.groups()) as usize
    }

    /// The groups of a subband.
    pub(super) const fn groups_of(&self, subband: usize) -> Range<u32> {
        let (first, groups) = (subband as u32 * self.groups(), self.groups());
        first.div_ceil(self.subbands)..(first + groups).div_ceil(self.subbands)
    }
}

/// Size of resource block groups of an LTE carrier (TS 36.213 table 7.1.6.1-1).
#[must_use]
pub const fn lte_group_size(blocks: u32) -> u32 {
    match blocks {
        0..=10 => 1,
        11..=26 => 2,
        27..=63 => 3,
        _ => 4,
    }
}

/// Size of resource block groups of an NR bandwidth part, configuration 1 (TS 38.214 table
/// 5.1.2.2.1-1).
#[must_use]
pub const fn nr_group_size(blocks: u32) -> u32 {
    match blocks {
        0..=36 => 2,
        37..=72 => 4,
        73..=144 => 8,
        _ => 16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_cover_the_carrier() {
        for blocks in [6, 15, 25, 50, 75, 100, 106, 273] {
            for size in [lte_group_size(blocks), nr_group_size(blocks)] {
                let grid = Grid::new(blocks, size, 8);
                let all: u32 = (0..grid.groups()).map(|group| grid.blocks_in(group)).sum();
                assert_eq!(all, blocks);
                for subband in 0..grid.subbands() {
                    let mut groups = grid.groups_of(subband);
                    assert!(groups.all(|group| grid.subband_of(group) == subband));
                }
                let all = (0..grid.subbands()).flat_map(|subband| grid.groups_of(subband));
                assert!(all.eq(0..grid.groups()));
                let last = grid.subband_of(grid.groups() - 1);
                assert_eq!((grid.subband_of(0), last), (0, grid.subbands() - 1));
            }
        }
        // 25 resource blocks are 13 groups, the last of one block.
        let grid = Grid::new(25, lte_group_size(25), 1);
        assert_eq!((grid.groups(), grid.blocks_in(12)), (13, 1));
    }
}
