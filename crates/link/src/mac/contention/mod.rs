//! Contention for a channel that stations share: they listen, wait, count slots down, and start
//! (IEEE 802.11-2020 §10.3.4, §10.23.2).

mod back_off;

use airtcp_units::{Duration, Instant};

pub(super) use back_off::{BackOff, SlotCount};

/// A station, or one of its access categories, that contends.
pub(super) trait Contends {
    /// Whether a back-off without slots left is over at once, so that a packet arriving at a busy
    /// medium draws another: EDCA, where the counter is then 0 (§10.23.2.2). In DCF it is pending
    /// until the interframe space has passed (§10.3.4.3).
    const ENDS_AT_ZERO: bool;

    /// Its back-off.
    fn back_off(&self) -> &BackOff;

    /// The same, to change it.
    fn back_off_mut(&mut self) -> &mut BackOff;

    /// Whether it has a frame to send.
    fn has_work(&self) -> bool;
}

/// The medium, as sensed by a contender that has just become backlogged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    pub now: Instant,
    /// An exchange is in progress: no station starts before it has ended.
    pub is_sending: bool,
    /// Whether the contender senses the medium busy.
    pub is_busy: bool,
    /// Start of its slot count: the end of the interframe space.
    pub first_slot: Instant,
}

/// The contenders that count down, backlogged or not, by their indices.
#[derive(Clone, Debug)]
pub(super) struct Contention {
    slot: Duration,
    counting: Vec<u32>,
}

impl Contention {
    /// No contender counts down yet; there are up to `contenders`.
    pub(super) fn new(slot: Duration, contenders: usize) -> Self {
        Self {
            slot,
            counting: Vec::with_capacity(contenders),
        }
    }

    /// The length of a slot.
    #[inline]
    pub(super) const fn slot(&self) -> Duration {
        self.slot
    }

    /// A contender becomes backlogged: returns when it starts if the medium stays idle. If it is
    /// idle now, no back-off is needed, and `start` sets when the frame may start; if not, the
    /// contender backs off, unless a back-off is pending already (§10.3.4.2, §10.23.2.2).
    #[inline]
    pub(super) fn enter<C: Contends>(
        &mut self,
        all: &mut [C],
        contender: u32,
        heard: &Heard,
        start: impl FnOnce(&mut BackOff),
    ) -> Instant {
        let own = all[contender as usize].back_off_mut();
        if !own.is_pending() {
            if heard.is_busy {
                own.count_from(heard.first_slot);
                own.draw();
            } else {
                start(own);
            }
            self.counting.push(contender);
        } else if !heard.is_sending && own.countdown_ends(self.slot) < heard.now {
            // The back-off after its last frame ended while it was not backlogged. That may be
            // before other stations count slots, which only heard its frame collide.
            start(own);
        }
        if heard.is_sending {
            Instant::FAR_FUTURE
        } else {
            own.countdown_ends(self.slot)
        }
    }

    /// A contender that did not count down starts a back-off.
    #[inline]
    pub(super) fn join(&mut self, contender: u32) {
        self.counting.push(contender);
    }

    /// The medium is busy from `now` on: contenders with an ended countdown stop counting, and are
    /// handed to `start` if backlogged. The others wait.
    #[inline]
    pub(super) fn freeze<C: Contends>(
        &mut self,
        all: &mut [C],
        now: Instant,
        mut start: impl FnMut(u32, &mut C),
    ) {
        let Self { slot, counting } = self;
        let slot = *slot;
        // A loop: `Vec::retain` takes twice as long for the usual one or two.
        let mut waiting = 0;
        for place in 0..counting.len() {
            let index = counting[place];
            let own = &mut all[index as usize];
            let back_off = own.back_off_mut();
            if back_off.countdown_ends(slot) > now {
                back_off.freeze(now, slot);
                let is_over = C::ENDS_AT_ZERO && back_off.slots_left() == Some(0);
                if !is_over || own.has_work() {
                    counting[waiting] = index;
                    waiting += 1;
                    continue;
                }
            }
            own.back_off_mut().stop();
            if own.has_work() {
                start(index, own);
            }
        }
        counting.truncate(waiting);
    }

    /// The medium is busy, and a counting contender may not be backlogged: without slots its
    /// back-off is over if [`Contends::ENDS_AT_ZERO`], as in [`freeze`](Self::freeze).
    pub(super) fn end_at_zero<C: Contends>(&mut self, all: &mut [C], contender: u32) {
        let own = &mut all[contender as usize];
        if C::ENDS_AT_ZERO && !own.has_work() && own.back_off().slots_left() == Some(0) {
            own.back_off_mut().stop();
            self.counting.retain(|&index| index != contender);
        }
    }

    /// Start of the next frame if the medium stays idle; [`Instant::FAR_FUTURE`] for never.
    pub(super) fn next_start<C: Contends>(&self, all: &[C]) -> Instant {
        let counting = self.counting.iter().map(|&index| &all[index as usize]);
        counting
            .filter(|own| own.has_work())
            .map(|own| own.back_off().countdown_ends(self.slot))
            .min()
            .unwrap_or(Instant::FAR_FUTURE)
    }

