//! A fingerprint of all deliveries and their times: two runs that differ anywhere differ here.

use airtcp_units::Instant;

/// An odd constant with bits spread evenly: 2^64 over the golden ratio, as in Fibonacci hashing
/// (Knuth, The Art of Computer Programming, volume 3, §6.4).
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// An order-dependent sum over deliveries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    /// Adds a delivery: its time, and two words of its contents.
    #[inline]
    pub const fn take(&mut self, now: Instant, first: u64, second: u64) {
        self.mix(now.as_nanos());
        self.mix(first.rotate_left(32) ^ second);
    }

    /// The running sum.
    #[must_use]
    pub const fn value(self) -> u64 {
        self.0
    }

    #[inline]
    const fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(26) ^ word).wrapping_mul(SPREAD);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(deliveries: &[(u64, u64, u64)]) -> Digest {
        let mut digest = Digest::default();
        for &(now, first, second) in deliveries {
            digest.take(Instant::from_nanos(now), first, second);
        }
        digest
    }

    #[test]
    fn depends_on_every_word_and_on_the_order() {
        let reference = digest(&[(1, 2, 3), (4, 5, 6)]);
        assert_eq!(reference, digest(&[(1, 2, 3), (4, 5, 6)]));
        for other in [
            digest(&[(4, 5, 6), (1, 2, 3)]),
            digest(&[(0, 2, 3), (4, 5, 6)]),
            digest(&[(1, 0, 3), (4, 5, 6)]),
            digest(&[(1, 2, 0), (4, 5, 6)]),
            digest(&[(1, 2, 3)]),
        ] {
            assert_ne!(reference.value(), other.value());
        }
    }
}
