//! The delay of a queue that never drained within a round trip.

use std::collections::VecDeque;

use airtcp_units::{Duration, Instant};

/// The shortest queueing delay of the last while: a burst queues behind itself and leaves an empty
/// queue, which is no full link (Nichols and Jacobson, Controlling Queue Delay, ACM Queue 10,
/// 2012).
#[derive(Debug, Default)]
pub(super) struct StandingQueue {
    /// Delays that may still be the shortest, each longer than the one before.
    kept: VecDeque<(Instant, Duration)>,
}

impl StandingQueue {
    /// Takes a delay that was measured at `now`.
    pub fn sample(&mut self, now: Instant, delay: Duration) {
        while self.kept.back().is_some_and(|(_, last)| *last >= delay) {
            self.kept.pop_back();
        }
        self.kept.push_back((now, delay));
    }

    /// The shortest delay of the last `while_`; the latest where none is as young.
    pub fn delay(&mut self, now: Instant, while_: Duration) -> Duration {
        while self.kept.len() > 1
            && self
                .kept
                .front()
                .is_some_and(|(time, _)| *time + while_ < now)
        {
            self.kept.pop_front();
        }
        self.kept
            .front()
            .map_or(Duration::ZERO, |(_, delay)| *delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A burst of three that queues behind itself leaves the queue empty; one behind another
    /// burst's does not.
    #[test]
    fn a_burst_is_no_standing_queue() {
        let ms = Duration::from_millis;
        let at = |millis| Instant::ZERO + ms(millis);
        let mut queue = StandingQueue::default();
        for (time, delay) in [(0, 0), (10, 10), (20, 20)] {
            queue.sample(at(time), ms(delay));
        }
        assert_eq!(queue.delay(at(20), ms(100)), Duration::ZERO);
        assert_eq!(queue.delay(at(105), ms(100)), ms(10));
        assert_eq!(queue.delay(at(500), ms(100)), ms(20));
    }
}
