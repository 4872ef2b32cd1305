//! The internet checksum (RFC 1071).

/// A ones' complement sum in progress.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum(u64);

impl Sum {
    /// Adds `bytes` as big-endian 16-bit words; a last odd byte is the high half of a word.
    ///
    /// Only the last piece may be of odd length: the next would start in the middle of a word.
    pub fn add(self, bytes: &[u8]) -> Self {
        // Four words at a time, in the machine's byte order: a carry out of the sum comes back at
        // its low end, and the folded sum is turned around once (RFC 1071 §2(B), §2(C)).
        let (fours, rest) = bytes.as_chunks::<8>();
        let whole = fours.iter().fold(0_u64, |sum, &four| {
            let (sum, carry) = sum.overflowing_add(u64::from_ne_bytes(four));
            sum + u64::from(carry)
        });
        let whole = u64::from(u16::from_be(folded(whole)));
        let (words, rest) = rest.as_chunks::<2>();
        let word: u64 = words
            .iter()
            .map(|&word| u64::from(u16::from_be_bytes(word)))
            .sum();
        let odd = rest.first().map_or(0, |&last| u64::from(last) << 8);
        Self(self.0 + whole + word + odd)
    }

    /// Adds `bytes` that follow a piece of `before` bytes.
    pub fn add_behind(self, before: usize, bytes: &[u8]) -> Self {
        if before.is_multiple_of(2) {
            return self.add(bytes);
        }
        // Each byte is the other half of its word, and so is each half of the sum (RFC 1071
        // §2(B)).
        let swapped = !Self::default().add(bytes).finish();
        Self(self.0 + u64::from(swapped.swap_bytes()))
    }

    /// The checksum: the complement of the sum with its carries folded in. Zero over data that
    /// includes its correct checksum.
    pub fn finish(self) -> u16 {
        !folded(self.0)
    }
}

/// A sum with its carries folded into 16 bits.
const fn folded(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 1071 §3: the numerical example with the sum ddf2.
    #[test]
    fn example_of_rfc_1071() {
        let data = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Sum::default().add(&data).finish(), !0xddf2);
        // In two pieces, §2(A): the order of words does not matter.
        assert_eq!(
            Sum::default().add(&data[4..]).add(&data[..4]).finish(),
            !0xddf2
        );
    }

    #[test]
    fn a_piece_behind_an_odd_one_goes_on_with_its_word() {
        let data: Vec<u8> = (0..=255).map(|byte: u8| byte.wrapping_mul(151)).collect();
        let whole = Sum::default().add(&data).finish();
        for at in 0..data.len() {
            let (first, second) = data.split_at(at);
            let sum = Sum::default().add(first).add_behind(at, second);
            assert_eq!(sum.finish(), whole, "{at}");
        }
    }

    /// Compared with the definition: big-endian words added one by one, the carries at the end.
    #[test]
    fn any_length_sums_as_word_by_word() {
        // Ones first, so that the sum of whole pieces carries.
        let data: Vec<u8> = (0..300_u32)
            .map(|at| {
                if at < 64 {
                    0xff
                } else {
                    ((at * at * 7919) >> 3) as u8
                }
            })
            .collect();
        for length in 0..data.len() {
            let words = data[..length].chunks(2).map(|word| {
                u64::from(word[0]) << 8 | word.get(1).map_or(0, |&second| u64::from(second))
            });
            let mut sum: u64 = words.sum();
            while sum > 0xffff {
                sum = (sum & 0xffff) + (sum >> 16);
            }
            let found = Sum::default().add(&data[..length]).finish();
            assert_eq!(u64::from(!found), sum, "{length}");
        }
    }

    #[test]
    fn an_odd_byte_is_followed_by_zero() {
        let even = Sum::default().add(&[0x12, 0x34, 0x56, 0x00]).finish();
        assert_eq!(Sum::default().add(&[0x12, 0x34, 0x56]).finish(), even);
        assert_eq!(even, !(0x1234 + 0x5600));
    }

    /// A carry out of folding a carry: ffff + 0001 = 1_0000, and ffff_ffff folds twice.
    #[test]
    fn carries_fold_until_none_is_left() {
        assert_eq!(Sum::default().finish(), 0xffff);
        assert_eq!(Sum::default().add(&[0xff, 0xff]).finish(), 0);
        assert_eq!(Sum::default().add(&[0xff, 0xff, 0x00, 0x01]).finish(), !1);
        assert_eq!(Sum(0x1_ffff).finish(), !1);
        assert_eq!(Sum(0xffff_ffff).finish(), 0);
    }

    /// The IPv4 header of RFC 1071's usual illustration: a header including its checksum sums to
    /// zero, and without it gives the checksum.
    #[test]
    fn a_header_with_its_checksum_gives_zero() {
        let mut header = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8,
            0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7,
        ];
        assert_eq!(Sum::default().add(&header).finish(), 0);
        (header[10], header[11]) = (0, 0);
        assert_eq!(Sum::default().add(&header).finish(), 0xb861);
    }
}
