//! Positions in the byte stream: unwrapped sequence numbers.

use airtcp_packet::SequenceNumber;

/// Position of the stream's first byte, so that earlier bytes have positions, too.
pub const ORIGIN: u64 = 1 << 32;
/// Maximum distance of a sequence number from the highest one in the stream.
const FAR: u64 = 1 << 30;

/// The stream's first sequence number, once known from a packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stream {
    base: Option<SequenceNumber>,
}

impl Stream {
    /// Sets the first byte of data. Returns the position of the segment that shows it (a SYN has
    /// the number before the first byte), or `None` if the stream has begun already.
    pub fn begin(&mut self, sequence: SequenceNumber, is_syn: bool) -> Option<u64> {
        if self.base.is_some() {
            return None;
        }
        self.base = Some(if is_syn { sequence + 1 } else { sequence });
        Some(ORIGIN - u64::from(is_syn))
    }

    /// The position of a sequence number nearest to `near`; `None` for a number that cannot be in
    /// this stream.
    pub fn position(&self, number: SequenceNumber, near: u64) -> Option<u64> {
        let low = SequenceNumber(
            number
                .0
                .wrapping_sub(self.base?.0)
                .wrapping_add(ORIGIN as u32),
        );
        let position = low.expand(near);
        (position.abs_diff(near) < FAR).then_some(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_go_on_where_numbers_wrap() {
        let mut stream = Stream::default();
        assert_eq!(stream.position(SequenceNumber(7), ORIGIN), None);
        assert_eq!(
            stream.begin(SequenceNumber(u32::MAX), true),
            Some(ORIGIN - 1)
        );
        assert_eq!(
            stream.begin(SequenceNumber(99), false),
            None,
            "it began already"
        );
        let position = |number, near| stream.position(SequenceNumber(number), near);
        assert_eq!(position(u32::MAX, ORIGIN), Some(ORIGIN - 1), "the SYN");
        assert_eq!(position(0, ORIGIN), Some(ORIGIN));
        let lap = ORIGIN + (1 << 32);
        assert_eq!(position(5, lap), Some(lap + 5), "the second time around");
        assert_eq!(position(1 << 31, ORIGIN), None, "too far away");
    }
}
