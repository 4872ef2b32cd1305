//! A random delay: the other variant of Klein et al., see [`static_delay`](super::static_delay).

use airtcp_units::Duration;

use super::{Distance, MAX_HOLD};
use crate::agent::parameter::{ParameterError, check_duration};

/// The parameters of random delay injection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomDelay {
    /// Mean of the delay, which is uniform between zero and twice this.
    pub mean: Duration,
    /// The choice of acknowledgments to hold.
    pub every: Distance,
}

impl RandomDelay {
    pub(super) fn check(&self) -> Result<(), ParameterError> {
        check_duration(
            "mean",
            self.mean,
            (Duration::ZERO, MAX_HOLD / 2),
            "a duration of at most 30 s",
            "hold no longer than a sender's timer lasts",
        )
    }

    /// The holding time that a draw makes.
    pub(super) fn length(&self, draw: u64) -> Duration {
        let most = self.mean * 2;
        // A draw is a fraction of 2^64; the product with a `u64` of nanoseconds fits.
        let share = u128::from(draw) * u128::from(most.as_nanos());
        Duration::from_nanos((share >> 64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use airtcp_units::{Instant, Probability};

    use super::*;
    use crate::agent::delay_injection::distance::Schedule;
    use crate::random::Stream;

    /// Uniform on (0, 2d): 10 000 have mean d and variance d²/3: ± 5·d/sqrt(3·10 000) = ± 2.9 %.
    #[test]
    fn the_moments_are_those_of_the_uniform() {
        let rule = RandomDelay {
            mean: Duration::from_millis(40),
            every: Distance::Chance(Probability::ALWAYS),
        };
        let draws = Stream::new(5, "agent.delay");
        let mut schedule = Schedule::new();
        let holds: Vec<f64> = (0..10_000)
            .filter_map(|_| schedule.choose(rule.every, draws, 9, Instant::ZERO))
            .map(|draw| rule.length(draw).as_millis_f64())
            .collect();
        let count = holds.len() as f64;
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
}
