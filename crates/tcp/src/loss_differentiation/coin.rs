//! A coin: a control for classifiers, which calls as many losses the radio's and looks at nothing.

use super::Cause;

/// How many coins were tossed. The k-th falls as `SplitMix64` (Steele, Lea & Flood, OOPSLA 2014) says
/// for the seed and k, so that no toss depends on another.
#[derive(Clone, Debug)]
pub struct Coin {
    seed: u64,
    tossed: u64,
}

impl Coin {
    /// None tossed.
    pub const fn new(seed: u64) -> Self {
        Self { seed, tossed: 0 }
    }

    /// The next answer: the radio with probability `radio`.
    pub fn classify(&mut self, radio: f64) -> Cause {
        self.tossed += 1;
        let draw = split_mix(self.seed, self.tossed);
        #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
        let unit = (draw >> 11) as f64 / (1_u64 << 53) as f64;
        if unit < radio {
            Cause::Radio
        } else {
            Cause::Congestion
        }
    }
}

/// The `index`-th output, from one on, of `SplitMix64` seeded with `seed`.
pub const fn split_mix(seed: u64, index: u64) -> u64 {
    let mut word = seed.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
