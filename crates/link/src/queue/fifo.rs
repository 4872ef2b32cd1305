//! Packets in order of arrival.

use std::collections::VecDeque;

use crate::frame::QueuedPacket;

/// First in, first out.
#[derive(Clone, Debug)]
pub(super) struct Fifo<P> {
    packets: VecDeque<QueuedPacket<P>>,
    bytes: u64,
}

impl<P> Default for Fifo<P> {
    fn default() -> Self {
        Self {
            packets: VecDeque::new(),
            bytes: 0,
        }
    }
}

impl<P> Fifo<P> {
    pub fn push(&mut self, waiting: QueuedPacket<P>) {
        self.bytes += u64::from(waiting.transmission.bytes);
        self.packets.push_back(waiting);
    }

    pub fn pop(&mut self) -> Option<QueuedPacket<P>> {
        let waiting = self.packets.pop_front()?;
        self.bytes -= u64::from(waiting.transmission.bytes);
        Some(waiting)
    }

    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn packets(&self) -> usize {
        self.packets.len()
    }

    pub fn head(&self) -> Option<&QueuedPacket<P>> {
        self.packets.front()
    }
}
