//! Further round-trip times, one for each flow.

use airtcp_link::Stream;
use airtcp_units::Duration;

use crate::RoundTrip;

/// Draws of round-trip times: each a function of the seed and the flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrips {
    shape: RoundTrip,
    stream: Stream,
}

impl RoundTrips {
    pub(super) fn new(shape: RoundTrip, seed: u64) -> Self {
        Self {
            shape,
            stream: Stream::new(seed, "wired.round-trip"),
        }
    }

    /// The round-trip time of a flow.
    pub(super) fn of(&self, flow: u32) -> Duration {
        let draws = self.stream.substream(u64::from(flow));
        let seconds = match self.shape {
            RoundTrip::Uniform { from, to } => {
                let (from, to) = (from.as_secs_f64(), to.as_secs_f64());
                from + draws.uniform(0) * (to - from)
            }
            RoundTrip::Normal { mean, deviation } => {
                mean.as_secs_f64() + deviation.as_secs_f64() * draws.normal(0)
            }
            RoundTrip::Exponential { mean } => mean.as_secs_f64() * draws.exponential(0),
        };
        Duration::from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and standard deviation in milliseconds over many flows.
    fn moments(shape: RoundTrip) -> (f64, f64) {
        let round_trips = RoundTrips::new(shape, 1);
        let count = 40_000;
        let times = || (0..count).map(|flow| round_trips.of(flow).as_millis_f64());
        let mean = times().sum::<f64>() / f64::from(count);
        let variance = times().map(|time| (time - mean).powi(2)).sum::<f64>() / f64::from(count);
        (mean, variance.sqrt())
    }

    /// Within four standard errors, σ/√40000 for the mean.
    #[test]
    fn moments_are_those_of_the_shapes() {
        let ms = Duration::from_millis;
        let close = |(mean, deviation): (f64, f64), expected: (f64, f64)| {
            assert!(
                (mean - expected.0).abs() < 4.0 * expected.1 / 200.0,
                "{mean}"
            );
            assert!((deviation / expected.1 - 1.0).abs() < 0.03, "{deviation}");
        };
        let uniform = RoundTrip::Uniform {
            from: ms(5),
            to: ms(100),
        };
        close(moments(uniform), (52.5, 95.0 / 12.0_f64.sqrt()));
        let normal = RoundTrip::Normal {
            mean: ms(500),
            deviation: ms(20),
        };
        close(moments(normal), (500.0, 20.0));
        close(
            moments(RoundTrip::Exponential { mean: ms(50) }),
            (50.0, 50.0),
        );
    }
}
