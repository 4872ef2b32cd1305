//! TCP small queues: a flow's bytes in its sender's device (Linux, `tcp_small_queue_check`).

use airtcp_tcp::{Config, Sender};

/// Bytes of a flow in its sender's device, and their limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct SmallQueue {
    shift: u32,
    bytes: u64,
    /// Whether a segment was held back.
    is_throttled: bool,
}

impl SmallQueue {
    /// An empty queue, if the configuration enables it.
    pub(super) fn new(config: &Config) -> Option<Box<Self>> {
        config.small_queue.then(|| {
            Box::new(Self {
                shift: config.pacing_shift,
                bytes: 0,
                is_throttled: false,
            })
        })
    }

    /// Whether the next segment has to wait. With an empty device one may always leave.
    #[inline]
    pub(super) fn holds_back(&mut self, sender: &Sender) -> bool {
        let limit = sender.small_queue(self.shift);
        self.is_throttled = self.bytes > 0 && limit.is_some_and(|limit| self.bytes > limit);
        self.is_throttled
    }

    #[inline]
    pub(super) fn on_sent(&mut self, payload: u32) {
        self.bytes += u64::from(payload);
    }
    /// Records that a segment has left the device; returns whether a held-back one may follow.
    #[inline]
    pub(super) fn on_left(&mut self, payload: u32) -> bool {
        self.bytes = self.bytes.saturating_sub(u64::from(payload));
        self.is_throttled
    }
}
