//! Rounding, which `core` has only for integers.

/// The integer nearest to a number from 0 to below 2^64, halves away from zero, like `f64::round`.
#[inline]
pub fn nearest(number: f64) -> u64 {
    let below = number as u64;
    // Both are exact: from 2^52 on there are no fractions.
    below + u64::from(number - below as f64 >= 0.5)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn halves_go_up_and_large_numbers_stay() {
        // The last f64 below a half, and the first odd integer with no representable half next to
        // it: adding a half to either rounds up.
        for number in [
            0.0,
            0.499_999_999_999_999_94,
            0.5,
            1.5,
            2.5,
            4_503_599_627_370_497.0,
        ] {
            assert_eq!(nearest(number), number.round() as u64, "{number}");
        }
        assert_eq!(
            nearest(18_446_744_073_709_549_568.0),
            18_446_744_073_709_549_568
        );
    }

    proptest! {
        #[test]
        fn it_is_what_std_has(bits in 0..0x43f0_0000_0000_0000_u64) {
            // Every f64 from 0 to below 2^64.
            let number = f64::from_bits(bits);
            prop_assert_eq!(nearest(number), number.round() as u64);
        }
    }
}
