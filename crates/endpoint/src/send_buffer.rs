//! What was written and is not acknowledged.

use std::collections::VecDeque;
use std::ops::Range;

/// A stream's bytes from the first that is not acknowledged on. Takes memory as it needs it, and
/// gives it back when all is acknowledged.
#[derive(Clone, Debug)]
pub(crate) struct SendBuffer {
    bytes: VecDeque<u8>,
    /// Offset of the first byte.
    start: u64,
    most: usize,
}

impl SendBuffer {
    /// Nothing is written; at most `most` bytes will wait.
    pub const fn new(most: usize) -> Self {
        Self {
            bytes: VecDeque::new(),
            start: 0,
            most,
        }
    }

    /// Bytes that could be taken now.
    pub fn room(&self) -> usize {
        self.most.saturating_sub(self.bytes.len())
    }

    /// Bytes that are not acknowledged.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The most bytes that wait from now on; what waits stays.
    pub const fn set_most(&mut self, most: usize) {
        self.most = most;
    }

    /// Takes as many of `bytes` as there is room for; returns how many.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(self.room());
        self.bytes.extend(&bytes[..taken]);
        taken
    }

    /// Everything below `offset` is acknowledged.
    pub fn release(&mut self, offset: u64) {
        let released = usize::try_from(offset.saturating_sub(self.start)).unwrap_or(usize::MAX);
        let released = released.min(self.bytes.len());
        if released == 0 {
            return;
        }
        self.bytes.drain(..released);
        self.start += released as u64;
        if self.bytes.is_empty() {
            self.bytes = VecDeque::new();
        }
    }

    /// The bytes at `range`, in two pieces; those that are not held are left out.
    pub fn pieces(&self, range: &Range<u64>) -> [&[u8]; 2] {
        let place = |offset: u64| {
            let index = usize::try_from(offset.saturating_sub(self.start)).unwrap_or(usize::MAX);
            index.min(self.bytes.len())
        };
        let (from, to) = (place(range.start), place(range.end));
        let (first, second) = self.bytes.as_slices();
        let cut = |piece: usize| piece.min(first.len());
        let behind = |piece: usize| piece.saturating_sub(first.len());
        if from >= to {
            return [&[], &[]];
        }
        [
            &first[cut(from)..cut(to)],
            &second[behind(from)..behind(to)],
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(buffer: &SendBuffer, range: Range<u64>) -> Vec<u8> {
        buffer.pieces(&range).concat()
    }

    #[test]
    fn takes_what_there_is_room_for() {
        let mut buffer = SendBuffer::new(10);
        assert_eq!(buffer.write(b"abcdef"), 6);
        assert_eq!(buffer.write(b"ghijkl"), 4);
        assert_eq!(buffer.room(), 0);
        buffer.release(3);
        assert_eq!((buffer.room(), buffer.len()), (3, 7));
        // The ring goes round.
        assert_eq!(buffer.write(b"klmno"), 3);
        assert_eq!(held(&buffer, 3..13), b"defghijklm");
        assert_eq!(held(&buffer, 9..12), b"jkl");
        assert_eq!(held(&buffer, 0..5), b"de");
        assert_eq!(held(&buffer, 12..99), b"m");
        assert_eq!(held(&buffer, 20..30), b"");
    }

    #[test]
    fn acknowledging_more_than_there_is_empties_it() {
        let mut buffer = SendBuffer::new(10);
        buffer.write(b"abc");
        buffer.release(4);
        assert!(buffer.is_empty());
        buffer.write(b"de");
        assert_eq!(held(&buffer, 3..5), b"de");
    }
}
