//! The source of a plan's choices: bytes from a fuzzer or a seed.

/// Reads choices from bytes. After their end every choice is the first one, which is the mildest.
pub struct Source<'a> {
    bytes: &'a [u8],
}

impl<'a> Source<'a> {
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.bytes.split_first() else {
            return 0;
        };
        self.bytes = rest;
        first
    }

    /// A number below `end`, from as few bytes as it needs. Not quite uniform, which does not
    /// matter to a plan.
    pub fn below(&mut self, end: u64) -> u64 {
        let mut number = u64::from(self.byte());
        let mut reach = 256;
        while reach < end {
            number = number << 8 | u64::from(self.byte());
            reach <<= 8;
        }
        number % end.max(1)
    }

    /// A number in `first..end`.
    pub fn between(&mut self, first: u64, end: u64) -> u64 {
        first + self.below(end - first)
    }

    /// True once in `times`.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == times - 1
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// The bytes of a seed: SplitMix64 (Steele, Lea & Flood, OOPSLA 2014, figure 16).
pub fn bytes_of_seed(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    // Enough for both configurations, and for a few dozen operations.
    let words = 12 + next() % 50;
    (0..words).flat_map(|_| next().to_le_bytes()).collect()
}
