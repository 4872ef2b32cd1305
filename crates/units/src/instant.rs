//! A point in virtual or real time, counted from the start of the run.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};
use core::str::FromStr;

use crate::Duration;
use crate::text::{self, Expected, ParseError, Quantity};

/// Nanoseconds since the start of the run.
///
/// 64 bits hold 584 years. The last value, [`Instant::FAR_FUTURE`], means "never": a timer that is
/// not set. Arithmetic saturates, so "never" plus any duration stays "never".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Never: later than every other instant.
    pub const FAR_FUTURE: Self = Self(u64::MAX);

    /// The instant `nanos` nanoseconds after the start.
    #[inline]
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the start.
    #[inline]
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start, rounded to the nearest `f64`; for output only.
    #[inline]
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    #[inline]
    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration.as_nanos()))
    }
}

impl AddAssign<Duration> for Instant {
    #[inline]
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub for Instant {
    type Output = Duration;

    /// The time from `earlier` to `self`; zero when `earlier` is in fact later.
    #[inline]
    fn sub(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// How [`Instant::FAR_FUTURE`] is written.
const NEVER: &str = "never";

impl Quantity for Instant {
    const EXPECTED: Expected = Expected {
        what: "a time since the start such as \"1.5 s\"",
        word: Some((NEVER, u64::MAX)),
        ..Duration::EXPECTED
    };

    fn from_base(base: u64) -> Self {
        Self(base)
    }

    fn to_base(self) -> u64 {
        self.0
    }
}

text::read_and_write_as_text!(Instant);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_stays_never() {
        assert_eq!(
            Instant::FAR_FUTURE + Duration::from_nanos(1),
            Instant::FAR_FUTURE
        );
        assert_eq!(Instant::from_nanos(5) + Duration::MAX, Instant::FAR_FUTURE);
        assert_eq!(Instant::FAR_FUTURE.to_string(), "never");
        assert_eq!("never".parse(), Ok(Instant::FAR_FUTURE));
        assert!("18446744073709551614 ns".parse::<Instant>().unwrap() < Instant::FAR_FUTURE);
    }

    #[test]
    fn the_past_is_no_distance_away() {
        let (early, late) = (Instant::from_nanos(3), Instant::from_nanos(10));
        assert_eq!(late - early, Duration::from_nanos(7));
        assert_eq!(early - late, Duration::ZERO);
        let mut now = early;
        now += Duration::from_nanos(7);
        assert_eq!(now, late);
    }

    #[test]
    fn seconds_for_output() {
        assert_eq!(Instant::from_nanos(1_500_000_000).as_secs_f64(), 1.5);
        assert_eq!(Instant::default(), Instant::ZERO);
        assert_eq!(Instant::ZERO.to_string(), "0 s");
    }
}
