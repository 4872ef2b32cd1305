//! A station's part in the contention: its back-off, its window, its queue.

use airtcp_units::{Duration, Instant};

use super::config::StationConfig;
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
    /// Packets that were given up.
    pub discarded: u64,
}

/// A station. While it counts down, its frame may start `back_off` slots after `counts_from`.
#[derive(Clone, Debug)]
pub(super) struct Station<P> {
    pub(super) config: StationConfig,
    pub(super) queue: TransmitQueue<P>,
    pub(super) counters: StationCounters,
    /// Contention window in slots.
    window: u32,
    /// Slots still to count; `None` when no back-off is pending.
    pub(super) back_off: Option<u32>,
    /// The end of the interframe space after which slots are counted.
    pub(super) counts_from: Instant,
    /// RTS in vain for the chosen packet since it was last cleared to send: its short retry count.
    pub(super) rts_failures: u32,
    /// All RTS in vain for the chosen packet.
    pub(super) all_rts_failures: u32,
    draws: Stream,
    drawn: u64,
}

impl<P: Copy> Station<P> {
    pub(super) fn new(config: StationConfig, window: u32, draws: Stream) -> Self {
        Self {
            queue: TransmitQueue::new(config.queue, config.order),
            config,
            counters: StationCounters::default(),
            window,
            back_off: None,
            counts_from: Instant::ZERO,
            rts_failures: 0,
            all_rts_failures: 0,
            draws,
            drawn: 0,
        }
    }

    /// Draws a back-off, uniform from 0 to the window (IEEE 802.11-2016 §10.3.3).
    #[inline]
    pub(super) fn draw_back_off(&mut self) {
        let draw = u128::from(self.draws.draw(self.drawn));
        self.drawn += 1;
        let slots = (draw * (u128::from(self.window) + 1)) >> 64;
        self.back_off = Some(slots as u32);
    }

    /// The chosen packet is done with, for good or for now.
    #[inline]
    pub(super) const fn forget_rts(&mut self) {
        self.rts_failures = 0;
        self.all_rts_failures = 0;
    }

    /// After a success, that of a fragment too, or when a frame is given up (§10.3.3).
    #[inline]
    pub(super) const fn reset_window(&mut self, smallest: u32) {
        self.window = smallest;
    }

    /// After a failure: the next power of two, less one (§10.3.3).
    #[inline]
    pub(super) fn double_window(&mut self, largest: u32) {
        self.window = (2 * self.window + 1).min(largest);
    }

    /// When the station's countdown ends.
    #[inline]
    pub(super) fn countdown_ends(&self, slot: Duration) -> Instant {
        let slots = self.back_off.unwrap_or(0);
        self.counts_from + slot * u64::from(slots)
    }

    /// The medium is busy from `busy` on: slots that have passed whole are counted, the rest wait.
    #[inline]
    pub(super) fn freeze(&mut self, busy: Instant, slot: Duration) {
        let idle = busy - self.counts_from;
        if let Some(slots) = &mut self.back_off
            && idle >= slot
        {
            let passed = idle.as_nanos() / slot.as_nanos();
            *slots = slots.saturating_sub(u32::try_from(passed).unwrap_or(u32::MAX));
        }
    }
}
