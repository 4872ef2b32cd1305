//! The content of streams that tests send, for every test binary that sends one.

/// Bytes without short repetitions: lost, duplicated or moved data is detected.
pub fn bytes(seed: u64, length: usize) -> Vec<u8> {
    // SplitMix64, Steele, Lea & Flood 2014.
    let mut state = seed;
    let mut words = std::iter::from_fn(|| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Some(word ^ (word >> 31))
    });
    let mut made = Vec::with_capacity(length + 8);
    while made.len() < length {
        made.extend(words.next().unwrap_or(0).to_le_bytes());
    }
    made.truncate(length);
    made
}
