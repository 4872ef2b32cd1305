//! The back-off with which stations contend for a channel (IEEE 802.11-2020 §10.3.3, §10.23.2).

use airtcp_units::{Duration, Instant};

use crate::random::Stream;

/// A contender's back-off. While one is pending, its frame may start `slots` slots after
/// `counts_from`.
#[derive(Clone, Debug)]
pub(super) struct BackOff {
    /// Contention window in slots.
    window: u32,
    /// Slots still to count; `None` when no back-off is pending.
    pub(super) slots: Option<u32>,
    /// The end of the interframe space after which slots are counted.
    pub(super) counts_from: Instant,
    draws: Stream,
    drawn: u64,
}

/// When a slot is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotCount {
    /// At its end, if the medium was idle throughout: DCF (§10.3.4.3).
    AtEnd,
    /// At its start, the first one at the end of the interframe space: EDCA, in which a counter
    /// goes down by one for each busy period at least (§10.23.2.4).
    AtStart,
}

impl BackOff {
    pub(super) const fn new(window: u32, draws: Stream) -> Self {
        Self {
            window,
            slots: None,
            counts_from: Instant::ZERO,
            draws,
            drawn: 0,
        }
    }

    /// Draws a back-off, uniform from 0 to the window (§10.3.3).
    #[inline]
    pub(super) fn draw(&mut self) {
        let draw = u128::from(self.draws.draw(self.drawn));
        self.drawn += 1;
        let slots = (draw * (u128::from(self.window) + 1)) >> 64;
        self.slots = Some(slots as u32);
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

    /// No back-off is needed: the frame may start at the first slot boundary from `now` on. The
    /// boundaries go on while the medium is idle (§10.23.2.4).
    #[inline]
    pub(super) fn take_next_slot(&mut self, now: Instant, first: Instant, slot: Duration) {
        let passed = (now - first).as_nanos().div_ceil(slot.as_nanos().max(1));
        self.slots = Some(0);
        self.counts_from = first + slot * passed;
    }

    /// When the countdown ends.
    #[inline]
    pub(super) fn countdown_ends(&self, slot: Duration) -> Instant {
        let slots = self.slots.unwrap_or(0);
        self.counts_from + slot * u64::from(slots)
    }

    /// The medium is busy from `busy` on: slots that have passed are counted, the rest wait.
    #[inline]
    pub(super) fn freeze(&mut self, busy: Instant, slot: Duration, count: SlotCount) {
        let Some(slots) = &mut self.slots else {
            return;
        };
        let idle = busy - self.counts_from;
        let mut passed = 0;
        if idle >= slot {
            passed = idle.as_nanos() / slot.as_nanos();
        }
        if count == SlotCount::AtStart && busy >= self.counts_from {
            passed += 1;
        }
        if passed > 0 {
            *slots = slots.saturating_sub(u32::try_from(passed).unwrap_or(u32::MAX));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five slots of 9 µs from t = 100 µs on; the medium is busy from t = 118 µs on: two slots have
    /// ended, three have begun. Before t = 100 µs neither.
    #[test]
    fn slots_are_counted_at_their_end_or_at_their_start() {
        let at = |micros| Instant::ZERO + Duration::from_micros(micros);
        let left = |busy, count| {
            let mut own = BackOff::new(15, Stream::new(1, "contention"));
            (own.slots, own.counts_from) = (Some(5), at(100));
            own.freeze(at(busy), Duration::from_micros(9), count);
            own.slots
        };
        for (busy, at_end, at_start) in [(99, 5, 5), (100, 5, 4), (108, 5, 4), (118, 3, 2)] {
            assert_eq!(left(busy, SlotCount::AtEnd), Some(at_end), "{busy}");
            assert_eq!(left(busy, SlotCount::AtStart), Some(at_start), "{busy}");
        }
    }
}
