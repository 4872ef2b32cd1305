//! The share of bulk segments that a tap examines: all of them, until that would slow down
//! forwarding.
//!
//! A router that forwards 300 000 packets a second on two cores loses a fifth of them if each is
//! examined. The measurements of bulk segments, their number and the retransmitted share, can be
//! taken from a random sample; acknowledgments, whose numbers give goodput and round trips, are
//! always examined.

use airtcp_units::{Duration, Instant};

/// Maximum number of bulk segments examined per second, except during the first half second.
const MAX: f64 = 30_000.0;
/// The sparsest sample: one in this many.
const SPARSEST: u32 = 64;

/// The examined share of bulk segments, adapted to their rate.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    one_in: u32,
    looked_at: u64,
    since: Instant,
}

impl Sampling {
    /// Creates a sampling that examines all segments.
    pub const fn new(now: Instant) -> Self {
        Self {
            one_in: 1,
            looked_at: 0,
            since: now,
        }
    }

    /// Counts an examined bulk segment. Returns the number of segments it represents.
    pub const fn see(&mut self) -> u32 {
        self.looked_at += 1;
        self.one_in
    }

    /// Evaluates the time since the last call. Returns the new sampling, one in a power of two, if
    /// it changes.
    pub fn review(&mut self, now: Instant) -> Option<u32> {
        let span = now - self.since;
        if span < Duration::from_millis(100) {
            return None;
        }
        let rate = self.looked_at as f64 / span.as_secs_f64() * f64::from(self.one_in);
        (self.looked_at, self.since) = (0, now);
        let wanted = (1..=SPARSEST)
            .filter(|share| share.is_power_of_two())
            .find(|&share| rate <= MAX * f64::from(share))
            .unwrap_or(SPARSEST);
        // With hysteresis: the share only increases if twice as many could be examined.
        let changes = wanted > self.one_in || wanted * 2 < self.one_in || rate <= MAX / 2.0;
        (changes && wanted != self.one_in).then(|| {
            self.one_in = wanted;
            wanted
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reviews every half second of `rate` bulk segments a second, reduced by the current sampling;
    /// returns the final sampling, and the number of changes.
    fn settle(sampling: &mut Sampling, from: u64, rate: u64, halves: u64) -> (u32, u32) {
        let (mut asked, mut changes) = (sampling.one_in, 0);
        for half in 1..=halves {
            for _ in 0..rate / 2 / u64::from(asked) {
                assert_eq!(sampling.see(), asked);
            }
            let now = Instant::ZERO + Duration::from_millis(from + 500 * half);
            if let Some(next) = sampling.review(now) {
                (asked, changes) = (next, changes + 1);
            }
        }
        (asked, changes)
    }

    #[test]
    fn a_share_is_looked_at_when_many_pass_and_all_when_few_do() {
        let mut sampling = Sampling::new(Instant::ZERO);
        assert_eq!(settle(&mut sampling, 0, 29_000, 4), (1, 0));
        assert_eq!(settle(&mut sampling, 2000, 300_000, 4), (16, 1));
        assert_eq!(settle(&mut sampling, 4000, 1_000_000_000, 4), (SPARSEST, 1));
        assert_eq!(settle(&mut sampling, 6000, 1000, 4), (1, 1));
    }

    /// At a threshold the share is chosen once.
    #[test]
    fn it_does_not_go_to_and_fro() {
        let mut sampling = Sampling::new(Instant::ZERO);
        for round in 0..20 {
            let rate = [59_000, 61_000][round as usize % 2];
            let (_, changes) = settle(&mut sampling, 500 * round, rate, 1);
            assert!(changes == 0 || round < 2, "{round}");
        }
    }
}
