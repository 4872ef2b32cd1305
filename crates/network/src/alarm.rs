//! Lazy wake-ups: at most one pending event per state machine, however often its time moves.

use airtcp_units::Instant;

use crate::event_queue::EventQueue;

/// The single pending event of a state machine with a timer.
///
/// It is lazy: a deadline that moves later is checked when the event fires, since moving an event
/// at every packet costs more than an occasional spurious event. Only a deadline that moves earlier
/// schedules another event; the overtaken one is then stale and is dropped when it fires.
///
/// ```text
///   rings()    the event that came is this alarm's, and the first of the queue until …
///   rearm()    … it is moved to the next time that is wanted, or taken out
///   arm()      at any other time: an event no later than the deadline
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alarm {
    /// Time of the pending event, or [`Instant::FAR_FUTURE`]. It may be earlier
    /// than the wake-up now wanted.
    pending: Instant,
}

impl Default for Alarm {
    fn default() -> Self {
        Self {
            pending: Instant::FAR_FUTURE,
        }
    }
}

impl Alarm {
    /// Ensures that `event` is pending no later than `wanted`, or at `now` if that is past.
    // Called for every packet, usually with nothing to do: the check is inlined into the caller.
    #[inline(always)]
    pub fn arm<E: Copy>(
        &mut self,
        queue: &mut EventQueue<E>,
        now: Instant,
        wanted: Instant,
        event: E,
    ) {
        if wanted < self.pending {
            self.advance(queue, now, wanted, event);
        }
    }

    /// Schedules an event earlier than the pending one.
    #[inline]
    fn advance<E: Copy>(
        &mut self,
        queue: &mut EventQueue<E>,
        now: Instant,
        wanted: Instant,
        event: E,
    ) {
        debug_assert!(wanted >= now, "somebody wants to be woken in the past");
        self.pending = wanted.max(now);
        queue.schedule(self.pending, event);
    }

    /// Whether the first event of the queue, which is due `now` and names this alarm, still counts:
    /// a stale one is removed.
    #[inline(always)]
    pub fn rings<E: Copy>(self, queue: &mut EventQueue<E>, now: Instant) -> bool {
        if self.pending != now {
            queue.remove_first();
        }
        self.pending == now
    }

    /// Moves the fired event, still first in the queue, to `wanted`, at half the cost of removing
    /// it and adding another. [`Instant::FAR_FUTURE`] removes it.
    #[inline(always)]
    pub fn rearm<E: Copy>(&mut self, queue: &mut EventQueue<E>, now: Instant, wanted: Instant) {
        debug_assert!(wanted >= now, "somebody wants to be woken in the past");
        self.pending = wanted.max(now);
        if wanted == Instant::FAR_FUTURE {
            queue.remove_first();
        } else {
            queue.reschedule_first(self.pending);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    /// A time that moves away keeps its event; one that comes nearer gets another, and the first is
    /// dropped when it comes.
    #[test]
    fn an_alarm_is_lazy() {
        let mut queue = EventQueue::default();
        let mut alarm = Alarm::default();
        alarm.arm(&mut queue, at(0), at(10), 'a');
        alarm.arm(&mut queue, at(1), at(20), 'a');
        assert_eq!((queue.len(), queue.first()), (1, Some((at(10), 'a'))));
        alarm.arm(&mut queue, at(2), at(5), 'a');
        assert_eq!((queue.len(), queue.first()), (2, Some((at(5), 'a'))));
        assert!(alarm.rings(&mut queue, at(5)));
        alarm.rearm(&mut queue, at(5), at(30));
        assert!(!alarm.rings(&mut queue, at(10)), "a stale event counts");
        assert_eq!((queue.len(), queue.first()), (1, Some((at(30), 'a'))));
        assert!(alarm.rings(&mut queue, at(30)));
        alarm.rearm(&mut queue, at(30), Instant::FAR_FUTURE);
        assert!(queue.is_empty());
    }

    /// A state machine that is being woken cannot schedule a second event for itself.
    #[test]
    fn an_alarm_that_rings_is_pending() {
        let mut queue = EventQueue::default();
        let mut alarm = Alarm::default();
        alarm.arm(&mut queue, at(0), at(10), ());
        assert!(alarm.rings(&mut queue, at(10)));
        alarm.arm(&mut queue, at(10), at(10), ());
        alarm.arm(&mut queue, at(10), at(11), ());
        assert_eq!(queue.len(), 1);
        alarm.rearm(&mut queue, at(10), at(11));
        assert_eq!(queue.first(), Some((at(11), ())));
    }
}
