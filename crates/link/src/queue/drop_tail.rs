//! Drop-tail: first in, first out, and packets without room are dropped.
//!
//! Every service here is exogenous (the link does not look at the packets) and first in, first out,
//! so the instant at which a packet leaves the queue is known when it enters. The queue is a ring
//! of these instants: past ones are removed when the queue is read, and leaving costs no event.

use super::QueueLimit;
use airtcp_units::Instant;
use std::collections::VecDeque;

/// A drop-tail queue that knows when each waiting packet will leave.
#[derive(Clone, Debug)]
pub struct DropTail {
    limit: QueueLimit,
    waiting: VecDeque<QueuedPacket>,
    bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct QueuedPacket {
    until: Instant,
    bytes: u32,
}

impl DropTail {
    /// An empty queue.
    pub fn new(limit: QueueLimit) -> Self {
        Self {
            limit,
            waiting: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Admits a packet of `bytes` that arrives at `now` and is to wait until `until`; returns
    /// `false` if there is no room. A packet that need not wait takes no room.
    ///
    /// Neither `now` nor `until` may be earlier than in the call before.
    #[inline]
    pub fn admit(&mut self, now: Instant, until: Instant, bytes: u32) -> bool {
        self.release(now);
        if until <= now {
            return true;
        }
        let has_room = self.limit.has_room(self.waiting.len(), self.bytes, bytes);
        if has_room {
            self.waiting.push_back(QueuedPacket { until, bytes });
            self.bytes += u64::from(bytes);
        }
        has_room
    }

    /// Packets queued at `now`.
    pub fn packets(&mut self, now: Instant) -> usize {
        self.release(now);
        self.waiting.len()
    }

    /// Bytes queued at `now`.
    pub fn bytes(&mut self, now: Instant) -> u64 {
        self.release(now);
        self.bytes
    }

    #[inline]
    fn release(&mut self, now: Instant) {
        while let Some(head) = self.waiting.front()
            && head.until <= now
        {
            self.bytes -= u64::from(head.bytes);
            self.waiting.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::from_nanos(10);
    const LATER: Instant = Instant::from_nanos(20);

    #[test]
    fn a_queue_can_be_filled_to_its_limit() {
        for (limit, fits) in [
            (QueueLimit::Packets(2), 2),
            (QueueLimit::Bytes(2999), 1),
            (QueueLimit::Bytes(3000), 2),
            (QueueLimit::Packets(0), 0),
            (
                QueueLimit::Both {
                    packets: 3,
                    bytes: 3000,
                },
                2,
            ),
            (
                QueueLimit::Both {
                    packets: 1,
                    bytes: 3000,
                },
                1,
            ),
        ] {
            let mut queue = DropTail::new(limit);
            let admitted = (0..5).filter(|_| queue.admit(NOW, LATER, 1500)).count();
            assert_eq!((admitted, queue.packets(NOW)), (fits, fits), "{limit:?}");
            assert_eq!((queue.bytes(LATER), queue.packets(LATER)), (0, 0));
        }
    }

    #[test]
    fn what_need_not_wait_takes_no_room() {
        let mut queue = DropTail::new(QueueLimit::Packets(0));
        assert!(queue.admit(NOW, NOW, 1500));
        assert_eq!(queue.bytes(NOW), 0);
    }
}
