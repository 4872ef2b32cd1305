//! Scheduling of users.

use super::CellError;

/// The rule by which a slot's user is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scheduler {
    /// The user with the largest R/T: R is its rate in this slot, T its served rate, averaged over
    /// about `time_constant` slots: T ← (1 − 1/t)·T + R/t if served, else (1 − 1/t)·T (A. Jalali,
    /// R. Padovani & R. Pankaj, "Data throughput of CDMA-HDR", VTC 2000).
    ProportionalFair {
        /// t, in slots.
        time_constant: f64,
    },
    /// One after the other.
    RoundRobin,
    /// The user with the largest rate.
    MaxRate,
}

impl Scheduler {
    /// Validates the configuration.
    pub(super) fn check(&self) -> Result<(), CellError> {
        match *self {
            Self::ProportionalFair { time_constant }
                if time_constant.is_nan() || time_constant < 1.0 =>
            {
                Err(CellError::TimeConstant(time_constant))
            }
            _ => Ok(()),
        }
    }
}

/// State of a scheduler.
#[derive(Clone, Debug)]
pub(super) struct Averages {
    scheduler: Scheduler,
    /// T of each user.
    served: Vec<f64>,
    /// The slot up to which T holds.
    slot: u64,
    /// The user served last.
    last: usize,
}

/// Lower bound of T: a user that was never served is served soon.
const MIN: f64 = 1e-9;

impl Averages {
    pub(super) fn new(scheduler: Scheduler, users: usize) -> Self {
        Self {
            scheduler,
            served: vec![0.0; users],
            slot: 0,
            last: users.saturating_sub(1),
        }
    }

    /// The user served in `slot`, and its rate. `rates` has one entry per user, 0 if it cannot be
    /// served.
    pub(super) fn choose(
        &mut self,
        slot: u64,
        rates: impl Iterator<Item = f64>,
    ) -> Option<(usize, f64)> {
        self.age(slot);
        let count = self.served.len();
        let best = rates
            .enumerate()
            .filter(|(_, rate)| *rate > 0.0)
            .map(|(user, rate)| {
                let metric = match self.scheduler {
                    Scheduler::ProportionalFair { .. } => rate / self.served[user].max(MIN),
                    Scheduler::MaxRate => rate,
                    // The next one after the last.
                    Scheduler::RoundRobin => -(((user + count - self.last - 1) % count) as f64),
                };
                (metric, user, rate)
            })
            // The first of several that are equal.
            .reduce(|best, next| if next.0 > best.0 { next } else { best })?;
        let (_, user, rate) = best;
        self.last = user;
        if let Scheduler::ProportionalFair { time_constant } = self.scheduler {
            self.served[user] += rate / time_constant;
        }
        Some((user, rate))
    }

    /// Lets T decay for the slots since the last, idle ones included.
    fn age(&mut self, slot: u64) {
        let slots = slot.saturating_sub(self.slot) + 1;
        self.slot = slot + 1;
        if let Scheduler::ProportionalFair { time_constant } = self.scheduler {
            let decay = libm::pow(1.0 - 1.0 / time_constant, slots as f64);
            for served in &mut self.served {
                *served *= decay;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// t = 4, R = 8, then idle: T is 8/4 = 2 after the first slot, 2·(3/4)² = 1.125 two slots
    /// later.
    #[test]
    fn averages_decay_also_while_nothing_happens() {
        let scheduler = Scheduler::ProportionalFair { time_constant: 4.0 };
        let mut averages = Averages::new(scheduler, 1);
        assert_eq!(averages.choose(0, [8.0].into_iter()), Some((0, 8.0)));
        assert_eq!(averages.served, [2.0]);
        assert_eq!(averages.choose(2, [0.0].into_iter()), None);
        assert!((averages.served[0] - 2.0 * 0.75 * 0.75).abs() < 1e-12);
    }

    #[test]
    fn turns_are_taken_by_those_that_can_be_served() {
        let mut averages = Averages::new(Scheduler::RoundRobin, 3);
        let mut turn = |slot, rates: [f64; 3]| averages.choose(slot, rates.into_iter());
        let all = [1.0, 2.0, 3.0];
        assert_eq!(turn(0, all), Some((0, 1.0)));
        assert_eq!(turn(1, all), Some((1, 2.0)));
        assert_eq!(turn(2, [1.0, 2.0, 0.0]), Some((0, 1.0)));
        assert_eq!(turn(3, all), Some((1, 2.0)));
        assert_eq!(turn(4, [0.0; 3]), None);
    }
}
