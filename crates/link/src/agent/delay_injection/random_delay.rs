//! A random delay at random distances: the other variant of Klein et al., see
//! [`static_delay`](super::static_delay).

use airtcp_units::{Duration, Probability};

use super::LONGEST_HOLD;
use crate::agent::FlowKey;
use crate::agent::parameter::{ParameterError, check_duration};
use crate::random::Stream;

/// The parameters of random delay injection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomDelay {
    /// Mean of the delay, which is uniform between zero and twice this.
    pub mean: Duration,
    /// The chance of an acknowledgment to be held; 1/n holds each n-th on average.
    pub chance: Probability,
}

/// Of each acknowledgment's two draws the first decides whether, the second how long.
const DRAWS_AN_ACKNOWLEDGMENT: u64 = 2;

impl RandomDelay {
    pub(super) fn check(&self) -> Result<(), ParameterError> {
        check_duration(
            "mean",
            self.mean,
            (Duration::ZERO, LONGEST_HOLD / 2),
            "a duration of at most 30 s",
            "hold no longer than a sender's timer lasts",
        )
    }

    /// Holding time of acknowledgment number `count` of `flow`: a pure function of both.
    pub(super) fn hold(&self, draws: Stream, flow: FlowKey, count: u64) -> Duration {
        let draws = draws.substream(flow);
        let first = count.wrapping_mul(DRAWS_AN_ACKNOWLEDGMENT);
        if !self.chance.happens(draws.draw(first)) {
            return Duration::ZERO;
        }
        let most = self.mean * 2;
        // A draw is a fraction of 2^64; the product with a `u64` of nanoseconds fits.
        let share = u128::from(draws.draw(first.wrapping_add(1))) * u128::from(most.as_nanos());
        Duration::from_nanos((share >> 64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uniform on (0, 2d) with chance 1/4: of 40 000, 10 000 ± 5·sqrt(40 000·3/16) = ± 433 are
    /// held, with mean d and variance d²/3: ± 5·d/sqrt(3·10 000) = ± 2.9 %.
    #[test]
    fn the_moments_are_those_of_the_uniform() {
        let mean = Duration::from_millis(40);
        let chance = Probability::new(0.25).unwrap();
        let rule = RandomDelay { mean, chance };
        let draws = Stream::new(5, "agent.delay");
        let holds: Vec<f64> = (0..40_000)
            .map(|count| rule.hold(draws, 9, count).as_millis_f64())
            .filter(|&hold| hold > 0.0)
            .collect();
        let count = holds.len() as f64;
        assert!((count - 10_000.0).abs() < 433.0, "{count}");
        assert!(holds.iter().all(|&hold| hold < 80.0));
        let average = holds.iter().sum::<f64>() / count;
        assert!((average - 40.0).abs() < 0.029 * 40.0, "{average}");
        let variance = holds
            .iter()
            .map(|hold| (hold - average).powi(2))
            .sum::<f64>()
            / count;
        // Its standard error is d²·sqrt(4/45/10 000) = 0.3 % of d².
        assert!(
            (variance - 1_600.0 / 3.0).abs() < 5.0 * 0.003 * 1_600.0,
            "{variance}"
        );
    }

    /// Other flows' acknowledgments do not shift a flow's draws.
    #[test]
    fn a_draw_belongs_to_the_flow_and_its_count() {
        let rule = RandomDelay {
            mean: Duration::from_millis(40),
            chance: Probability::ALWAYS,
        };
        let draws = Stream::new(5, "agent.delay");
        let again = Stream::new(5, "agent.delay");
        assert_eq!(rule.hold(draws, 3, 17), rule.hold(again, 3, 17));
        assert_ne!(rule.hold(draws, 3, 17), rule.hold(draws, 4, 17));
        assert_ne!(rule.hold(draws, 3, 17), rule.hold(draws, 3, 18));
    }
}
