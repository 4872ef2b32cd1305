//! The project's only source of randomness: SplitMix64, addressed by counter.
//!
//! SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators",
//! OOPSLA 2014) adds an odd constant to its state and hashes the state; its i-th output is
//! therefore a pure function of the key and of i. A model asks for *the draw of transmission i*
//! instead of "the next number", so a remedy that sends more packets does not shift any other
//! draws, and two remedies meet the same channel (common random numbers).
//!
//! This is airtcp's named, version-stable generator: results printed for a seed stay valid, so
//! neither the constants nor the derivation of keys may ever change.

mod distributions;

/// Steele, Lea & Flood 2014: the odd integer closest to 2^64 divided by the golden ratio.
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// One independent sequence of uniform 64-bit draws, each addressed by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    key: u64,
}

impl Stream {
    /// The stream that `component` (for instance `"link.forward.error"`) owns in a run with `seed`.
    ///
    /// Components with different names draw independently.
    pub fn new(seed: u64, component: &str) -> Self {
        Self {
            key: derive(derive(0, seed), fnv1a(component.as_bytes())),
        }
    }

    /// The part of this stream that belongs to `index`: one flow, one station, one antenna.
    pub const fn substream(&self, index: u64) -> Self {
        Self {
            key: derive(self.key, index),
        }
    }

    /// Draw number `index`, uniform over all of `u64`. A pure function, in any order.
    #[inline]
    pub const fn draw(&self, index: u64) -> u64 {
        mix(self
            .key
            .wrapping_add(index.wrapping_add(1).wrapping_mul(GOLDEN_GAMMA)))
    }
}

/// The output function of SplitMix64 (D. Stafford's "variant 13" of the MurmurHash3 finaliser).
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A key for `index` under `key`. It hashes with the original MurmurHash3 finaliser: were it the
/// output function above, the key of a substream would be one of its parent's draws.
const fn derive(key: u64, index: u64) -> u64 {
    let mut z = key.wrapping_add(index.wrapping_add(1).wrapping_mul(GOLDEN_GAMMA));
    z = (z ^ (z >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    z = (z ^ (z >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    z ^ (z >> 33)
}

/// FNV-1a, 64 bits (G. Fowler, L. Noll, K.-P. Vo): a name as a number, stable for ever.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by `java.util.SplittableRandom` (OpenJDK; written by D. Lea, one of the authors):
    /// `new SplittableRandom(seed).nextLong()`, six times.
    #[test]
    fn draws_are_the_published_sequence() {
        let published: [(u64, [u64; 6]); 3] = [
            (
                0,
                [
                    0xe220a8397b1dcdaf,
                    0x6e789e6aa1b965f4,
                    0x06c45d188009454f,
                    0xf88bb8a8724c81ec,
                    0x1b39896a51a8749b,
                    0x53cb9f0c747ea2ea,
                ],
            ),
            (
                1_234_567,
                [
                    0x599ed017fb08fc85,
                    0x2c73f08458540fa5,
                    0x883ebce5a3f27c77,
                    0x3fbef740e9177b3f,
                    0xe3b8346708cb5ecd,
                    0x6c4f7dbc989944f6,
                ],
            ),
            (
                0x0123_4567_89ab_cdef,
                [
                    0x157a3807a48faa9d,
                    0xd573529b34a1d093,
                    0x2f90b72e996dccbe,
                    0xa2d419334c4667ec,
                    0x01404ce914938008,
                    0x14bc574c2a2b4c72,
                ],
            ),
        ];
        for (key, expected) in published {
            let drawn = std::array::from_fn(|index| Stream { key }.draw(index as u64));
            assert_eq!(drawn, expected, "key {key}");
        }
    }

    /// The authors' test vectors.
    #[test]
    fn names_are_hashed_by_fnv1a() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    /// Any change here changes every printed result: it must be refused.
    #[test]
    fn keys_are_pinned() {
        let stream = Stream::new(1, "link.forward.error");
        assert_eq!(stream, Stream::new(1, "link.forward.error"));
        assert_eq!([stream.draw(0), stream.substream(3).draw(7)], PINNED);
    }
    /// From a second implementation, in Python's integers.
    const PINNED: [u64; 2] = [0x1752_948f_762f_91cf, 0x0d07_6de7_477a_d702];

    /// Streams that differ in one bit of seed, name or index share no more than chance allows:
    /// the XOR of their draws has 32 of 64 bits set, on average over 4096 draws ± 6 standard
    /// errors.
    #[test]
    fn neighbouring_streams_are_unrelated() {
        let base = Stream::new(7, "error");
        let others = [
            Stream::new(6, "error"),
            Stream::new(7, "errors"),
            base.substream(0),
            base.substream(1),
            Stream { key: base.draw(0) },
        ];
        for other in others {
            let differing: u32 = (0..4096)
                .map(|index| (base.draw(index) ^ other.draw(index)).count_ones())
                .sum();
            let mean = f64::from(differing) / 4096.0;
            assert!((mean - 32.0).abs() < 6.0 * 4.0 / 64.0, "{other:?}: {mean}");
        }
    }
}
