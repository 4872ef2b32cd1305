//! 32-bit sequence numbers, which wrap, and their place in a 64-bit stream.

use std::ops::Add;

/// A TCP sequence number, counted modulo 2^32 (RFC 9293 §3.4).
///
/// It has no total order: [`before`](Self::before) and [`after`](Self::after) compare two numbers
/// that are less than 2^31 apart, as those of one window always are. Numbers exactly 2^31 apart
/// have no order in RFC 1982 §3.2; here each is both before and after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SequenceNumber(pub u32);

impl SequenceNumber {
    /// Whether this number comes earlier in the stream than `other`.
    #[inline]
    #[must_use]
    pub const fn before(self, other: Self) -> bool {
        self.distance(other) < 0
    }

    /// Whether this number comes later in the stream than `other`.
    #[inline]
    #[must_use]
    pub const fn after(self, other: Self) -> bool {
        other.before(self)
    }

    /// How many bytes this number lies past `from`; negative when it lies before it.
    #[inline]
    #[must_use]
    pub const fn distance(self, from: Self) -> i32 {
        self.0.wrapping_sub(from.0).cast_signed()
    }

    /// The 64-bit value congruent to this number modulo 2^32 that is nearest to `near`; the lower
    /// one when two are equally near. Never leaves the range of `u64`.
    #[inline]
    #[must_use]
    pub const fn expand(self, near: u64) -> u64 {
        const CYCLE: u64 = 1 << 32;
        let distance = self.distance(Self(near as u32)) as i64;
        let nearest = near.wrapping_add_signed(distance);
        // Beyond either end of the range, the next cycle inward is the nearest that exists.
        match near.checked_add_signed(distance) {
            Some(value) => value,
            None if distance < 0 => nearest.wrapping_add(CYCLE),
            None => nearest.wrapping_sub(CYCLE),
        }
    }
}

impl Add<u32> for SequenceNumber {
    type Output = Self;

    /// The number `bytes` further on, wrapping.
    #[inline]
    fn add(self, bytes: u32) -> Self {
        Self(self.0.wrapping_add(bytes))
    }
}
