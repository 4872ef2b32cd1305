//! Written data that is not acknowledged.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// Minimum allocation.
const MIN: usize = 1 << 9;

/// A stream's bytes from the first unacknowledged one on, in a ring that an application can also
/// fill itself. It allocates memory as needed, and frees it when everything is acknowledged.
#[derive(Clone, Debug)]
pub(crate) struct SendBuffer {
    /// The ring: all of its memory, in use or not.
    ring: Vec<u8>,
    /// Index of the first byte in the ring.
    head: usize,
    length: usize,
    /// Offset of the first byte.
    start: u64,
    most: usize,
}

impl SendBuffer {
    /// Creates an empty buffer for at most `most` bytes.
    pub const fn new(most: usize) -> Self {
        Self {
            ring: Vec::new(),
            head: 0,
            length: 0,
            start: 0,
            most,
        }
    }

    /// Bytes for which there is room.
    pub fn room(&self) -> usize {
        self.most.saturating_sub(self.length)
    }

    /// Unacknowledged bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Offset after the last byte.
    pub fn end(&self) -> u64 {
        self.start + self.length as u64
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Changes the limit; bytes already in the buffer stay.
    pub const fn set_most(&mut self, most: usize) {
        self.most = most;
    }

    /// Takes as many of `bytes` as there is room for; returns their number.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(self.room());
        let mut left = &bytes[..taken];
        while !left.is_empty() {
            let written = self.write_with(left.len(), |space| {
                let (now, later) = left.split_at(space.len().min(left.len()));
                space[..now.len()].copy_from_slice(now);
                left = later;
                now.len()
            });
            debug_assert!(written > 0);
        }
        taken
    }

    /// Has `fill` write at most `wanted` bytes in place, limited by the room and by the end of the
    /// ring. Returns the number of bytes that `fill` reports as written.
    pub fn write_with(&mut self, wanted: usize, fill: impl FnOnce(&mut [u8]) -> usize) -> usize {
        let wanted = wanted.min(self.room());
        self.make_space(wanted);
        let (at, _) = self.place(self.length);
        let until = if at < self.head {
            self.head
        } else {
            self.ring.len()
        };
        let space = &mut self.ring[at..until.min(at + wanted)];
        let most = space.len();
        let written = fill(space).min(most);
        self.length += written;
        written
    }

    /// Makes the ring large enough for `more` bytes.
    fn make_space(&mut self, more: usize) {
        let needed = self.length + more;
        if needed <= self.ring.len() {
            return;
        }
        // Doubled each time: a byte is moved only once or twice.
        let doubled = (2 * self.ring.len()).max(MIN).min(self.most);
        let mut ring = vec![0; needed.max(doubled)];
        let [first, second] = self.held(0..self.length);
        ring[..first.len()].copy_from_slice(first);
        ring[first.len()..self.length].copy_from_slice(second);
        self.ring = ring;
        self.head = 0;
    }

    /// The position of byte `index` in the ring, present or future, and whether it has wrapped.
    fn place(&self, index: usize) -> (usize, bool) {
        let at = self.head + index;
        if at < self.ring.len() {
            (at, false)
        } else {
            (at - self.ring.len(), true)
        }
    }

    /// Frees everything below `offset`, which is acknowledged.
    pub fn release(&mut self, offset: u64) {
        let released = usize::try_from(offset.saturating_sub(self.start)).unwrap_or(usize::MAX);
        let released = released.min(self.length);
        if released == 0 {
            return;
        }
        (self.head, _) = self.place(released);
        self.length -= released;
        self.start += released as u64;
        if self.length == 0 {
            self.ring = Vec::new();
            self.head = 0;
        }
    }

    /// The bytes at `range`, in two pieces; bytes outside the buffer are left out.
    pub fn pieces(&self, range: &Range<u64>) -> [&[u8]; 2] {
        let index = |offset: u64| {
            let index = usize::try_from(offset.saturating_sub(self.start)).unwrap_or(usize::MAX);
            index.min(self.length)
        };
        self.held(index(range.start)..index(range.end))
    }

    fn held(&self, range: Range<usize>) -> [&[u8]; 2] {
        if range.is_empty() {
            return [&[], &[]];
        }
        let (from, goes_round) = self.place(range.start);
        let bytes = range.len();
        if goes_round || from + bytes <= self.ring.len() {
            return [&self.ring[from..from + bytes], &[]];
        }
        let first = &self.ring[from..];
        [first, &self.ring[..bytes - first.len()]]
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
        // The ring wraps.
        assert_eq!(buffer.write(b"klmno"), 3);
        assert_eq!(held(&buffer, 3..13), b"defghijklm");
        assert_eq!(held(&buffer, 9..12), b"jkl");
        assert_eq!(held(&buffer, 0..5), b"de");
        assert_eq!(held(&buffer, 12..99), b"m");
        assert_eq!(held(&buffer, 20..30), b"");
    }

    /// Compared with a plain vector.
    #[test]
    fn a_ring_that_goes_round_and_grows_holds_what_was_written() {
        let mut buffer = SendBuffer::new(2000);
        let (mut written, mut released) = (Vec::new(), 0);
        for step in 0..5000_usize {
            // Numbers without a pattern: a multiplicative generator (Park and Miller, 1988).
            let random = step.wrapping_mul(48_271) % 2_147_483_647;
            let wanted = random % 700;
            let room = buffer.room();
            let count = buffer.write_with(wanted, |space| {
                let most = space.len().min(wanted.max(1));
                for byte in &mut space[..most] {
                    *byte = (written.len() % 251) as u8;
                    written.push(*byte);
                }
                most
            });
            assert!(count <= wanted.min(room));
            assert!(count > 0 || wanted == 0 || room == 0);
            if step % 3 == 0 {
                let more = [random as u8; 40];
                let count = buffer.write(&more);
                written.extend(&more[..count]);
            }
            released += (random / 7) % (written.len() - released + 1);
            buffer.release(released as u64);
            assert_eq!(buffer.len(), written.len() - released);
            let all = released as u64..written.len() as u64;
            assert!(held(&buffer, all) == written[released..], "step {step}");
        }
        assert!(released > 100_000, "{released}");
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
