//! A send buffer of limited size: data beyond it waits with the application.

/// A limit on the data written and not yet acknowledged.
///
/// As in Linux: a blocked writer is woken once a third of the buffer is free
/// (`sk_stream_write_space`), and then fills it with whole segments (`tcp_sendmsg_locked` looks for
/// room before each `sk_buff`, not before each byte).
#[derive(Clone, Debug)]
pub(super) struct SendBuffer {
    most: u64,
    /// Bytes of the application's writes that have no room yet.
    waiting: u64,
    closes: bool,
}

impl SendBuffer {
    /// Creates an empty buffer of `most` bytes.
    pub const fn new(most: u64) -> Self {
        Self {
            most,
            waiting: 0,
            closes: false,
        }
    }

    /// Takes `bytes` that the application writes. Ignored after [`close`](Self::close).
    pub const fn write(&mut self, bytes: u64) {
        if !self.closes {
            self.waiting = self.waiting.saturating_add(bytes);
        }
    }

    /// Closes the stream after the data written.
    pub const fn close(&mut self) {
        self.closes = true;
    }

    /// Whether the application has closed the stream.
    pub const fn is_closed(&self) -> bool {
        self.closes
    }

    /// Bytes that have no room yet.
    pub const fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Takes the bytes for which there is room, in segments of `mss`, while the buffer holds
    /// `held`.
    pub fn take(&mut self, held: u64, mss: u64) -> u64 {
        let free = self.most.saturating_sub(held);
        if free == 0 || free < held / 2 {
            return 0;
        }
        let bytes = free.next_multiple_of(mss.max(1)).min(self.waiting);
        self.waiting -= bytes;
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1448;

    /// `__sk_stream_is_writeable`: the free space is at least half of the data queued.
    #[test]
    fn the_writer_is_woken_once_a_third_is_free() {
        let mut buffer = SendBuffer::new(30 * MSS);
        buffer.write(u64::MAX);
        assert_eq!(buffer.take(0, MSS), 30 * MSS);
        assert_eq!(buffer.take(21 * MSS, MSS), 0);
        assert_eq!(buffer.take(20 * MSS, MSS), 10 * MSS);
    }

    /// A buffer of 64 kB has been seen to let 46 segments of 1448 bytes be in flight, not 45.
    #[test]
    fn whole_segments_are_written() {
        let mut buffer = SendBuffer::new(65_536);
        buffer.write(1_000_000);
        assert_eq!(buffer.take(0, MSS), 46 * MSS);
        let mut least = SendBuffer::new(1);
        least.write(5000);
        assert_eq!(least.take(0, MSS), MSS);
    }

    #[test]
    fn the_end_is_written_as_it_is() {
        let mut buffer = SendBuffer::new(65_536);
        buffer.write(100);
        buffer.close();
        buffer.write(7);
        assert_eq!(buffer.take(0, MSS), 100);
        assert_eq!(buffer.waiting(), 0);
        assert!(buffer.is_closed());
    }
}
