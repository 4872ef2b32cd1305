//! The retransmission timeout (RFC 6298).

use alloc::sync::Arc;

use airtcp_units::Duration;

use crate::config::{Config, TimeoutConfig};
use crate::rtt::RttEstimator;

/// Limit on the number of doublings: 2^16 times any RTO is beyond any ceiling a user would set.
const MAX_BACK_OFF: u8 = 16;

/// The least ceiling that RFC 6298 §2.5 allows a timeout, below which a round trip counts in full.
const LONG: Duration = Duration::from_secs(60);

/// The retransmission timeout: estimator, factor m, floor and ceiling, backoff.
#[derive(Clone, Debug)]
pub struct RetransmissionTimeout {
    estimator: RttEstimator,
    /// Shared by very many senders.
    config: Arc<Config>,
    /// The factor m, if it is a whole number, which needs no floating point; else zero.
    whole_factor: u32,
    /// The timeout without backoff, recomputed at each sample.
    base: Duration,
    /// At most [`MAX_BACK_OFF`].
    back_off: u8,
}

impl RetransmissionTimeout {
    /// Creates a timeout that is `config.timeout.initial` until the first sample.
    #[must_use]
    pub fn new(config: Arc<Config>) -> Self {
        let settings = &config.timeout;
        Self {
            estimator: RttEstimator::new(settings),
            whole_factor: whole(settings.factor).unwrap_or(0),
            base: settings.initial.max(settings.min).min(settings.max),
            back_off: 0,
            config,
        }
    }

    /// The endpoint's configuration.
    #[inline]
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    #[inline]
    fn settings(&self) -> &TimeoutConfig {
        &self.config.timeout
    }

    /// Takes a round-trip sample, which ends the backoff (RFC 6298 §5, Karn & Partridge 1987). It
    /// counts at most as the longest timeout: a longer sample only measures how long an
    /// acknowledgment had been missing.
    ///
    /// `una` and `nxt`: see [`RttEstimator::on_sample`].
    #[inline]
    pub fn on_sample(&mut self, rtt: Duration, una: u64, nxt: u64) {
        let rtt = rtt.min(self.longest_round_trip());
        self.estimator.on_sample(rtt, una, nxt);
        self.back_off = 0;
        self.refresh();
    }

    /// Adapts to a spurious timeout: the RTO must include the round trip `rtt` that it did not wait
    /// for, and its doubling ends (RFC 4015 §3, step 5.1).
    pub fn on_spurious(&mut self, rtt: Duration) {
        self.estimator.raise_to(rtt);
        self.back_off = 0;
        self.refresh();
    }

    /// Undoes the doubling of a spurious expiry (Linux, `icsk_retransmits = 0`).
    pub const fn forget_expiries(&mut self) {
        self.back_off = 0;
    }

    fn refresh(&mut self) {
        let (Some(srtt), Some(rttvar)) = (self.estimator.srtt(), self.estimator.rttvar()) else {
            return;
        };
        // RFC 6298 §2.3: RTO = SRTT + max(G, K·RTTVAR); K is the factor m of Miyim eq. 3.
        // RFC 9002 §6.2.1 adds max_ack_delay.
        let settings = self.settings();
        let deviation = match self.whole_factor {
            0 => times(rttvar, settings.factor),
            factor => rttvar * u64::from(factor),
        };
        let timeout = srtt + deviation.max(settings.granularity) + settings.ack_delay;
        self.base = timeout.max(settings.min).min(settings.max);
    }

    /// Restarts from `rto`, as RFC 6298 §5.7 requires after the SYN timed out.
    pub fn reinitialize(&mut self, rto: Duration) {
        self.base = rto.max(self.settings().min).min(self.settings().max);
        self.back_off = 0;
    }

    /// Doubles the timeout after an expiry (RFC 6298 §5.5).
    pub fn on_expiry(&mut self) {
        if self.settings().back_off {
            self.back_off = (self.back_off + 1).min(MAX_BACK_OFF);
        }
    }

    /// The current timeout, backoff included.
    #[inline]
    #[must_use]
    pub fn rto(&self) -> Duration {
        self.backed_off(self.back_off.into())
    }

    /// The timeout after `doublings` consecutive expiries, at most the ceiling.
    #[inline]
    #[must_use]
    pub fn backed_off(&self, doublings: u32) -> Duration {
        if doublings == 0 || !self.settings().back_off {
            return self.base;
        }
        (self.base * (1 << doublings.min(MAX_BACK_OFF.into()))).min(self.settings().max)
    }

    /// The clock's granularity.
    #[must_use]
    pub fn granularity(&self) -> Duration {
        self.settings().granularity
    }

    /// The longest possible timeout.
    #[must_use]
    pub fn longest(&self) -> Duration {
        self.settings().max
    }

    /// The longest round trip that counts: the longest timeout, but at least a minute.
    #[must_use]
    pub fn longest_round_trip(&self) -> Duration {
        self.settings().max.max(LONG)
    }

    /// Expiries since the last sample.
    #[must_use]
    pub const fn back_off(&self) -> u32 {
        self.back_off as u32
    }

