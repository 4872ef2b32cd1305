//! Selective acknowledgment blocks (RFC 2018), or the Fast Open option of a SYN in their place, or
//! Sprout's forecast in the place of the last.

use crate::fast_open::{FastOpen, MAX_COOKIE_BYTES};
use crate::{Forecast, SequenceNumber};

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
/// Fast Open option takes their place without enlarging a segment. A [forecast](Forecast) takes
/// that of the last block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SackBlocks {
    blocks: [SackBlock; Self::CAPACITY],
    /// Number of blocks; above [`Self::CAPACITY`], the form of the Fast Open option in their place,
    /// or [`FORECAST`] and the number of blocks next to a forecast.
    count: u8,
}

/// Marks the number of blocks in front of a forecast.
const FORECAST: u8 = 0x40;
/// The same mark, and that of Fast Open, which gives it another meaning.
const FORMS: u8 = 0xc0;
/// The block that a forecast takes the place of: the number of others fits two bits.
const LAST: usize = SackBlocks::CAPACITY - 1;

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
            self.len_next_to_option()
        } else {
            self.count as usize
        }
    }

    #[cold]
    const fn len_next_to_option(&self) -> usize {
        if self.count & FORMS == FORECAST {
            self.count as usize & LAST
        } else {
            0
        }
    }

    /// Whether there are no blocks.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there are neither blocks nor another option in their place.
    #[inline]
    #[must_use]
    pub const fn is_clear(&self) -> bool {
        self.count == 0
    }

    /// The forecast, if there is one.
    #[inline]
    #[must_use]
    pub fn forecast(&self) -> Option<Forecast> {
        (self.count & FORMS == FORECAST).then(|| {
            let block = self.blocks[LAST];
            let mut bytes = [0; Forecast::TICKS];
            let (first, second) = bytes.split_at_mut(Forecast::TICKS / 2);
            first.copy_from_slice(&block.start.0.to_be_bytes());
            second.copy_from_slice(&block.end.0.to_be_bytes());
            Forecast::from_bytes(bytes)
        })
    }

    /// Stores `forecast` after the first `blocks` of these blocks, at most three.
    pub(crate) fn with_forecast(mut self, forecast: Forecast, blocks: usize) -> Self {
        let kept = self.len().min(blocks).min(LAST);
        self.blocks[kept..].fill(SackBlock::default());
        let [a, b, c, d, e, f, g, h] = forecast.to_bytes();
        self.blocks[LAST] = SackBlock {
            start: SequenceNumber(u32::from_be_bytes([a, b, c, d])),
            end: SequenceNumber(u32::from_be_bytes([e, f, g, h])),
        };
        self.count = FORECAST | kept as u8;
        self
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

    /// A forecast leaves room for three blocks, and no option of Fast Open is one.
    #[test]
    fn holds_a_forecast_behind_up_to_three_blocks() {
        let forecast = Forecast::of_totals([1, 2, 30, 300, 301, 400, 500, 600]);
        let mut blocks = SackBlocks::new();
        for count in 0..=4_usize {
            assert_eq!(blocks.forecast(), None);
            let mut held = blocks.with_forecast(forecast, 3);
            assert_eq!(held.forecast(), Some(forecast));
            assert_eq!(held.fast_open(), None);
            assert_eq!(held.as_slice(), &blocks.as_slice()[..count.min(3)]);
            assert_eq!(held.is_empty(), count == 0);
            assert!(!held.is_clear() && !held.push(block(1)));
            assert_eq!(held.with_forecast(forecast, 1).len(), count.min(1));
            blocks.push(block(100 * count as u32));
        }
        let cookie = FastOpen::cookie(&[255; 16]).unwrap();
        for option in [FastOpen::REQUEST, cookie, cookie.experimental()] {
            assert_eq!(SackBlocks::holding(&option).forecast(), None);
        }
    }
}
