//! The round-trip estimator of RFC 6298 §2: a smoothed mean and a smoothed mean deviation.

use airtcp_units::Duration;

use crate::config::{DeviationFrom, TimeoutConfig};

/// One gain of an exponential average, as a fraction of 2^16 so that the averages are integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gain(u32);

impl Gain {
    const ONE_BITS: u32 = 16;

    /// The nearest fraction of 2^16; 1/8 and 1/4 are exact.
    fn new(gain: f64) -> Self {
        let scaled = libm::round(gain.clamp(0.0, 1.0) * f64::from(1_u32 << Self::ONE_BITS));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "0 to 2^16"
        )]
        Self(scaled as u32)
    }

    /// `mean` moved towards `sample` by this gain, in nanoseconds, rounded to nearest.
    #[inline]
    fn average(self, mean: u64, sample: u64) -> u64 {
        let step = u128::from(mean.abs_diff(sample)) * u128::from(self.0);
        let half = 1_u128 << (Self::ONE_BITS - 1);
        #[expect(clippy::cast_possible_truncation, reason = "a gain is at most one")]
        let step = ((step + half) >> Self::ONE_BITS) as u64;
        if sample >= mean {
            mean + step
        } else {
            mean - step
        }
    }
}

/// Smoothed round-trip time (SRTT) and its smoothed mean deviation (RTTVAR).
#[derive(Clone, Debug)]
pub struct RttEstimator {
    mean_gain: Gain,
    deviation_gain: Gain,
    deviation_from: DeviationFrom,
    smoothed: Option<(Duration, Duration)>,
    latest: Duration,
    minimum: Duration,
}

impl RttEstimator {
    /// An estimator without a sample, with the gains and the reading of the deviation in `config`.
    #[must_use]
    pub fn new(config: &TimeoutConfig) -> Self {
        Self {
            mean_gain: Gain::new(config.mean_gain),
            deviation_gain: Gain::new(config.deviation_gain),
            deviation_from: config.deviation_from,
            smoothed: None,
            latest: Duration::ZERO,
            minimum: Duration::MAX,
        }
    }

    /// Takes a sample.
    pub fn on_sample(&mut self, rtt: Duration) {
        self.latest = rtt;
        self.minimum = self.minimum.min(rtt);
        let sample = rtt.as_nanos();
        self.smoothed = Some(match self.smoothed {
            // RFC 6298 §2.2: the first sample is the mean, half of it the deviation.
            None => (rtt, Duration::from_nanos(sample / 2)),
            Some((srtt, rttvar)) => {
                let previous = srtt.as_nanos();
                // RFC 6298 §2.3 takes the deviation from the mean before the sample; Miyim eq. 2
                // and Fotiadis & Siris eq. 2 from the mean after it.
                let updated = self.mean_gain.average(previous, sample);
                let reference = match self.deviation_from {
                    DeviationFrom::PreviousMean => previous,
                    DeviationFrom::UpdatedMean => updated,
                };
                let deviation = self
                    .deviation_gain
                    .average(rttvar.as_nanos(), reference.abs_diff(sample));
                (
                    Duration::from_nanos(updated),
                    Duration::from_nanos(deviation),
                )
            }
        });
    }

    /// The smoothed mean (SRTT), once there is a sample.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        self.smoothed.map(|(srtt, _)| srtt)
    }

    /// The smoothed mean deviation (RTTVAR), once there is a sample.
    #[must_use]
    pub fn rttvar(&self) -> Option<Duration> {
        self.smoothed.map(|(_, rttvar)| rttvar)
    }

    /// The last sample, once there is one.
    #[must_use]
    pub fn latest(&self) -> Option<Duration> {
        self.smoothed.map(|_| self.latest)
    }

    /// The smallest sample, once there is one.
    #[must_use]
    pub fn minimum(&self) -> Option<Duration> {
        self.smoothed.map(|_| self.minimum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn milliseconds(value: u64) -> Duration {
        Duration::from_millis(value)
    }

    #[test]
    fn has_nothing_before_the_first_sample() {
        let estimator = RttEstimator::new(&TimeoutConfig::default());
        assert_eq!(estimator.srtt(), None);
        assert_eq!(estimator.rttvar(), None);
        assert_eq!(estimator.latest(), None);
        assert_eq!(estimator.minimum(), None);
    }

    /// RFC 6298 §2.2 and §2.3 by hand: R = 100: SRTT 100, RTTVAR 50.
    /// R' = 180: RTTVAR = 3/4·50 + 1/4·80 = 57.5; SRTT = 7/8·100 + 1/8·180 = 110.
    /// R' = 70: RTTVAR = 3/4·57.5 + 1/4·40 = 53.125; SRTT = 7/8·110 + 1/8·70 = 105.
    #[test]
    fn follows_rfc_6298() {
        let mut estimator = RttEstimator::new(&TimeoutConfig::default());
        estimator.on_sample(milliseconds(100));
        assert_eq!(estimator.srtt(), Some(milliseconds(100)));
        assert_eq!(estimator.rttvar(), Some(milliseconds(50)));
        estimator.on_sample(milliseconds(180));
        assert_eq!(estimator.srtt(), Some(milliseconds(110)));
        assert_eq!(estimator.rttvar(), Some(Duration::from_micros(57_500)));
        estimator.on_sample(milliseconds(70));
        assert_eq!(estimator.srtt(), Some(milliseconds(105)));
        assert_eq!(estimator.rttvar(), Some(Duration::from_micros(53_125)));
        assert_eq!(estimator.latest(), Some(milliseconds(70)));
        assert_eq!(estimator.minimum(), Some(milliseconds(70)));
    }

    /// Miyim eq. 2 uses S(k) after the update: |180 − 110| = 70 → 3/4·50 + 1/4·70 = 55.
    #[test]
    fn deviation_from_the_updated_mean_is_seven_eighths_of_the_error() {
        let config = TimeoutConfig {
            deviation_from: DeviationFrom::UpdatedMean,
            ..Default::default()
        };
        let mut estimator = RttEstimator::new(&config);
        estimator.on_sample(milliseconds(100));
        estimator.on_sample(milliseconds(180));
        assert_eq!(estimator.rttvar(), Some(milliseconds(55)));
    }

    #[test]
    fn gains_are_parameters() {
        let config = TimeoutConfig {
            mean_gain: 0.5,
            deviation_gain: 1.0,
            ..TimeoutConfig::default()
        };
        let mut estimator = RttEstimator::new(&config);
        estimator.on_sample(milliseconds(100));
        estimator.on_sample(milliseconds(40));
        assert_eq!(estimator.srtt(), Some(milliseconds(70)));
        assert_eq!(estimator.rttvar(), Some(milliseconds(60)));
    }

    #[test]
    fn averages_round_to_nearest() {
        // 1/8 of 4 ns is half a nanosecond: rounds up, in both directions.
        let gain = Gain::new(0.125);
        assert_eq!(gain.average(0, 4), 1);
        assert_eq!(gain.average(4, 0), 3);
        assert_eq!(gain.average(0, 3), 0);
        assert_eq!(gain.average(u64::MAX, 0), u64::MAX - (1 << 61));
    }
}
