//! The round trip between access point and mobile, and how long to wait for it.

use airtcp_units::Duration;

/// Lower bound of every timer, also of a configured one: it must not expire in an endless loop.
const MIN: Duration = Duration::from_millis(1);
/// Maximum number of doublings of the local timeout.
const MAX_DOUBLINGS: u32 = 6;

/// Bounds of a local retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalTimeout {
    /// Minimum timeout. By default 50 ms: more than the 40 ms for which receivers delay an
    /// acknowledgment, so that the last packet of a burst is not retransmitted needlessly.
    pub min: Duration,
    /// Timeout before a round trip was measured (RFC 6298 §2.1: 1 s).
    pub initial: Duration,
}

impl Default for LocalTimeout {
    fn default() -> Self {
        Self {
            min: Duration::from_millis(50),
            initial: Duration::from_secs(1),
        }
    }
}

/// A smoothed round trip and its mean deviation, with the gains of RFC 6298 §2, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundTrip {
    smoothed: Option<(u64, u64)>,
}

impl RoundTrip {
    /// Takes a sample.
    pub fn on_sample(&mut self, sample: Duration) {
        let sample = sample.as_nanos();
        self.smoothed = Some(match self.smoothed {
            None => (sample, sample / 2),
            Some((mean, deviation)) => (
                toward(mean, sample, 8),
                toward(deviation, mean.abs_diff(sample), 4),
            ),
        });
    }

    /// Timeout of an acknowledgment after that many consecutive expiries: the mean and four
    /// deviations, doubled each time.
    pub fn timeout(&self, bounds: &LocalTimeout, expiries: u32) -> Duration {
        let base = self.smoothed.map_or(bounds.initial, |(mean, deviation)| {
            Duration::from_nanos(mean.saturating_add(deviation.saturating_mul(4)))
        });
        base.max(bounds.min).max(MIN) * (1 << expiries.min(MAX_DOUBLINGS))
    }
}

/// `mean` moved towards `sample` by a `part`-th of the way.
const fn toward(mean: u64, sample: u64, part: u64) -> u64 {
    if sample >= mean {
        mean + (sample - mean) / part
    } else {
        mean - (mean - sample) / part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn milliseconds(value: u64) -> Duration {
        Duration::from_millis(value)
    }

    /// RFC 6298 §2 by hand: 20: mean 20, deviation 10, 60 in all. Then 60: deviation
    /// 3/4·10 + 1/4·40 = 17.5, mean 7/8·20 + 1/8·60 = 25: 95.
    #[test]
    fn follows_rfc_6298() {
        let bounds = LocalTimeout::default();
        let mut round_trip = RoundTrip::default();
        assert_eq!(round_trip.timeout(&bounds, 0), Duration::from_secs(1));
        round_trip.on_sample(milliseconds(20));
        assert_eq!(round_trip.timeout(&bounds, 0), milliseconds(60));
        round_trip.on_sample(milliseconds(60));
        assert_eq!(round_trip.timeout(&bounds, 0), milliseconds(95));
        assert_eq!(round_trip.timeout(&bounds, 2), milliseconds(380));
        assert_eq!(round_trip.timeout(&bounds, 99), milliseconds(95 * 64));
    }

    /// Many samples of 1 ms: the deviation goes to nothing, the floor holds.
    #[test]
    fn keeps_its_floor() {
        let mut round_trip = RoundTrip::default();
        for _ in 0..200 {
            round_trip.on_sample(milliseconds(1));
        }
        assert_eq!(
            round_trip.timeout(&LocalTimeout::default(), 0),
            milliseconds(50)
        );
        let low = LocalTimeout {
            min: Duration::ZERO,
            ..LocalTimeout::default()
        };
        let timeout = round_trip.timeout(&low, 0);
        assert!((milliseconds(1)..milliseconds(2)).contains(&timeout));
    }
}
