//! Selective acknowledgment blocks (RFC 2018).

use crate::SequenceNumber;

/// A contiguous run of bytes that the receiver holds (RFC 2018 §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SackBlock {
    /// The first byte of the run.
    pub start: SequenceNumber,
    /// The byte after the last of the run.
    pub end: SequenceNumber,
}

/// The blocks of one segment, most recent first; at most four.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SackBlocks {
    pub(crate) blocks: [SackBlock; Self::CAPACITY],
    pub(crate) count: u8,
}

impl SackBlocks {
    /// The most blocks that fit the 40 bytes of options (RFC 2018 §3).
    pub const CAPACITY: usize = 4;

    /// No blocks.
    #[inline]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends `block`; `false`, and no change, when four are there already.
    #[inline]
    pub fn push(&mut self, block: SackBlock) -> bool {
        let Some(slot) = self.blocks.get_mut(usize::from(self.count)) else {
            return false;
        };
        *slot = block;
        self.count += 1;
        true
    }

    /// The blocks in the order in which they were pushed.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..self.len()]
    }

    /// Number of blocks.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there are no blocks.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(start: u32) -> SackBlock {
        SackBlock {
            start: SequenceNumber(start),
            end: SequenceNumber(start + 10),
        }
    }

    #[test]
    fn holds_four_blocks_in_order() {
        let mut blocks = SackBlocks::new();
        assert!(blocks.is_empty());
        assert_eq!(blocks.as_slice(), []);
        for count in 0..4 {
            assert_eq!(blocks.len(), count as usize);
            assert!(blocks.push(block(100 * count)));
            assert!(!blocks.is_empty());
        }
        let full = blocks;
        assert!(!blocks.push(block(900)), "RFC 2018 §3: at most 4 blocks");
        assert_eq!(blocks, full);
        assert_eq!(blocks.as_slice(), [0, 100, 200, 300].map(block));
        assert_eq!(blocks.len(), 4);
    }
}
