//! Selective acknowledgment blocks (RFC 2018), or the Fast Open option of a SYN in their place.

use crate::SequenceNumber;
use crate::fast_open::{FastOpen, MAX_COOKIE_BYTES};

/// A contiguous run of bytes that the receiver holds (RFC 2018 §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SackBlock {
    /// The first byte of the run.
    pub start: SequenceNumber,
    /// The byte after the last of the run.
    pub end: SequenceNumber,
}

/// The blocks of one segment, most recent first; at most four.
///
/// A SYN reports no blocks (RFC 2018 §3: they follow a handshake that permits them), so that its
/// Fast Open option takes their place without enlarging a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SackBlocks {
    blocks: [SackBlock; Self::CAPACITY],
    /// Number of blocks; above [`Self::CAPACITY`], the form of the Fast Open option in their place.
    count: u8,
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

    /// Appends `block`; `false`, and no change, when four are there already, or an option of Fast
    /// Open.
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
        if self.count as usize > Self::CAPACITY {
            0
        } else {
            self.count as usize
        }
    }

    /// Whether there are no blocks.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there are neither blocks nor a Fast Open option.
    #[inline]
    pub(crate) const fn is_clear(&self) -> bool {
        self.count == 0
    }

    /// Stores `option` in place of blocks.
    pub(crate) fn holding(option: &FastOpen) -> Self {
        let mut held = Self {
            count: option.form(),
            ..Self::default()
        };
        let (words, _) = option.padded().as_chunks::<4>();
        let numbers = held.blocks.iter_mut();
        let numbers = numbers.flat_map(|block| [&mut block.start, &mut block.end]);
        for (number, word) in numbers.zip(words) {
            *number = SequenceNumber(u32::from_be_bytes(*word));
        }
        held
    }

    /// The option of Fast Open in place of blocks, if one is there.
    pub(crate) fn fast_open(&self) -> Option<FastOpen> {
        let mut bytes = [0; MAX_COOKIE_BYTES];
        let numbers = self.blocks[..2]
            .iter()
            .flat_map(|block| [block.start, block.end]);
        for (word, number) in bytes.chunks_exact_mut(4).zip(numbers) {
            word.copy_from_slice(&number.0.to_be_bytes());
        }
        FastOpen::of_form(self.count, bytes)
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

    /// A cookie in the blocks' place is no block, and leaves no room for one.
    #[test]
    fn holds_a_cookie_in_place_of_blocks() {
        let cookie: [u8; 16] = core::array::from_fn(|index| index as u8 * 17);
        for length in (4..=16).step_by(2) {
            let option = FastOpen::cookie(&cookie[..length]).unwrap();
            for option in [option, option.experimental()] {
                let mut held = SackBlocks::holding(&option);
                assert_eq!(held.fast_open(), Some(option));
                assert!(held.is_empty() && !held.is_clear());
                assert_eq!(held.as_slice(), []);
                assert!(!held.push(block(1)));
                assert_eq!(held.fast_open(), Some(option));
            }
        }
        let mut blocks = SackBlocks::new();
        for count in 0..4 {
            assert_eq!(blocks.fast_open(), None, "{count}");
            blocks.push(block(count));
        }
        assert_eq!(blocks.fast_open(), None);
    }
}
