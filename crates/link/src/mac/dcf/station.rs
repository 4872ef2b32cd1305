//! A station's part in the contention: its back-off, its window, its queue.

use super::config::StationConfig;
use crate::mac::contention::{BackOff, Contends, SlotCount};
use crate::mac::transmit_queue::TransmitQueue;
use crate::random::Stream;

/// Counters of a station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StationCounters {
    /// Attempts: data frames or RTS frames with which a contention was won.
    pub attempts: u64,
    /// Of these, collisions.
    pub collisions: u64,
    /// Frames that the radio damaged.
    pub damaged: u64,
    /// Packets that were acknowledged.
    pub acknowledged: u64,
    /// Number of discarded packets.
    pub discarded: u64,
}

/// A station.
#[derive(Clone, Debug)]
pub(super) struct Station<P> {
    pub(super) config: StationConfig,
    pub(super) queue: TransmitQueue<P>,
    pub(super) counters: StationCounters,
    pub(super) back_off: BackOff,
    /// Failed RTS for the chosen packet since it was last cleared to send: its short retry count.
    pub(super) rts_failures: u32,
    /// All failed RTS for the chosen packet.
    pub(super) all_rts_failures: u32,
}

impl<P: Copy> Station<P> {
    pub(super) fn new(config: StationConfig, windows: (u32, u32), draws: Stream) -> Self {
        Self {
            queue: TransmitQueue::new(config.queue, config.order),
            config,
            counters: StationCounters::default(),
            back_off: BackOff::new(windows, SlotCount::AtEnd, draws),
            rts_failures: 0,
            all_rts_failures: 0,
        }
    }

    /// The chosen packet is finished, or will be retried later.
    #[inline]
    pub(super) const fn forget_rts(&mut self) {
        self.rts_failures = 0;
        self.all_rts_failures = 0;
    }
}

impl<P: Copy> Contends for Station<P> {
    const ENDS_AT_ZERO: bool = false;

    #[inline]
    fn back_off(&self) -> &BackOff {
        &self.back_off
    }

    #[inline]
    fn back_off_mut(&mut self) -> &mut BackOff {
        &mut self.back_off
    }

    #[inline]
    fn has_work(&self) -> bool {
        !self.queue.is_empty()
    }
}
