//! 32-bit sequence numbers, which wrap, and their place in a 64-bit stream.

use core::ops::Add;

/// A TCP sequence number, counted modulo 2^32 (RFC 9293 §3.4).
///
/// It has no total order: [`before`](Self::before) and [`after`](Self::after) compare two numbers
/// less than 2^31 apart, which holds within any window. Numbers exactly 2^31 apart have no order in
/// RFC 1982 §3.2; here each is both before and after the other.
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

    /// Bytes by which this number lies past `from`; negative when it lies before it.
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
            None if distance.is_negative() => nearest.wrapping_add(CYCLE),
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HALF: u32 = 1 << 31;

    fn order(a: u32, b: u32) -> (bool, bool, i32) {
        let (a, b) = (SequenceNumber(a), SequenceNumber(b));
        (a.before(b), a.after(b), a.distance(b))
    }

    /// RFC 1982 §5.1 gives the order for serial numbers of two bits and §3.2 the rule; these are
    /// the rule's edges for 32 bits.
    #[test]
    fn order_wraps() {
        assert_eq!(order(5, 5), (false, false, 0));
        assert_eq!(order(5, 6), (true, false, -1));
        assert_eq!(order(6, 5), (false, true, 1));
        assert_eq!(order(u32::MAX, 0), (true, false, -1));
        assert_eq!(order(0, u32::MAX), (false, true, 1));
        assert_eq!(order(0xffff_ff00, 0x100), (true, false, -0x200));
        assert_eq!(order(0, HALF - 1), (true, false, -0x7fff_ffff));
        assert_eq!(order(HALF - 1, 0), (false, true, 0x7fff_ffff));
        assert_eq!(order(0, HALF + 1), (false, true, 0x7fff_ffff));
        assert_eq!(order(HALF + 1, 0), (true, false, -0x7fff_ffff));
    }

    #[test]
    fn half_a_cycle_apart_there_is_no_order() {
        assert_eq!(order(0, HALF), (true, true, i32::MIN));
        assert_eq!(order(HALF, 0), (true, true, i32::MIN));
    }

    #[test]
    fn addition_wraps() {
        assert_eq!(SequenceNumber(u32::MAX) + 1, SequenceNumber(0));
        assert_eq!(SequenceNumber(0xffff_fff0) + 0x20, SequenceNumber(0x10));
        assert_eq!(SequenceNumber(3) + 4, SequenceNumber(7));
    }

    #[test]
    fn expands_to_the_nearest() {
        let expand = |number: u32, near: u64| SequenceNumber(number).expand(near);
        assert_eq!(expand(7, 0), 7);
        assert_eq!(expand(0, 0xffff_ffff), 0x1_0000_0000);
        assert_eq!(expand(u32::MAX, 0x1_0000_0000), 0xffff_ffff);
        assert_eq!(expand(0x10, 0x5_ffff_fff0), 0x6_0000_0010);
        // Half a cycle away on both sides: the lower.
        assert_eq!(expand(0, 0x1_8000_0000), 0x1_0000_0000);
        assert_eq!(expand(1, 0x1_8000_0000), 0x1_0000_0001);
        assert_eq!(expand(u32::MAX, 0x1_7fff_fffe), 0x0_ffff_ffff);
        assert_eq!(expand(u32::MAX, 0x1_7fff_ffff), 0x0_ffff_ffff);
        assert_eq!(expand(u32::MAX, 0x1_8000_0000), 0x1_ffff_ffff);
    }

    #[test]
    fn expansion_stays_in_range() {
        assert_eq!(SequenceNumber(u32::MAX).expand(0), 0xffff_ffff);
        assert_eq!(SequenceNumber(HALF).expand(0), 0x8000_0000);
        assert_eq!(SequenceNumber(u32::MAX).expand(u64::MAX), u64::MAX);
        assert_eq!(SequenceNumber(0).expand(u64::MAX), 0xffff_ffff_0000_0000);
        assert_eq!(
            SequenceNumber(5).expand(u64::MAX - 3),
            0xffff_ffff_0000_0005
        );
    }

    proptest! {
        /// The property that defines it: congruent, and no further than half a cycle.
        #[test]
        fn expansion_is_congruent_and_near(offset: u64, shift: i32) {
            let near = offset.saturating_add(1 << 32).min(u64::MAX - (1 << 32));
            let value = near.wrapping_add_signed(i64::from(shift));
            prop_assert_eq!(SequenceNumber(value as u32).expand(near), value);
        }

        #[test]
        fn distance_undoes_addition(start: u32, step in 0..HALF) {
            let (from, to) = (SequenceNumber(start), SequenceNumber(start) + step);
            prop_assert_eq!(to.distance(from), step.cast_signed());
            prop_assert_eq!(from.before(to), step != 0);
            prop_assert_eq!(to.after(from), step != 0);
        }
    }
}
