//! The back-off of a contender (IEEE 802.11-2020 §10.3.3, §10.23.2).

use airtcp_units::{Duration, Instant};

use crate::random::Stream;

/// A contender's back-off. While one is pending, its frame may start `slots` slots after
/// `counts_from`.
#[derive(Clone, Debug)]
pub(in crate::mac) struct BackOff {
    /// Contention window in slots, with its lower and upper bound.
    window: u32,
    limits: (u32, u32),
    count: SlotCount,
    /// Slots still to count; `None` when no back-off is pending.
    slots: Option<u32>,
    /// The end of the interframe space after which slots are counted.
    counts_from: Instant,
    draws: Stream,
    drawn: u64,
}

/// The time at which a slot is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mac) enum SlotCount {
    /// At its end, if the medium was idle throughout: DCF (§10.3.4.3).
    AtEnd,
    /// At its start, the first one at the end of the interframe space: EDCA, in which a counter
    /// goes down by one for each busy period at least (§10.23.2.4).
    AtStart,
}

impl BackOff {
    /// No back-off is pending. The window lies between `smallest` and `largest`.
    pub(in crate::mac) const fn new(
        (smallest, largest): (u32, u32),
        count: SlotCount,
        draws: Stream,
    ) -> Self {
        Self {
            window: smallest,
            limits: (smallest, largest),
            count,
            slots: None,
            counts_from: Instant::ZERO,
            draws,
            drawn: 0,
        }
    }

    /// Whether a back-off is pending.
    #[inline]
    pub(in crate::mac) const fn is_pending(&self) -> bool {
        self.slots.is_some()
    }

    /// Slots still to count.
    #[inline]
    pub(super) const fn slots_left(&self) -> Option<u32> {
        self.slots
    }

    /// Draws a back-off, uniform from 0 to the window (§10.3.3).
    #[inline]
    pub(in crate::mac) fn draw(&mut self) {
        let draw = u128::from(self.draws.draw(self.drawn));
        self.drawn += 1;
        let slots = (draw * (u128::from(self.window) + 1)) >> 64;
        self.slots = Some(slots as u32);
    }

    /// Slots are counted from then on.
    #[inline]
    pub(in crate::mac) const fn count_from(&mut self, first: Instant) {
        self.counts_from = first;
    }

    /// After a success, that of a fragment too, or when a frame is given up (§10.3.3).
    #[inline]
    pub(in crate::mac) const fn reset_window(&mut self) {
        self.window = self.limits.0;
    }

    /// After a failure: the next power of two, less one (§10.3.3).
    #[inline]
    pub(in crate::mac) fn double_window(&mut self) {
        self.window = (2 * self.window + 1).min(self.limits.1);
    }

    /// No back-off is needed: the frame starts at `now`.
    #[inline]
    pub(in crate::mac) const fn take_now(&mut self, now: Instant) {
        self.slots = Some(0);
        self.counts_from = now;
    }

    /// No back-off is needed: the frame may start at the first slot boundary from `now` on. The
    /// boundaries continue while the medium is idle (§10.23.2.4).
    #[inline]
    pub(in crate::mac) fn take_next_slot(&mut self, now: Instant, first: Instant, slot: Duration) {
        let passed = (now - first).as_nanos().div_ceil(slot.as_nanos().max(1));
        self.take_now(first + slot * passed);
    }

    /// End of the countdown.
    #[inline]
    pub(in crate::mac) fn countdown_ends(&self, slot: Duration) -> Instant {
        let slots = self.slots.unwrap_or(0);
        self.counts_from + slot * u64::from(slots)
    }

    /// The countdown has ended: no back-off is pending.
    #[inline]
    pub(super) const fn stop(&mut self) {
        self.slots = None;
    }

    /// The medium is busy from `busy` on: slots that have passed are counted, the rest remain.
    #[inline]
    pub(super) fn freeze(&mut self, busy: Instant, slot: Duration) {
        let Some(slots) = &mut self.slots else {
            return;
        };
        let idle = busy - self.counts_from;
        let mut passed = 0;
        if idle >= slot {
            passed = idle.as_nanos() / slot.as_nanos();
        }
        if self.count == SlotCount::AtStart && busy >= self.counts_from {
            passed += 1;
        }
        if passed > 0 {
            *slots = slots.saturating_sub(u32::try_from(passed).unwrap_or(u32::MAX));
        }
    }

    #[cfg(test)]
    pub(super) const fn set(&mut self, slots: u32, counts_from: Instant) {
        (self.slots, self.counts_from) = (Some(slots), counts_from);
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
            let mut own = BackOff::new((15, 1023), count, Stream::new(1, "contention"));
            own.set(5, at(100));
            own.freeze(at(busy), Duration::from_micros(9));
            own.slots_left()
        };
        for (busy, at_end, at_start) in [(99, 5, 5), (100, 5, 4), (108, 5, 4), (118, 3, 2)] {
            assert_eq!(left(busy, SlotCount::AtEnd), Some(at_end), "{busy}");
            assert_eq!(left(busy, SlotCount::AtStart), Some(at_start), "{busy}");
        }
    }

    /// §10.3.3: from 15 the window grows to 31, 63, … and stays at 1023, until a frame succeeds.
    /// Draws reach both ends of the window.
    #[test]
    fn windows_grow_by_powers_of_two() {
        let mut own = BackOff::new((15, 1023), SlotCount::AtEnd, Stream::new(1, "contention"));
        let mut windows = Vec::new();
        for _ in 0..8 {
            windows.push(own.window);
            own.double_window();
        }
        assert_eq!(windows, [15, 31, 63, 127, 255, 511, 1023, 1023]);
        own.reset_window();
        let mut drawn: Vec<u32> = (0..1000)
            .map(|_| {
                own.draw();
                own.slots.unwrap()
            })
            .collect();
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn, (0..=15).collect::<Vec<_>>());
    }
}