    /// The medium is idle. `from` returns the time from which a contender counts slots, unless it
    /// knows already. Returns the start of the next frame.
    #[inline]
    pub(super) fn resume<C: Contends>(
        &self,
        all: &mut [C],
        mut from: impl FnMut(u32, &C) -> Option<Instant>,
    ) -> Instant {
        let mut next = Instant::FAR_FUTURE;
        for &index in &self.counting {
            let own = &mut all[index as usize];
            if let Some(from) = from(index, own) {
                own.back_off_mut().count_from(from);
            }
            if own.has_work() {
                next = next.min(own.back_off().countdown_ends(self.slot));
            }
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    struct Own<const ENDS_AT_ZERO: bool> {
        back_off: BackOff,
        has_work: bool,
    }

    impl<const ENDS_AT_ZERO: bool> Contends for Own<ENDS_AT_ZERO> {
        const ENDS_AT_ZERO: bool = ENDS_AT_ZERO;

        fn back_off(&self) -> &BackOff {
            &self.back_off
        }

        fn back_off_mut(&mut self) -> &mut BackOff {
            &mut self.back_off
        }

        fn has_work(&self) -> bool {
            self.has_work
        }
    }

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(micros)
    }

    /// Contenders with `slots` slots of 9 µs left, which count at the slots' ends from t = 34 µs.
    fn contenders<const ENDS_AT_ZERO: bool>(
        slots: &[(u32, bool)],
    ) -> (Contention, Vec<Own<ENDS_AT_ZERO>>) {
        let mut contention = Contention::new(Duration::from_micros(9), slots.len());
        let mut all = Vec::new();
        for (index, &(slots, has_work)) in (0..).zip(slots) {
            let stream = Stream::new(1, "contention");
            let mut back_off = BackOff::new((15, 1023), SlotCount::AtEnd, stream);
            back_off.set(slots, at(34));
            all.push(Own { back_off, has_work });
            contention.join(index);
        }
        (contention, all)
    }

    /// §10.3.4.3 in numbers: 2 slots end first, at 34 + 18 = 52 µs, and of
    /// the 5 slots of the other 3 are left. It goes on at 400 µs, and starts 27 µs later.
    #[test]
    fn the_one_with_fewer_slots_starts_and_the_others_keep_the_rest() {
        let (mut contention, mut all) = contenders::<false>(&[(2, true), (5, true)]);
        assert_eq!(contention.next_start(&all), at(52));
        let mut starts = Vec::new();
        contention.freeze(&mut all, at(52), |index, _| starts.push(index));
        assert_eq!(starts, [0]);
        let next = contention.resume(&mut all, |index, _| {
            assert_eq!(index, 1, "the other is not counting");
            Some(at(400))
        });
        assert_eq!(next, at(427));
    }

    /// A packet comes at 100 µs to an idle medium, and at 40 µs to one that is busy until then: the
    /// one leaves at once, the other after a back-off. One comes while a back-off of 5 slots goes
    /// on, to 79 µs, and one when that is over.
    #[test]
    fn who_finds_the_medium_idle_need_not_back_off() {
        let heard = |now, is_busy| Heard {
            now: at(now),
            is_sending: false,
            is_busy,
            first_slot: at(34),
        };
        let enters = |slots: &[(u32, bool)], now, is_busy| {
            let (mut contention, mut all) = contenders::<false>(slots);
            if slots[0].0 == 0 {
                contention.freeze(&mut all, at(34), |_, _| {});
            }
            let start = |own: &mut BackOff| own.take_now(at(now));
            contention.enter(&mut all, 0, &heard(now, is_busy), start)
        };
        assert_eq!(enters(&[(0, false)], 100, false), at(100));
        let back_off = (enters(&[(0, false)], 40, true) - at(34)).as_nanos();
        assert!(back_off <= 15 * 9000 && back_off.is_multiple_of(9000));
        assert_eq!(enters(&[(5, false)], 60, false), at(79));
        assert_eq!(enters(&[(5, false)], 80, false), at(80));
    }

    /// A station without packets has a back-off of 0, which would end with DIFS at 34 µs; another
    /// sends at 20 µs. A packet that comes meanwhile needs no other back-off in DCF, and finds a
    /// counter at 0 in EDCA.
    #[test]
    fn a_back_off_without_slots_is_pending_in_dcf_alone() {
        fn is_pending<const ENDS_AT_ZERO: bool>() -> bool {
            let (mut contention, mut all) = contenders::<ENDS_AT_ZERO>(&[(0, false)]);
            contention.freeze(&mut all, at(20), |_, _| panic!("nothing to send"));
            all[0].back_off.is_pending()
        }
        assert_eq!((is_pending::<false>(), is_pending::<true>()), (true, false));
    }

    /// A back-off without a frame ends silently; equal ones end together, and collide.
    #[test]
    fn who_has_nothing_to_send_starts_nothing() {
        let (mut contention, mut all) = contenders::<false>(&[(1, false), (3, true), (3, true)]);
        assert_eq!(contention.next_start(&all), at(61));
        let mut starts = Vec::new();
        contention.freeze(&mut all, at(61), |index, _| starts.push(index));
        assert_eq!(starts, [1, 2]);
        assert_eq!(contention.next_start(&all), Instant::FAR_FUTURE);
    }
}
