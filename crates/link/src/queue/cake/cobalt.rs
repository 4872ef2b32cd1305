//! Cobalt, which manages each of CAKE's queues: CoDel for senders that react, and BLUE for those
//! that do not (Linux, `net/sched/sch_cake.c`, `cobalt_*`).
//!
//! It differs from CoDel: its count falls as slowly as it rises, and the first signal is sent an
//! interval after the delay was first above the target by the same timer as all others. The very
//! first one of a queue is an exception: the kernel's reciprocal root is 0 until the count has
//! changed (`cobalt_vars_init`), and so is the interval. A sender that begins with ten segments
//! loses one of them at once if they wait for longer than the target.

use airtcp_units::{Duration, Instant};

/// Steps of BLUE's probability up and down, in fractions of 2^32: 1/256 and 1/4096.
const RISE: u32 = 1 << 24;
const FALL: u32 = 1 << 20;

/// Parameters of the queues of one tin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub target: Duration,
    pub interval: Duration,
    /// Transmission time of a largest packet at the tin's rate; zero without a rate.
    pub packet_time: Duration,
}

/// The fate of a packet at the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Passes,
    IsMarked,
    IsDropped,
}

/// The memory of a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cobalt {
    pub count: u32,
    /// Time of the next signal; if there is no signalling, until when the queue is remembered.
    pub next: Instant,
    is_signalling: bool,
    /// Whether the count has ever changed by one, and with it the kernel's reciprocal root.
    has_counted: bool,
    /// BLUE's probability in fractions of 2^32, and when it last changed.
    pub probability: u32,
    changed: Instant,
}

impl Cobalt {
    /// The fate of a packet that arrived at `since` and is taken at `now`; `draw` is uniform over
    /// all values.
    pub fn verdict(
        &mut self,
        limits: &Limits,
        now: Instant,
        since: Instant,
        is_capable: bool,
        draw: u32,
    ) -> Verdict {
        let sojourn = now - since;
        let mut is_past = now > self.next;
        let is_due = self.count > 0 && now >= self.next;
        let is_above = sojourn > limits.target && sojourn > limits.packet_time * 4;
        if is_above {
            if !self.is_signalling {
                self.is_signalling = true;
                self.next = self.after(now, limits);
            }
            self.count = self.count.max(1);
        } else {
            self.is_signalling = false;
        }
        let mut verdict = Verdict::Passes;
        if is_due && self.is_signalling {
            verdict = if is_capable {
                Verdict::IsMarked
            } else {
                Verdict::IsDropped
            };
            self.count_to(self.count.saturating_add(1));
            self.next = self.after(self.next, limits);
            is_past = now > self.next;
        } else if is_due {
            // The count falls by one for each signal that was not needed.
            loop {
                self.count_to(self.count - 1);
                self.next = self.after(self.next, limits);
                is_past = now > self.next;
                if self.count == 0 || now < self.next {
                    break;
                }
            }
        }
        // BLUE never marks: its senders would not have reacted to a mark.
        if draw < self.probability {
            verdict = Verdict::IsDropped;
        }
        if self.count == 0 {
            self.next = now + limits.interval;
        } else if is_past && verdict != Verdict::IsDropped {
            self.next = now;
        }
        verdict
    }

    /// A packet of the queue was dropped because there was no room.
    pub fn on_overflow(&mut self, limits: &Limits, now: Instant) {
        if now - self.changed > limits.target {
            self.probability = self.probability.saturating_add(RISE);
            self.changed = now;
        }
        self.is_signalling = true;
        self.next = now;
        self.count = self.count.max(1);
    }

    /// The queue was empty at its turn.
    pub fn on_empty(&mut self, limits: &Limits, now: Instant) {
        if self.probability > 0 && now - self.changed > limits.target {
            self.probability = self.probability.saturating_sub(FALL);
            self.changed = now;
        }
        self.is_signalling = false;
        if self.count > 0 && now >= self.next {
            self.count_to(self.count - 1);
            self.next = self.after(self.next, limits);
        }
    }

    /// Whether its state is back at the initial one, so that its queue can be given to another
    /// flow.
    pub fn is_at_rest(&self, now: Instant) -> bool {
        self.probability == 0 && self.count == 0 && now >= self.next
    }

    const fn count_to(&mut self, count: u32) {
        self.count = count;
        self.has_counted = true;
    }

    /// An interval over the root of the count; a count of 0 counts as 1 (`cobalt_control`); at once
    /// if the count has never changed.
    fn after(&self, from: Instant, limits: &Limits) -> Instant {
        if !self.has_counted {
            return from;
        }
        let root = libm::sqrt(f64::from(self.count.max(1)));
        from + Duration::from_nanos(libm::round(limits.interval.as_nanos() as f64 / root) as u64)
    }
}
