//! A length of time.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use core::str::FromStr;

use crate::nearest::nearest;
use crate::text::{self, Expected, ParseError, Quantity, Unit};

/// A length of time in whole nanoseconds, never negative.
///
/// Sums, differences and multiples saturate at [`Duration::ZERO`] and [`Duration::MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The maximum duration, 584 years; means "for ever".
    pub const MAX: Self = Self(u64::MAX);

    /// `nanos` nanoseconds.
    #[inline]
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// `micros` microseconds, at most [`Duration::MAX`].
    #[inline]
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// `millis` milliseconds, at most [`Duration::MAX`].
    #[inline]
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// `secs` seconds, at most [`Duration::MAX`].
    #[inline]
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000_000))
    }

    /// `secs` seconds rounded to the nearest nanosecond, halves away from zero: the one place
    /// where a real number becomes a time. `None` when negative, not a number, or too long for 64
    /// bits of nanoseconds.
    #[inline]
    #[must_use]
    pub fn from_secs_f64(secs: f64) -> Option<Self> {
        let nanos = secs * 1e9;
        // u64::MAX as f64 is 2^64, the first value that does not fit. NaN fails both comparisons.
        (secs >= 0.0 && nanos < u64::MAX as f64).then(|| Self(nearest(nanos)))
    }

    /// Whole nanoseconds.
    #[inline]
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds, rounded to the nearest `f64`.
    #[inline]
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Milliseconds, rounded to the nearest `f64`.
    #[inline]
    #[must_use]
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Add for Duration {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl SubAssign for Duration {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<u64> for Duration {
    type Output = Self;

    #[inline]
    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Duration {
    type Output = Self;

    /// Rounds down. Division by zero panics, as it does for integers.
    #[inline]
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

impl Quantity for Duration {
    const EXPECTED: Expected = Expected {
        what: "a duration such as \"15 ms\"",
        units: &[
            Unit {
                names: &["ns"],
                size: 1,
            },
            Unit {
                names: &["us", "\u{b5}s", "\u{3bc}s"],
                size: 1_000,
            },
            Unit {
                names: &["ms"],
                size: 1_000_000,
            },
            Unit {
                names: &["s"],
                size: 1_000_000_000,
            },
            Unit {
                names: &["min"],
                size: 60_000_000_000,
            },
            Unit {
                names: &["h"],
                size: 3_600_000_000_000,
            },
        ],
        zero: "0 s",
        word: None,
        bare_integer: false,
    };

    fn from_base(base: u64) -> Self {
        Self(base)
    }

    fn to_base(self) -> u64 {
        self.0
    }
}

text::read_and_write_as_text!(Duration);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructors_agree() {
        assert_eq!(Duration::from_secs(2), Duration::from_millis(2_000));
        assert_eq!(Duration::from_millis(2), Duration::from_micros(2_000));
        assert_eq!(Duration::from_micros(2), Duration::from_nanos(2_000));
        assert_eq!(Duration::from_secs(u64::MAX), Duration::MAX);
    }

    #[test]
    fn arithmetic_saturates() {
        let (short, long) = (Duration::from_nanos(3), Duration::from_nanos(10));
        assert_eq!(long - short, Duration::from_nanos(7));
        assert_eq!(short - long, Duration::ZERO);
        assert_eq!(short + long, Duration::from_nanos(13));
        assert_eq!(Duration::MAX + short, Duration::MAX);
        assert_eq!(long * 3, Duration::from_nanos(30));
        assert_eq!(Duration::MAX * 2, Duration::MAX);
        assert_eq!(long / 3, short);
        let mut sum = short;
        sum += long;
        assert_eq!(sum, Duration::from_nanos(13));
        sum -= short;
        assert_eq!(sum, long);
    }

    #[test]
    fn real_seconds_are_checked_and_rounded() {
        assert_eq!(
            Duration::from_secs_f64(1.5),
            Some(Duration::from_millis(1_500))
        );
        assert_eq!(
            Duration::from_secs_f64(1.4e-9),
            Some(Duration::from_nanos(1))
        );
        assert_eq!(
            Duration::from_secs_f64(1.6e-9),
            Some(Duration::from_nanos(2))
        );
        assert_eq!(Duration::from_secs_f64(0.0), Some(Duration::ZERO));
        for bad in [
            -1e-12,
            -1.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            18_446_744_074.0,
        ] {
            assert_eq!(Duration::from_secs_f64(bad), None, "{bad}");
        }
        assert_eq!(Duration::from_millis(1_500).as_secs_f64(), 1.5);
        assert_eq!(Duration::from_micros(1_500).as_millis_f64(), 1.5);
    }
}
