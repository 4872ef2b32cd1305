//! Fragmentation of packets.

/// The fragmentation of a packet: equal sizes, except the last fragment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fragments {
    /// Bytes of the packet.
    pub packet: u32,
    /// Maximum number of its bytes in a frame; above zero.
    pub most: u32,
}

impl Fragments {
    /// Bytes of the fragment after the first `done`.
    #[inline]
    pub(super) fn next_bytes(self, done: u32) -> u32 {
        let sent = done.saturating_mul(self.most);
        self.packet.saturating_sub(sent).min(self.most)
    }

    /// Whether the fragment after the first `done` is the last.
    #[inline]
    pub(super) const fn is_last(self, done: u32) -> bool {
        (done + 1).saturating_mul(self.most) >= self.packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        /// Fragments up to the last make up the packet, and only the last is shorter.
        #[test]
        fn fragments_make_up_the_packet(packet in 1..5000_u32, most in 1..2000_u32) {
            let cut = Fragments { packet, most };
            let count = (0..).find(|&done| cut.is_last(done)).unwrap() + 1;
            proptest::prop_assert_eq!(count, packet.div_ceil(most));
            let sizes: Vec<u32> = (0..count).map(|done| cut.next_bytes(done)).collect();
            proptest::prop_assert_eq!(sizes.iter().sum::<u32>(), packet);
            let (last, full) = sizes.split_last().unwrap();
            proptest::prop_assert!(full.iter().all(|&bytes| bytes == most));
            proptest::prop_assert!((1..=most).contains(last));
        }
    }
}
