//! The round-trip estimator: a smoothed mean and an allowance for its variation. RFC 6298 §2 here;
//! [`linux`] and [`ticks`] as in those stacks.

use alloc::boxed::Box;

mod echo;
mod linux;
mod ticks;

use airtcp_units::Duration;

use crate::config::{DeviationFrom, RttEstimation, TimeoutConfig};
pub use echo::Echo;
use linux::LinuxEstimator;
use ticks::TickEstimator;

/// Gain of an exponential average, as a fraction of 2^16 so that the averages are integers.
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

    /// Moves `mean` towards `sample` by this gain, in nanoseconds, rounded to nearest.
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

/// RFC 6298's two averages, with their gains.
#[derive(Clone, Debug)]
struct Averages {
    mean_gain: Gain,
    deviation_gain: Gain,
    deviation_from: DeviationFrom,
}

impl Averages {
    /// Returns the averages after one more sample, given those `before`, if any.
    fn after(&self, before: Option<(Duration, Duration)>, rtt: Duration) -> (Duration, Duration) {
        let sample = rtt.as_nanos();
        // RFC 6298 §2.2: the first sample is the mean, half of it the deviation.
        let Some((srtt, rttvar)) = before else {
            return (rtt, Duration::from_nanos(sample / 2));
        };
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
}

#[derive(Clone, Debug)]
enum Estimation {
    Rfc6298(Averages),
    Ticks(Box<TickEstimator>),
    Linux(Box<LinuxEstimator>),
}

/// Smoothed round-trip time (SRTT) and its smoothed mean deviation (RTTVAR).
#[derive(Clone, Debug)]
pub struct RttEstimator {
    estimation: Estimation,
    /// SRTT and RTTVAR, once there is a sample.
    smoothed: (Duration, Duration),
    latest: Duration,
    /// [`Duration::MAX`] while there is no sample.
    minimum: Duration,
}

impl RttEstimator {
    /// Creates an estimator without samples, with the gains and the deviation's mean from `config`.
    #[must_use]
    pub fn new(config: &TimeoutConfig) -> Self {
        Self {
            estimation: match config.estimation {
                RttEstimation::Rfc6298 => Estimation::Rfc6298(Averages {
                    mean_gain: Gain::new(config.mean_gain),
                    deviation_gain: Gain::new(config.deviation_gain),
                    deviation_from: config.deviation_from,
                }),
                RttEstimation::Ticks => {
                    Estimation::Ticks(Box::new(TickEstimator::new(config.granularity)))
                }
                RttEstimation::Linux => {
                    Estimation::Linux(Box::new(LinuxEstimator::new(config.min)))
                }
            },
            smoothed: (Duration::ZERO, Duration::ZERO),
            latest: Duration::ZERO,
            minimum: Duration::MAX,
        }
    }

    /// Takes a sample, when everything below `una` was acknowledged and everything below `nxt`
    /// sent: a round trip ends when the data sent at its start is acknowledged.
    #[inline]
    pub fn on_sample(&mut self, rtt: Duration, una: u64, nxt: u64) {
        let before = self.smoothed();
        self.latest = rtt;
        self.minimum = self.minimum.min(rtt);
        self.smoothed = match &mut self.estimation {
            Estimation::Rfc6298(averages) => averages.after(before, rtt),
            Estimation::Ticks(ticks) => ticks.on_sample(rtt),
            Estimation::Linux(linux) => linux.on_sample(rtt, una, nxt),
        };
    }

    /// Raises the averages after a spurious timeout to include the round trip `rtt` of the needless
    /// retransmission (RFC 4015 §3, step 5.1).
    pub fn raise_to(&mut self, rtt: Duration) {
        if let Some((srtt, rttvar)) = self.smoothed() {
            let half = Duration::from_nanos(rtt.as_nanos() / 2);
            self.smoothed = (srtt.max(rtt), rttvar.max(half));
        }
    }

    #[inline]
    fn smoothed(&self) -> Option<(Duration, Duration)> {
        (self.minimum != Duration::MAX).then_some(self.smoothed)
    }

    /// The smoothed mean (SRTT), once there is a sample.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        self.smoothed().map(|(srtt, _)| srtt)
    }

    /// The smoothed mean deviation (RTTVAR), once there is a sample. For Linux's estimator it is a
    /// quarter of the deviation term, so that four times it is that term.
    #[must_use]
    pub fn rttvar(&self) -> Option<Duration> {
        self.smoothed().map(|(_, rttvar)| rttvar)
    }

    /// The last sample, once there is one.
    #[must_use]
    pub fn latest(&self) -> Option<Duration> {
        self.smoothed().map(|_| self.latest)
    }

    /// The smallest sample, once there is one.
    #[must_use]
    pub fn minimum(&self) -> Option<Duration> {
        self.smoothed().map(|_| self.minimum)
    }
}

#[cfg(test)]
mod tests;
