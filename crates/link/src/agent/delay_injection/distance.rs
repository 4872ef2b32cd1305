//! Which acknowledgments are held: at constant distances, in number or in time, or at random ones.

use std::num::NonZeroU64;

use airtcp_units::{Duration, Instant, Probability};

use crate::agent::FlowKey;
use crate::random::Stream;

/// The choice of acknowledgments to hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distance {
    /// Each n-th of a connection.
    Acknowledgments(NonZeroU64),
    /// The first in each period of this length, counted from the connection's first
    /// acknowledgment. Zero holds all.
    Time(Duration),
    /// Each with this chance; 1/n holds each n-th on average.
    Chance(Probability),
}

/// Of each acknowledgment's two draws the first decides whether, the second how long.
const DRAWS_AN_ACKNOWLEDGMENT: u64 = 2;

/// The position of a connection in its periods.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    count: u64,
    /// Start of the next period; `None` before the first acknowledgment.
    next: Option<Instant>,
}

impl Schedule {
    pub(super) const fn new() -> Self {
        Self {
            count: 0,
            next: None,
        }
    }

    /// Whether the acknowledgment that passes at `now` is held, and the draw that its delay may
    /// take: a pure function of the flow and of the acknowledgment's number.
    pub(super) fn choose(
        &mut self,
        every: Distance,
        draws: Stream,
        flow: FlowKey,
        now: Instant,
    ) -> Option<u64> {
        let draws = draws.substream(flow);
        let first = self.count.wrapping_mul(DRAWS_AN_ACKNOWLEDGMENT);
        self.count = self.count.wrapping_add(1);
        let chosen = match every {
            Distance::Acknowledgments(n) => self.count % n == 0,
            Distance::Time(Duration::ZERO) => true,
            Distance::Time(period) => self.begins_a_period(period, now),
            Distance::Chance(chance) => chance.happens(draws.draw(first)),
        };
        chosen.then(|| draws.draw(first.wrapping_add(1)))
    }

    fn begins_a_period(&mut self, period: Duration, now: Instant) -> bool {
        let begins = self.next.unwrap_or(now);
        let due = now >= begins;
        if due {
            let begun = (now - begins).as_nanos() / period.as_nanos() + 1;
            self.next = Some(begins + period * begun);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held_at(every: Distance, millis: &[u64]) -> Vec<u64> {
        let mut schedule = Schedule::new();
        let draws = Stream::new(5, "agent.delay");
        let mut held = |&millis: &u64| {
            let now = Instant::ZERO + Duration::from_millis(millis);
            schedule.choose(every, draws, 9, now).is_some()
        };
        millis.iter().copied().filter(|time| held(time)).collect()
    }

    #[test]
    fn each_third_is_held() {
        let every = Distance::Acknowledgments(NonZeroU64::new(3).unwrap());
        let times: Vec<u64> = (1..=10).collect();
        assert_eq!(held_at(every, &times), [3, 6, 9]);
    }

    /// Periods of 100 ms begin at 50, 150, 250, ...: the first in each, and no other for empty
    /// ones.
    #[test]
    fn the_first_of_each_period_is_held() {
        let every = Distance::Time(Duration::from_millis(100));
        let times = [50, 60, 149, 150, 240, 260, 340, 700, 740, 750];
        assert_eq!(held_at(every, &times), [50, 150, 260, 700, 750]);
        assert_eq!(held_at(Distance::Time(Duration::ZERO), &times), times);
    }

    /// A chance of 1/4: of 40 000, 10 000 ± 5·sqrt(40 000·3/16) = ± 433 are held.
    #[test]
    fn a_chance_holds_its_share() {
        let every = Distance::Chance(Probability::new(0.25).unwrap());
        let times: Vec<u64> = (0..40_000).collect();
        let held = held_at(every, &times).len();
        assert!(held.abs_diff(10_000) < 433, "{held}");
    }

    /// Other flows' acknowledgments do not shift a flow's draws.
    #[test]
    fn a_draw_belongs_to_the_flow_and_its_count() {
        let draws = Stream::new(5, "agent.delay");
        let of = |flow: FlowKey, count: usize| {
            let mut schedule = Schedule::new();
            let every = Distance::Chance(Probability::ALWAYS);
            let mut drawn = || schedule.choose(every, draws, flow, Instant::ZERO);
            (0..count).map(|_| drawn()).last().unwrap()
        };
        assert_eq!(of(3, 17), of(3, 17));
        assert_ne!(of(3, 17), of(4, 17));
        assert_ne!(of(3, 17), of(3, 18));
    }
}
