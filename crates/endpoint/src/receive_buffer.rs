//! Received data that was not read.

use alloc::collections::VecDeque;

/// A stream's bytes from the first unread one on, gaps included. The core decides which bytes
/// count; here they are only stored.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveBuffer {
    bytes: VecDeque<u8>,
    /// Offset of the first byte.
    start: u64,
}

impl ReceiveBuffer {
    pub const fn new() -> Self {
        Self {
            bytes: VecDeque::new(),
            start: 0,
        }
    }

    /// Bytes of memory in use, gaps included.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Stores `bytes` at `offset`; bytes already read are skipped.
    pub fn store(&mut self, offset: u64, bytes: &[u8]) {
        let read = usize::try_from(self.start.saturating_sub(offset)).unwrap_or(usize::MAX);
        let bytes = bytes.get(read..).unwrap_or_default();
        let Ok(at) = usize::try_from(offset.saturating_sub(self.start)) else {
            return;
        };
        if bytes.is_empty() {
            return;
        }
        if at > self.bytes.len() {
            self.bytes.resize(at, 0);
        }
        let overlap = bytes.len().min(self.bytes.len() - at);
        if overlap > 0 {
            self.overwrite(at, &bytes[..overlap]);
        }
        self.bytes.extend(&bytes[overlap..]);
    }

    /// Stores `bytes`, which lie within the stored range, at index `at`.
    fn overwrite(&mut self, at: usize, bytes: &[u8]) {
        let (first, second) = self.bytes.as_mut_slices();
        let in_first = first.len().saturating_sub(at).min(bytes.len());
        let (ahead, behind) = bytes.split_at(in_first);
        let beyond = at.saturating_sub(first.len());
        if in_first > 0 {
            first[at..at + in_first].copy_from_slice(ahead);
        }
        if !behind.is_empty() {
            second[beyond..beyond + behind.len()].copy_from_slice(behind);
        }
    }

    /// The first `available` bytes in two pieces.
    pub fn pieces(&self, available: usize) -> [&[u8]; 2] {
        let (first, second) = self.bytes.as_slices();
        let cut = first.len().min(available);
        let rest = (available - cut).min(second.len());
        [&first[..cut], &second[..rest]]
    }

    /// Removes the first `bytes`, which were read.
    pub fn consume(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes.len());
        self.bytes.drain(..bytes);
        self.start += bytes as u64;
        if self.bytes.is_empty() {
            self.bytes = VecDeque::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_arrive_in_any_order() {
        let mut buffer = ReceiveBuffer::new();
        buffer.store(6, b"ghi");
        buffer.store(0, b"abc");
        assert_eq!(buffer.pieces(3).concat(), b"abc");
        buffer.store(2, b"cdefgh");
        assert_eq!(buffer.pieces(9).concat(), b"abcdefghi");
        buffer.consume(4);
        // Retransmitted from before the unread data, across the ring's edge.
        buffer.store(2, b"cdefghijklmnopqrstuvwxyz");
        assert_eq!(buffer.pieces(99).concat(), b"efghijklmnopqrstuvwxyz");
        buffer.store(0, b"abcd");
        assert_eq!(buffer.len(), 22);
        buffer.consume(22);
        assert_eq!(buffer.len(), 0);
        buffer.store(26, b"!");
        assert_eq!(buffer.pieces(1).concat(), b"!");
    }
}
