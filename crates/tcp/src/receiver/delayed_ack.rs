//! When to acknowledge (RFC 1122 §4.2.3.2, RFC 5681 §4.2).

use airtcp_units::{Duration, Instant};

use crate::config::DelayedAckConfig;

/// A sender silent for this long has paused.
const PAUSE: Duration = Duration::from_secs(1);

/// An acknowledgment that is delayed, or due.
#[derive(Clone, Debug)]
pub struct DelayedAck {
    segments: u32,
    timeout: Duration,
    waiting: u32,
    deadline: Instant,
    due: bool,
    /// Number of segments still to be acknowledged at once, and its initial value.
    quick: u32,
    quick_at_start: u32,
    last_arrival: Instant,
}

impl DelayedAck {
    /// Creates the state without a delayed acknowledgment.
    pub const fn new(config: &DelayedAckConfig) -> Self {
        Self {
            segments: config.segments,
            timeout: config.timeout,
            waiting: 0,
            deadline: Instant::FAR_FUTURE,
            due: false,
            quick: config.quick,
            quick_at_start: config.quick,
            last_arrival: Instant::ZERO,
        }
    }

    /// Records that a segment arrived in order; a `fin` is acknowledged at once.
    #[inline]
    pub fn on_in_order(&mut self, now: Instant, fin: bool) {
        self.waiting += 1;
        if self.quick_at_start > 0 {
            // Silence of a second: the sender has paused, and starts slowly (Linux,
            // `tcp_event_data_recv`).
            if now - self.last_arrival > PAUSE && self.last_arrival != Instant::ZERO {
                self.quick = self.quick_at_start;
            }
            self.last_arrival = now;
        }
        let quick = self.quick > 0;
        self.quick = self.quick.saturating_sub(1);
        if self.waiting >= self.segments || fin || quick {
            self.due = true;
        } else if self.deadline == Instant::FAR_FUTURE {
            self.deadline = now + self.timeout;
        }
    }

    /// Acknowledges the current segment at once: it let the window grow (Linux, `tcp_grow_window`).
    #[inline]
    pub const fn quicken(&mut self) {
        self.quick |= 1;
    }

    /// Makes an acknowledgment due at once.
    pub const fn demand(&mut self) {
        self.due = true;
    }

    /// Acknowledges the next `segments` one by one.
    pub fn acknowledge_at_once(&mut self, segments: u32) {
        self.quick = self.quick.max(segments);
    }

    /// Records that an acknowledgment was sent.
    #[inline]
    pub const fn on_sent(&mut self) {
        self.waiting = 0;
        self.due = false;
        self.deadline = Instant::FAR_FUTURE;
    }

    /// Makes the acknowledgment due whose deadline has passed.
    pub fn on_wakeup(&mut self, now: Instant) {
        if self.deadline <= now {
            self.due = true;
            self.deadline = Instant::FAR_FUTURE;
        }
    }

    /// Whether one must be sent now.
    #[inline]
    pub const fn is_due(&self) -> bool {
        self.due
    }

    /// Time at which the delayed one becomes due; [`Instant::FAR_FUTURE`] if there is none.
    #[inline]
    pub const fn deadline(&self) -> Instant {
        self.deadline
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Instant = Instant::ZERO;

    fn every_second() -> DelayedAck {
        DelayedAck::new(&DelayedAckConfig::default())
    }

    /// RFC 5681 §4.2: at least every second full-sized segment.
    #[test]
    fn every_second_segment_is_acknowledged_at_once() {
        let mut ack = every_second();
        ack.on_in_order(START, false);
        assert!(!ack.is_due());
        ack.on_in_order(START, false);
        assert!(ack.is_due());
        ack.on_sent();
        assert!(!ack.is_due());
        ack.on_in_order(START, false);
        assert!(!ack.is_due(), "counting restarts after an acknowledgment");
    }

    #[test]
    fn one_segment_turns_the_delay_off() {
        let config = DelayedAckConfig {
            segments: 1,
            ..DelayedAckConfig::default()
        };
        let mut ack = DelayedAck::new(&config);
        ack.on_in_order(START, false);
        assert!(ack.is_due());
        assert_eq!(ack.deadline(), Instant::FAR_FUTURE);
    }

    #[test]
    fn a_single_segment_waits_until_its_deadline_and_no_longer() {
        let mut ack = every_second();
        ack.on_in_order(START, false);
        let deadline = START + Duration::from_millis(40);
        assert_eq!(ack.deadline(), deadline);
        ack.on_wakeup(START + Duration::from_millis(39));
        assert!(!ack.is_due());
        ack.on_wakeup(deadline);
        assert!(ack.is_due());
        assert_eq!(ack.deadline(), Instant::FAR_FUTURE);
    }

    #[test]
    fn the_deadline_is_the_first_waiting_segments() {
        let config = DelayedAckConfig {
            segments: 3,
            quick: 0,
            timeout: Duration::from_millis(40),
        };
        let mut ack = DelayedAck::new(&config);
        ack.on_in_order(START, false);
        ack.on_in_order(START + Duration::from_millis(30), false);
        assert_eq!(ack.deadline(), START + Duration::from_millis(40));
    }

    /// Linux: the first 16 segments are acknowledged one by one, and again after a pause.
    #[test]
    fn the_first_segments_are_acknowledged_at_once() {
        let config = DelayedAckConfig {
            quick: 3,
            ..DelayedAckConfig::default()
        };
        let mut ack = DelayedAck::new(&config);
        let mut take = |milliseconds| {
            ack.on_in_order(START + Duration::from_millis(milliseconds), false);
            let due = ack.is_due();
            if due {
                ack.on_sent();
            }
            due
        };
        let first: Vec<_> = (1..=6).map(&mut take).collect();
        assert_eq!(first, [true, true, true, false, true, false]);
        assert!(take(7));
        assert!(take(2000), "after a pause");
    }

    #[test]
    fn a_fin_and_a_demand_do_not_wait() {
        let mut ack = every_second();
        ack.on_in_order(START, true);
        assert!(ack.is_due());
        let mut ack = every_second();
        ack.demand();
        assert!(ack.is_due());
    }
}
