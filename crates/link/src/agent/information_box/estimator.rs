//! The sender's timer as the access point imagines it: RFC 6298 on passive samples.

use airtcp_units::Duration;

/// Smoothed round-trip time, its mean deviation, and how often the timer was doubled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimator {
    /// SRTT and RTTVAR, in nanoseconds.
    smoothed: Option<(u64, u64)>,
    doublings: u32,
}

/// RFC 6298 §5.5 doubles without end; after six the ceiling of §2.5 is reached.
const MAX_DOUBLINGS: u32 = 6;

impl Estimator {
    pub(super) const fn new() -> Self {
        Self {
            smoothed: None,
            doublings: 0,
        }
    }

    /// Takes a sample, which also ends the back-off (RFC 6298 §5.7, in its spirit).
    pub(super) fn on_sample(&mut self, sample: Duration) {
        let sample = sample.as_nanos();
        self.doublings = 0;
        self.smoothed = Some(match self.smoothed {
            // RFC 6298 §2.2.
            None => (sample, sample / 2),
            // RFC 6298 §2.3: alpha = 1/8, beta = 1/4, the deviation from the mean before.
            Some((mean, deviation)) => (
                moved(mean, sample, 8),
                moved(deviation, mean.abs_diff(sample), 4),
            ),
        });
    }

    /// The sender's timer has expired (RFC 6298 §5.5).
    pub(super) fn back_off(&mut self) {
        self.doublings = (self.doublings + 1).min(MAX_DOUBLINGS);
    }

    /// SRTT, once there is a sample.
    pub(super) fn round_trip(&self) -> Option<Duration> {
        self.smoothed.map(|(mean, _)| Duration::from_nanos(mean))
    }

    /// RTO = RTT + 4 D (Mahmoodi et al. eq. 2; RFC 6298 §2.3), not below `floor`, doubled as often
    /// as the timer expired, not above `ceiling`; once there is a sample.
    pub(super) fn timeout(&self, floor: Duration, ceiling: Duration) -> Option<Duration> {
        self.smoothed.map(|(mean, deviation)| {
            let plain = Duration::from_nanos(mean) + Duration::from_nanos(deviation) * 4;
            (plain.max(floor) * (1 << self.doublings)).min(ceiling)
        })
    }
}

/// `average` moved towards `value` by the `parts`-th part of the way, rounded to nearest.
const fn moved(average: u64, value: u64, parts: u64) -> u64 {
    let step = average.abs_diff(value).saturating_add(parts / 2) / parts;
    if value >= average {
        average + step
    } else {
        average - step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// RFC 6298 §2.2, §2.3 by hand: 100: SRTT 100, RTTVAR 50, RTO 300. 180: RTTVAR = 3/4·50 +
    /// 1/4·80 = 57.5, SRTT = 110, RTO = 340. Doubled twice 1360; the next sample, 110, ends that:
    /// RTTVAR = 43.125, RTO = 110 + 172.5 = 282.5, which a floor lifts to 500.
    #[test]
    fn follows_rfc_6298() {
        let mut estimator = Estimator::new();
        let timeout = |estimator: &Estimator| estimator.timeout(Duration::ZERO, ms(60_000));
        assert_eq!((estimator.round_trip(), timeout(&estimator)), (None, None));
        estimator.on_sample(ms(100));
        assert_eq!(timeout(&estimator), Some(ms(300)));
        estimator.on_sample(ms(180));
        assert_eq!(estimator.round_trip(), Some(ms(110)));
        assert_eq!(timeout(&estimator), Some(ms(340)));
        estimator.back_off();
        estimator.back_off();
        assert_eq!(timeout(&estimator), Some(ms(1_360)));
        assert_eq!(estimator.timeout(ms(500), ms(1_800)), Some(ms(1_800)));
        estimator.on_sample(ms(110));
        assert_eq!(timeout(&estimator), Some(Duration::from_micros(282_500)));
        assert_eq!(estimator.timeout(ms(500), ms(1_800)), Some(ms(500)));
    }

    /// The ends of the scale do not overflow.
    #[test]
    fn extremes_saturate() {
        let mut estimator = Estimator::new();
        estimator.on_sample(Duration::MAX);
        estimator.on_sample(Duration::ZERO);
        for _ in 0..100 {
            estimator.back_off();
        }
        let timeout = estimator.timeout(Duration::ZERO, Duration::MAX);
        assert_eq!(timeout, Some(Duration::MAX));
        estimator.on_sample(Duration::MAX);
        assert!(estimator.round_trip().is_some());
    }
}
