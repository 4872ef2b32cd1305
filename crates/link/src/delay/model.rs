//! Round-trip times drawn from a stationary process, in place of recorded ones: for a series of
//! which only a few facts are known (Miyim §V publishes of Trace 1 its lag-1 autocorrelation and a
//! throughput).

use crate::random::Stream;
use crate::trace::rtt_log::RttSeries;
use airtcp_units::Duration;

/// Round trips of one series; behind them it starts again, as a recorded one does.
const LENGTH: u64 = 20_000;
/// Longer than any round trip a recorded series may hold, in seconds.
const LONGEST_S: f64 = 3600.0;
/// No flow has this number: the series is the pipe's.
const NO_FLOW: u64 = u64::MAX - 1;

/// How round-trip times are distributed, and how much one says about the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RttModel {
    /// The mean.
    pub mean: Duration,
    /// Correlation of one round trip with the next, 0 to below 1.
    pub autocorrelation: f64,
    /// The shape of the distribution.
    pub shape: RttShape,
}

/// The marginal distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RttShape {
    /// Log-normal: exp of a normal autoregressive process of order 1.
    LogNormal {
        /// Standard deviation over mean.
        variation: f64,
    },
    /// A base delay, and spikes: two states with geometric sojourn times.
    Spikes {
        /// Share of the round trips in a spike, above 0 and below 1.
        share: f64,
        /// How many times the base delay a spike lasts, at least 1.
        height: f64,
    },
}

impl RttModel {
    /// The series that a run with this stream meets.
    pub(crate) fn series(&self, stream: Stream) -> RttSeries {
        let stream = stream.substream(NO_FLOW);
        let mean = self.mean.as_secs_f64();
        let factors: Vec<f64> = match self.shape {
            RttShape::LogNormal { variation } => self.log_normal(variation, stream),
            RttShape::Spikes { share, height } => self.spikes(share, height, stream),
        };
        let rtts = factors
            .into_iter()
            .map(|factor| {
                Duration::from_secs_f64((mean * factor).min(LONGEST_S)).unwrap_or(Duration::ZERO)
            })
            .collect();
        RttSeries::new(rtts, 0).unwrap_or_else(|| unreachable!("the series has a fixed length"))
    }

    /// Factors of mean 1. If the logarithm is normal with variance s² and correlation r from one to
    /// the next, the factors have variation √(exp(s²) − 1) and correlation (exp(r s²) − 1)/(exp(s²)
    /// − 1).
    fn log_normal(&self, variation: f64, stream: Stream) -> Vec<f64> {
        let squared = variation * variation;
        if squared == 0.0 {
            return vec![1.0; LENGTH as usize];
        }
        let variance = libm::log1p(squared);
        let correlation = libm::log1p(self.autocorrelation * squared) / variance;
        let (sigma, fresh) = (
            libm::sqrt(variance),
            libm::sqrt(1.0 - correlation * correlation),
        );
        let mut state = stream.normal(0);
        (1..=LENGTH)
            .map(|index| {
                let factor = libm::exp(sigma * state - variance / 2.0);
                state = correlation * state + fresh * stream.normal(index);
                factor
            })
            .collect()
    }

    /// Factors of mean 1. A chain that goes into a spike with p and out with q stays correlated by
    /// 1 − p − q, and is in a spike for p/(p + q) of the time.
    fn spikes(&self, share: f64, height: f64, stream: Stream) -> Vec<f64> {
        let base = 1.0 / (1.0 + share * (height - 1.0));
        let turns = 1.0 - self.autocorrelation;
        let (into, out) = (share * turns, (1.0 - share) * turns);
        let mut in_spike = stream.uniform(0) <= share;
        (1..=LENGTH)
            .map(|index| {
                let factor = if in_spike { base * height } else { base };
                let turn = if in_spike { out } else { into };
                in_spike ^= stream.uniform(index) <= turn;
                factor
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean, variation and lag-1 autocorrelation of a long series.
    fn moments(series: &RttSeries) -> [f64; 3] {
        let values: Vec<f64> = series
            .as_slice()
            .iter()
            .map(|rtt| rtt.as_secs_f64())
            .collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let covariance = |lag: usize| {
            values
                .windows(lag + 1)
                .map(|w| (w[0] - mean) * (w[lag] - mean))
                .sum::<f64>()
                / count
        };
        [
            mean,
            covariance(0).sqrt() / mean,
            covariance(1) / covariance(0),
        ]
    }

    #[test]
    fn series_have_the_moments_asked_for() {
        let mean = Duration::from_millis(1500);
        for variation in [0.3, 0.6, 1.0] {
            let shape = RttShape::LogNormal { variation };
            let model = RttModel {
                mean,
                autocorrelation: 0.42,
                shape,
            };
            let [got, spread, lag] = moments(&model.series(Stream::new(1, "model")));
            assert!((got / 1.5 - 1.0).abs() < 0.04, "mean {got}");
            assert!(
                (spread / variation - 1.0).abs() < 0.08,
                "variation {spread}"
            );
            assert!((lag - 0.42).abs() < 0.05, "correlation {lag}");
        }
    }

    /// A two-valued variable with share s and height h has variation (h − 1)√(s(1 − s)) over its
    /// mean.
    #[test]
    fn spikes_have_their_share_height_and_correlation() {
        let shape = RttShape::Spikes {
            share: 0.1,
            height: 4.0,
        };
        let model = RttModel {
            mean: Duration::from_secs(1),
            autocorrelation: 0.42,
            shape,
        };
        let series = model.series(Stream::new(2, "model"));
        let [mean, spread, lag] = moments(&series);
        let expected = 3.0 * 0.3 / 1.3;
        assert!((mean - 1.0).abs() < 0.03, "mean {mean}");
        assert!((spread / expected - 1.0).abs() < 0.04, "variation {spread}");
        assert!((lag - 0.42).abs() < 0.04, "correlation {lag}");
        let mut values: Vec<_> = series.as_slice().to_vec();
        values.sort_unstable();
        values.dedup();
        assert_eq!(values.len(), 2);
    }

    #[test]
    fn seeds_meet_other_series_and_a_seed_meets_its_own_again() {
        let shape = RttShape::LogNormal { variation: 0.5 };
        let model = RttModel {
            mean: Duration::from_secs(1),
            autocorrelation: 0.0,
            shape,
        };
        let of = |seed| model.series(Stream::new(seed, "model"));
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }
}