    /// Two round trips, each at least the clock's granularity; the RTO before the first sample.
    #[must_use]
    pub fn two_round_trips(&self) -> Duration {
        self.estimator
            .srtt()
            .map_or(self.rto(), |srtt| srtt.max(self.granularity()) * 2)
    }

    /// The underlying estimator.
    #[must_use]
    pub const fn estimator(&self) -> &RttEstimator {
        &self.estimator
    }
}

/// The factor, if it is a whole number.
fn whole(factor: f64) -> Option<u32> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates, and what changes is no whole number"
    )]
    let whole = factor as u32;
    ((f64::from(whole) - factor).abs() < f64::EPSILON).then_some(whole)
}

/// `duration × factor`, rounded down to the nanosecond, saturating.
fn times(duration: Duration, factor: f64) -> Duration {
    #[expect(clippy::cast_precision_loss, reason = "2^53 ns is a hundred days")]
    let nanos = duration.as_nanos() as f64 * factor;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates"
    )]
    Duration::from_nanos(nanos as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn milliseconds(value: u64) -> Duration {
        Duration::from_millis(value)
    }

    fn timeout_of(timeout: TimeoutConfig) -> RetransmissionTimeout {
        RetransmissionTimeout::new(Arc::new(Config {
            timeout,
            ..Config::default()
        }))
    }

    #[test]
    fn is_the_initial_value_before_a_sample() {
        let timeout = timeout_of(TimeoutConfig::default());
        assert_eq!(timeout.rto(), milliseconds(1000));
        assert_eq!(timeout.back_off(), 0);
    }

    #[test]
    fn keeps_its_bounds_before_a_sample_and_after_a_lost_syn() {
        let bounds = |min, max| TimeoutConfig {
            min: milliseconds(min),
            max: milliseconds(max),
            ..TimeoutConfig::default()
        };
        for (min, max, expected) in [(1500, 9000, 1500), (1, 800, 800), (1, 9000, 1000)] {
            let mut timeout = timeout_of(bounds(min, max));
            assert_eq!(timeout.rto(), milliseconds(expected));
            timeout.on_expiry();
            assert_eq!(timeout.back_off(), 1);
            timeout.reinitialize(Duration::from_secs(3));
            assert_eq!(timeout.rto(), milliseconds(3000.min(max)));
            assert_eq!(timeout.back_off(), 0);
        }
        let mut timeout = timeout_of(bounds(4000, 9000));
        timeout.reinitialize(Duration::from_secs(3));
        assert_eq!(timeout.rto(), milliseconds(4000));
    }

    /// RFC 6298 §2.2: after a first sample R the RTO is R + 4·R/2 = 3 R.
    #[test]
    fn is_three_times_the_first_sample() {
        let mut timeout = timeout_of(TimeoutConfig::default());
        timeout.on_sample(milliseconds(100), 0, 0);
        assert_eq!(timeout.rto(), milliseconds(300));
    }

    /// Miyim §III: with m = 10 it is R + 10·R/2 = 6 R.
    #[test]
    fn factor_scales_the_deviation() {
        let config = TimeoutConfig {
            factor: 10.0,
            ..TimeoutConfig::default()
        };
        let mut timeout = timeout_of(config);
        timeout.on_sample(milliseconds(100), 0, 0);
        assert_eq!(timeout.rto(), milliseconds(600));
    }

    #[test]
    fn keeps_within_floor_and_ceiling() {
        let mut timeout = timeout_of(TimeoutConfig::default());
        timeout.on_sample(milliseconds(10), 0, 0);
        assert_eq!(timeout.rto(), milliseconds(200));
        timeout.on_sample(Duration::from_secs(1000), 0, 0);
        assert_eq!(timeout.rto(), Duration::from_secs(60));
    }

    /// RFC 6298 §2.3: the deviation term is never less than the clock granularity.
    #[test]
    fn granularity_bounds_the_deviation_term() {
        let config = TimeoutConfig {
            granularity: milliseconds(100),
            min: Duration::ZERO,
            ..TimeoutConfig::default()
        };
        let mut timeout = timeout_of(config);
        for _ in 0..200 {
            timeout.on_sample(milliseconds(50), 0, 0);
        }
        assert_eq!(timeout.rto(), milliseconds(150));
    }

    #[test]
    fn doubles_at_each_expiry_until_a_sample() {
        let mut timeout = timeout_of(TimeoutConfig::default());
        timeout.on_sample(milliseconds(100), 0, 0);
        for expected in [600, 1200, 2400, 4800] {
            timeout.on_expiry();
            assert_eq!(timeout.rto(), milliseconds(expected));
        }
        for _ in 0..40 {
            timeout.on_expiry();
        }
        assert_eq!(timeout.rto(), Duration::from_secs(60));
        timeout.on_sample(milliseconds(100), 0, 0);
        assert_eq!(timeout.back_off(), 0);
        assert!(timeout.rto() < milliseconds(300));
    }

    #[test]
    fn back_off_can_be_off() {
        let config = TimeoutConfig {
            back_off: false,
            ..TimeoutConfig::default()
        };
        let mut timeout = timeout_of(config);
        timeout.on_expiry();
        assert_eq!(timeout.rto(), milliseconds(1000));
        assert_eq!(timeout.backed_off(3), milliseconds(1000));
    }
}
