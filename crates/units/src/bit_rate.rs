//! Bit rates of links.

use core::fmt;
use core::str::FromStr;

use crate::Duration;
use crate::text::{self, Expected, ParseError, Quantity, Unit};

/// A rate in whole bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(u64);

/// Bits in a byte times nanoseconds in a second.
const BIT_NANOS_PER_BYTE_SECOND: u64 = 8 * 1_000_000_000;

impl BitRate {
    /// `bps` bits per second.
    #[inline]
    #[must_use]
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// Bits per second.
    #[inline]
    #[must_use]
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Time that this rate takes to carry `bytes` bytes, rounded up to the nanosecond.
    ///
    /// [`Duration::MAX`] when the rate is zero or the time does not fit.
    #[inline]
    #[must_use]
    pub fn transmission_time(self, bytes: u64) -> Duration {
        // Packets fit in 64 bits, where division is several times faster than in 128.
        match bytes.checked_mul(BIT_NANOS_PER_BYTE_SECOND) {
            Some(bit_nanos) if self.0 != 0 => Duration::from_nanos(bit_nanos.div_ceil(self.0)),
            _ => self.long_transmission_time(bytes),
        }
    }

    #[cold]
    fn long_transmission_time(self, bytes: u64) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        let bit_nanos = u128::from(bytes) * u128::from(BIT_NANOS_PER_BYTE_SECOND);
        let nanos = bit_nanos.div_ceil(u128::from(self.0));
        u64::try_from(nanos).map_or(Duration::MAX, Duration::from_nanos)
    }
}

impl Quantity for BitRate {
    const EXPECTED: Expected = Expected {
        what: "a bit rate such as \"11 Mbit/s\"",
        units: &[
            Unit {
                names: &["bit/s", "bps"],
                size: 1,
            },
            Unit {
                names: &["kbit/s", "kbps"],
                size: 1_000,
            },
            Unit {
                names: &["Mbit/s", "Mbps"],
                size: 1_000_000,
            },
            Unit {
                names: &["Gbit/s", "Gbps"],
                size: 1_000_000_000,
            },
        ],
        zero: "0 bit/s",
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

text::read_and_write_as_text!(BitRate);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transmission_time_is_exact_and_rounded_up() {
        // 1500 bytes at 10 Mbit/s: 1.2 ms.
        let ten_megabit = BitRate::from_bps(10_000_000);
        assert_eq!(
            ten_megabit.transmission_time(1500),
            Duration::from_micros(1_200)
        );
        assert_eq!(ten_megabit.transmission_time(0), Duration::ZERO);
        // 1 byte at 3 bit/s: 8/3 s.
        assert_eq!(
            BitRate::from_bps(3).transmission_time(1).as_nanos(),
            2_666_666_667
        );
    }

    #[test]
    fn long_transmissions_do_not_overflow() {
        // Past 2^64 bit-nanoseconds: 4 GB at 1 Gbit/s is 32 s.
        let gigabit = BitRate::from_bps(1_000_000_000);
        assert_eq!(
            gigabit.transmission_time(4_000_000_000),
            Duration::from_secs(32)
        );
        assert_eq!(
            BitRate::from_bps(1).transmission_time(u64::MAX),
            Duration::MAX
        );
        assert_eq!(
            BitRate::from_bps(7).transmission_time(u64::MAX),
            Duration::MAX
        );
    }

    #[test]
    fn a_stopped_link_takes_for_ever() {
        assert_eq!(BitRate::from_bps(0).transmission_time(1), Duration::MAX);
        assert_eq!(
            BitRate::from_bps(0).transmission_time(u64::MAX),
            Duration::MAX
        );
    }
}
