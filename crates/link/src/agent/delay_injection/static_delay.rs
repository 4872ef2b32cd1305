//! A constant delay at constant distances.
//!
//! T. Klein, K. Leung, R. Parkinson, L. Samuel, "Avoiding Spurious TCP Timeouts in Wireless
//! Networks by Delay Injection", GLOBECOM 2004, as Fotiadis & Siris §II describe it: "injecting
//! static or random delay over static or random intervals". The exact algorithm is not known.

use std::num::NonZeroU64;

use airtcp_units::{Duration, Instant};

use super::{LONGEST_HOLD, UP_TO_LONGEST_HOLD};
use crate::agent::parameter::{ParameterError, check_duration};

/// The parameters of static delay injection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaticDelay {
    /// Holding time of an acknowledgment.
    pub delay: Duration,
    /// Which.
    pub every: Distance,
}

/// Which acknowledgments are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// Each n-th of a connection.
    Acknowledgments(NonZeroU64),
    /// The first in each period of this length, counted from the connection's first
    /// acknowledgment. Zero holds all.
    Time(Duration),
}

impl StaticDelay {
    pub(super) fn check(&self) -> Result<(), ParameterError> {
        check_duration(
            "delay",
            self.delay,
            (Duration::ZERO, LONGEST_HOLD),
            UP_TO_LONGEST_HOLD,
            "hold no longer than a sender's timer lasts",
        )
    }
}

/// Where a connection is in its periods.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    count: u64,
    /// When the next period begins; none before the first acknowledgment.
    next: Option<Instant>,
}

impl Schedule {
    pub(super) const fn new() -> Self {
        Self {
            count: 0,
            next: None,
        }
    }

    /// Holding time of the acknowledgment that passes at `now`.
    pub(super) fn hold(&mut self, rule: &StaticDelay, now: Instant) -> Duration {
        self.count = self.count.wrapping_add(1);
        let chosen = match rule.every {
            Distance::Acknowledgments(n) => self.count % n == 0,
            Distance::Time(Duration::ZERO) => true,
            Distance::Time(period) => {
                let begins = self.next.unwrap_or(now);
                let due = now >= begins;
                if due {
                    let begun = (now - begins).as_nanos() / period.as_nanos() + 1;
                    self.next = Some(begins + period * begun);
                }
                due
            }
        };
        if chosen { rule.delay } else { Duration::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held_at(every: Distance, millis: &[u64]) -> Vec<u64> {
        let delay = Duration::from_millis(7);
        let rule = StaticDelay { delay, every };
        let mut schedule = Schedule::new();
        let mut held = |&millis: &u64| {
            let hold = schedule.hold(&rule, Instant::ZERO + Duration::from_millis(millis));
            assert!(hold == Duration::ZERO || hold == delay);
            hold == delay
        };
        millis.iter().copied().filter(|time| held(time)).collect()
    }

    #[test]
    fn each_third_is_held() {
        let every = Distance::Acknowledgments(NonZeroU64::new(3).unwrap());
        let times: Vec<u64> = (1..=10).collect();
        assert_eq!(held_at(every, &times), [3, 6, 9]);
    }

    /// Periods of 100 ms begin at 50, 150, 250, ...: the first in each, and none for empty ones.
    #[test]
    fn the_first_of_each_period_is_held() {
        let every = Distance::Time(Duration::from_millis(100));
        let times = [50, 60, 149, 150, 240, 260, 340, 700, 740, 750];
        assert_eq!(held_at(every, &times), [50, 150, 260, 700, 750]);
        assert_eq!(held_at(Distance::Time(Duration::ZERO), &times), times);
    }
}
