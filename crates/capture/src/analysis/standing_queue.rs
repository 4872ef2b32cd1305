//! The delay of a standing queue: one that did not drain within a round trip.

use std::collections::VecDeque;

use airtcp_units::{Duration, Instant};

/// The minimum queueing delay over a recent period: a burst queues behind its first packet and
/// leaves an empty queue, which is not a full link (Nichols and Jacobson, Controlling Queue Delay,
/// ACM Queue 10, 2012).
#[derive(Debug, Default)]
pub(super) struct StandingQueue {
    /// Candidates for the minimum, each larger than the previous one.
    kept: VecDeque<(Instant, Duration)>,
}

impl StandingQueue {
    /// Adds a delay measured at `now`.
    pub fn sample(&mut self, now: Instant, delay: Duration) {
        while self.kept.back().is_some_and(|(_, last)| *last >= delay) {
            self.kept.pop_back();
        }
        self.kept.push_back((now, delay));
    }

    /// The minimum delay over the last `while_`; the latest delay if there is no sample as recent.
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

    /// A burst of three leaves the queue empty; one that queues after another burst does not.
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
