//! A chance, and the draw that decides it.

use alloc::format;
use core::fmt;
use core::str::FromStr;

use crate::nearest::nearest;
use crate::text::ParseError;

/// A probability between 0 and 1.
///
/// Deciding is an integer comparison, so that it costs one instruction a packet and gives the same
/// answer on every machine. The resolution of a decision is 2^-63.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Probability {
    value: f64,
    /// The event happens for draws, halved, below this; 2^63 is certainty.
    threshold: u64,
}

/// Certainty on the scale of [`Probability::happens`].
const CERTAIN: u64 = 1 << 63;

/// The expectation that an error names.
pub(crate) const EXPECTED: &str = "a probability between 0 and 1, such as 0.01 or \"1 %\"";

impl Probability {
    /// Never happens.
    pub const NEVER: Self = Self {
        value: 0.0,
        threshold: 0,
    };
    /// Always happens.
    pub const ALWAYS: Self = Self {
        value: 1.0,
        threshold: CERTAIN,
    };

    /// The probability `value`; an error when it is below 0, above 1 or not a number.
    pub fn new(value: f64) -> Result<Self, ParseError> {
        if !(0.0..=1.0).contains(&value) {
            return Err(ParseError::of_number(value, EXPECTED));
        }
        // Scaling by a power of two is exact; only values below 2^-10 have bits to round.
        let threshold = nearest(value * CERTAIN as f64);
        // The sum turns minus zero into zero.
        Ok(Self {
            value: value + 0.0,
            threshold,
        })
    }

    /// The probability as a number between 0 and 1.
    #[inline]
    #[must_use]
    pub const fn as_f64(self) -> f64 {
        self.value
    }

    /// Whether the event happens, given a `draw` uniform over all of `u64`.
    #[inline]
    #[must_use]
    pub const fn happens(self, draw: u64) -> bool {
        draw >> 1 < self.threshold
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.value, f)
    }
}

impl FromStr for Probability {
    type Err = ParseError;

    /// Reads a number between 0 and 1, or a percentage with its sign: `0.01`, `1e-5`, `1 %`.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let trimmed = text.trim();
        let value = match trimmed.strip_suffix('%') {
            // Shifting the decimal point in the text rounds once; dividing by 100 would round
            // twice.
            Some(percent) if !percent.contains(['e', 'E']) => {
                format!("{}e-2", percent.trim_end()).parse()
            }
            _ => trimmed.parse(),
        };
        value
            .ok()
            .and_then(|value: f64| Self::new(value).ok())
            .ok_or_else(|| ParseError::of_text(text, EXPECTED))
    }
}
