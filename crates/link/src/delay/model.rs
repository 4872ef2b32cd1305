//! Round-trip times drawn from a stationary process, in place of recorded ones: for a series with
//! only a few known facts (Miyim §V publishes of Trace 1 its lag-1 autocorrelation and a
//! throughput).

use crate::random::Stream;
use airtcp_units::Duration;

/// Round trips of one series; after them it repeats, as a recorded one does.
const LENGTH: u64 = 20_000;
/// Longer than any round trip a recorded series may hold, in seconds.
const MAX_S: f64 = 3600.0;
/// No flow has this number: the series is the pipe's.
const NO_FLOW: u64 = u64::MAX - 1;

/// Distribution and autocorrelation of round-trip times.
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
        /// Delay of a spike, in multiples of the base delay, at least 1.
        height: f64,
    },
}

/// The series of one run, drawn lazily: a short transfer needs a small
/// part of it, and drawing all of it would take longer than the run.
#[derive(Clone, Debug)]
pub(crate) struct DrawnSeries {
    mean: f64,
    stream: Stream,
    law: Law,
    rtts: Vec<Duration>,
}

/// State of the process that generates the factors of mean 1.
#[derive(Clone, Debug)]
enum Law {
    /// If the logarithm is normal with variance s² and correlation r from one to the next, the
    /// factors have variation √(exp(s²) − 1) and correlation (exp(r s²) − 1)/(exp(s²) − 1).
    LogNormal {
        variance: f64,
        correlation: f64,
        state: f64,
    },
    /// All are 1.
    Even,
    /// A chain that goes into a spike with p and out with q stays correlated by 1 − p − q, and is
    /// in a spike for p/(p + q) of the time.
    Spikes {
        base: f64,
        height: f64,
        into: f64,
        out: f64,
        in_spike: bool,
    },
}

impl RttModel {
    /// The series that a run with this stream meets.
    pub(crate) fn series(&self, stream: Stream) -> DrawnSeries {
        let stream = stream.substream(NO_FLOW);
        let law = match self.shape {
            RttShape::LogNormal { variation: 0.0 } => Law::Even,
            RttShape::LogNormal { variation } => {
                let squared = variation * variation;
                let variance = libm::log1p(squared);
                Law::LogNormal {
                    variance,
                    correlation: libm::log1p(self.autocorrelation * squared) / variance,
                    state: stream.normal(0),
                }
            }
            RttShape::Spikes { share, height } => {
                let turns = 1.0 - self.autocorrelation;
                Law::Spikes {
                    base: 1.0 / (1.0 + share * (height - 1.0)),
                    height,
                    into: share * turns,
                    out: (1.0 - share) * turns,
                    in_spike: stream.uniform(0) <= share,
                }
            }
        };
        DrawnSeries {
            mean: self.mean.as_secs_f64(),
            stream,
            law,
            rtts: Vec::new(),
        }
    }
}

impl DrawnSeries {
    /// Round-trip time number `index`; after the last the series repeats.
    #[inline]
    pub(crate) fn wrapping(&mut self, index: u64) -> Duration {
        let place = (index % LENGTH) as usize;
        while self.rtts.len() <= place {
            self.draw();
        }
        self.rtts[place]
    }

    /// Draws the next round-trip time.
    fn draw(&mut self) {
        let number = self.rtts.len() as u64 + 1;
        let factor = self.law.next(self.stream, number);
        let rtt = Duration::from_secs_f64((self.mean * factor).min(MAX_S));
        self.rtts.push(rtt.unwrap_or(Duration::ZERO));
    }
}

impl Law {
    /// The factor at the present state, which then takes step `number`.
    fn next(&mut self, stream: Stream, number: u64) -> f64 {
        match self {
            Self::Even => 1.0,
            Self::LogNormal {
                variance,
                correlation,
                state,
            } => {
                let sigma = libm::sqrt(*variance);
                let fresh = libm::sqrt(1.0 - *correlation * *correlation);
                let factor = libm::exp(sigma * *state - *variance / 2.0);
                *state = *correlation * *state + fresh * stream.normal(number);
                factor
            }
            Self::Spikes {
                base,
                height,
                into,
                out,
                in_spike,
            } => {
                let factor = if *in_spike { *base * *height } else { *base };
                let turn = if *in_spike { *out } else { *into };
                *in_spike ^= stream.uniform(number) <= turn;
                factor
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All of a series.
    fn whole(mut series: DrawnSeries) -> Vec<Duration> {
        (0..LENGTH).map(|index| series.wrapping(index)).collect()
    }

    /// Mean, variation and lag-1 autocorrelation of a long series.
    fn moments(series: &[Duration]) -> [f64; 3] {
        let values: Vec<f64> = series.iter().map(|rtt| rtt.as_secs_f64()).collect();
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
            let [got, spread, lag] = moments(&whole(model.series(Stream::new(1, "model"))));
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
        let mut series = whole(model.series(Stream::new(2, "model")));
        let [mean, spread, lag] = moments(&series);
        let expected = 3.0 * 0.3 / 1.3;
        assert!((mean - 1.0).abs() < 0.03, "mean {mean}");
        assert!((spread / expected - 1.0).abs() < 0.04, "variation {spread}");
        assert!((lag - 0.42).abs() < 0.04, "correlation {lag}");
        series.sort_unstable();
        series.dedup();
        assert_eq!(series.len(), 2);
    }

    #[test]
    fn seeds_meet_other_series_and_a_seed_meets_its_own_again() {
        let shape = RttShape::LogNormal { variation: 0.5 };
        let model = RttModel {
            mean: Duration::from_secs(1),
            autocorrelation: 0.0,
            shape,
        };
        let of = |seed| whole(model.series(Stream::new(seed, "model")));
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    /// Packets overtake each other: earlier queries do not bound later ones.
    #[test]
    fn the_order_of_asking_changes_nothing_and_the_series_starts_again() {
        let shape = RttShape::LogNormal { variation: 0.7 };
        let model = RttModel {
            mean: Duration::from_secs(1),
            autocorrelation: 0.42,
            shape,
        };
        let drawn = || model.series(Stream::new(3, "model"));
        let in_order = whole(drawn());
        let mut asked = drawn();
        for index in [700, 3, LENGTH + 5, 700, LENGTH - 1] {
            let expected = in_order[(index % LENGTH) as usize];
            assert_eq!(asked.wrapping(index), expected, "{index}");
        }
        assert_eq!(asked.rtts, in_order);
    }
}
