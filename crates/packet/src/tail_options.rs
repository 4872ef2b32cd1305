//! The options at the end of a header: a segment has one kind of them.

use crate::{FastOpen, Forecast, SackBlock, SackBlocks};

/// The options that follow the options of fixed length.
///
/// A SYN reports no blocks (RFC 2018 §3: they follow a handshake that permits them), and nothing
/// else has Fast Open's option (RFC 7413 §2): no segment needs both, and neither enlarges it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TailOptions {
    /// SACK blocks, zero or more.
    Sack {
        /// Number of blocks.
        count: u8,
        /// The blocks, and defaults after them.
        blocks: [SackBlock; SackBlocks::CAPACITY],
    },
    /// A forecast of deliveries, and up to three SACK blocks before it.
    Forecast {
        /// The forecast.
        forecast: Forecast,
        /// Number of blocks, at most three.
        count: u8,
        /// The blocks, and defaults after them.
        blocks: [SackBlock; Self::NEXT_TO_FORECAST],
    },
    /// A cookie, or the request of one.
    FastOpen(FastOpen),
}

impl Default for TailOptions {
    fn default() -> Self {
        Self::from(SackBlocks::default())
    }
}

impl From<SackBlocks> for TailOptions {
    fn from(SackBlocks { blocks, count }: SackBlocks) -> Self {
        Self::Sack { count, blocks }
    }
}

impl TailOptions {
    /// Most blocks that a forecast leaves room for.
    const NEXT_TO_FORECAST: usize = 3;

    /// Appends a SACK block; `false`, and no change, when four are there already, or another
    /// option.
    #[inline]
    pub fn push(&mut self, block: SackBlock) -> bool {
        let Self::Sack { count, blocks } = self else {
            return false;
        };
        let Some(slot) = blocks.get_mut(usize::from(*count)) else {
            return false;
        };
        *slot = block;
        *count += 1;
        true
    }

    /// The SACK blocks in the order in which they were pushed.
    #[inline]
    #[must_use]
    pub fn blocks(&self) -> &[SackBlock] {
        match self {
            Self::Sack { count, blocks } => &blocks[..usize::from(*count)],
            Self::Forecast { count, blocks, .. } => &blocks[..usize::from(*count)],
            Self::FastOpen(_) => &[],
        }
    }

    /// Whether there is no option.
    #[inline]
    #[must_use]
    pub const fn is_none(&self) -> bool {
        matches!(self, Self::Sack { count: 0, .. })
    }

    /// The forecast, if there is one.
    #[inline]
    #[must_use]
    pub const fn forecast(&self) -> Option<Forecast> {
        match self {
            Self::Forecast { forecast, .. } => Some(*forecast),
            _ => None,
        }
    }

    /// The option of Fast Open, if there is one.
    #[inline]
    #[must_use]
    pub const fn fast_open(&self) -> Option<FastOpen> {
        match self {
            Self::FastOpen(option) => Some(*option),
            _ => None,
        }
    }

    /// `forecast` after the first `most` of these blocks, at most three.
    pub(crate) fn with_forecast(&self, forecast: Forecast, most: usize) -> Self {
        let kept = self.blocks().iter().take(most.min(Self::NEXT_TO_FORECAST));
        let mut blocks = [SackBlock::default(); Self::NEXT_TO_FORECAST];
        let mut count = 0;
        for (place, block) in blocks.iter_mut().zip(kept) {
            *place = *block;
            count += 1;
        }
        Self::Forecast {
            forecast,
            count,
            blocks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SequenceNumber;

    fn block(start: u32) -> SackBlock {
        SackBlock {
            start: SequenceNumber(start),
            end: SequenceNumber(start + 10),
        }
    }

    #[test]
    fn the_kinds_share_the_space_of_four_blocks() {
        assert_eq!(size_of::<TailOptions>(), size_of::<SackBlocks>());
        assert_eq!(size_of::<Option<TailOptions>>(), size_of::<SackBlocks>());
    }

    #[test]
    fn a_cookie_leaves_no_room_for_blocks() {
        let cookie = FastOpen::cookie(&[7; 16]).unwrap();
        for option in [FastOpen::REQUEST, cookie, cookie.experimental()] {
            let mut tail = TailOptions::FastOpen(option);
            assert!(!tail.is_none() && !tail.push(block(1)));
            assert_eq!((tail.fast_open(), tail.forecast()), (Some(option), None));
            assert_eq!(tail.blocks(), []);
        }
        let mut tail = TailOptions::default();
        assert!(tail.is_none() && tail.push(block(1)) && !tail.is_none());
        assert_eq!((tail.fast_open(), tail.blocks()), (None, &[block(1)][..]));
    }

    #[test]
    fn a_forecast_leaves_room_for_three_blocks() {
        let forecast = Forecast::of_totals([1, 2, 30, 300, 301, 400, 500, 600]);
        let mut tail = TailOptions::default();
        for count in 0..=4_usize {
            assert_eq!(tail.forecast(), None);
            let mut with = tail.with_forecast(forecast, 3);
            assert_eq!((with.forecast(), with.fast_open()), (Some(forecast), None));
            assert_eq!(with.blocks(), &tail.blocks()[..count.min(3)]);
            assert!(!with.is_none() && !with.push(block(1)));
            assert_eq!(with.with_forecast(forecast, 1).blocks().len(), count.min(1));
            tail.push(block(100 * count as u32));
        }
    }
}
