//! The round trips that Copa compares (Arun & Balakrishnan §2.1, §2.2).

use airtcp_units::{Duration, Instant};

use crate::congestion::windowed_max::WindowedMax;

/// Age at which a minimum round trip expires (§2.1).
const MINIMUM_AGE: Duration = Duration::from_secs(10);
/// Round trips over which the maximum is taken (§2.2).
const MAXIMUM_ROUNDS: u64 = 4;

/// A minimum over a sliding window of time: the maximum of the complements.
#[derive(Clone, Debug, Default)]
struct WindowedMin(WindowedMax);

impl WindowedMin {
    fn update(&mut self, window: Duration, now: Instant, rtt: Duration) {
        let complement = u64::MAX - rtt.as_nanos();
        self.0.update(window.as_nanos(), now.as_nanos(), complement);
    }

    /// Meaningless before there is a sample.
    const fn get(&self) -> Duration {
        Duration::from_nanos(u64::MAX - self.0.get())
    }
}

/// Extremes of the round trips over three spans.
#[derive(Clone, Debug, Default)]
pub struct Delays {
    minimum: WindowedMin,
    standing: WindowedMin,
    maximum: WindowedMax,
}

impl Delays {
    /// Takes a sample at `now`; `srtt` is the smoothed round trip.
    pub fn on_sample(&mut self, now: Instant, rtt: Duration, srtt: Duration) {
        let srtt = if srtt == Duration::ZERO { rtt } else { srtt };
        self.minimum.update(MINIMUM_AGE, now, rtt);
        self.standing
            .update(Duration::from_nanos(srtt.as_nanos() / 2), now, rtt);
        let window = srtt.as_nanos().saturating_mul(MAXIMUM_ROUNDS);
        self.maximum.update(window, now.as_nanos(), rtt.as_nanos());
    }

    /// The minimum of the last half smoothed round trip: jitter and thinned acknowledgments do not
    /// count as a queue (§2.1, RTTstanding).
    pub const fn standing(&self) -> Duration {
        self.standing.get()
    }

    /// The estimated queueing delay (§2.1, eq. 2).
    pub fn queueing(&self) -> Duration {
        let (standing, minimum) = (self.standing.get(), self.minimum.get());
        Duration::from_nanos(standing.as_nanos().saturating_sub(minimum.as_nanos()))
    }

    /// Whether the queue is nearly empty: its delay is below a tenth of the range of the last four
    /// round trips (§2.2). Equality counts: a path of constant delay has no queue.
    pub fn is_nearly_empty(&self) -> bool {
        let minimum = self.minimum.get().as_nanos();
        let range = self.maximum.get().saturating_sub(minimum);
        self.queueing().as_nanos() <= range / 10
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn milliseconds(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    fn seen(samples: &[(u64, u64)]) -> Delays {
        let mut delays = Delays::default();
        for &(at, rtt) in samples {
            let now = Instant::ZERO + milliseconds(at);
            delays.on_sample(now, milliseconds(rtt), milliseconds(100));
        }
        delays
    }

    /// §2.1: the standing round trip covers half a smoothed one, the minimum ten seconds.
    #[test]
    fn a_sample_leaves_each_window_at_its_age() {
        let delays = seen(&[(1000, 80), (1040, 100)]);
        assert_eq!(delays.standing(), milliseconds(80));
        let delays = seen(&[(1000, 80), (1060, 100)]);
        assert_eq!(delays.standing(), milliseconds(100));
        assert_eq!(delays.queueing(), milliseconds(20));
        let delays = seen(&[(1000, 80), (12_000, 100)]);
        assert_eq!(delays.queueing(), Duration::ZERO);
    }

    /// §2.2: 0.1 (RTTmax − RTTmin), with a range of 100 ms.
    #[test]
    fn a_tenth_of_the_range_is_nearly_empty() {
        let delays = |standing| seen(&[(1000, 80), (1100, 180), (1300, standing)]);
        assert!(delays(90).is_nearly_empty());
        assert!(!delays(91).is_nearly_empty());
        // After four round trips the range is that of the present.
        assert!(!seen(&[(1000, 80), (1100, 180), (1600, 90)]).is_nearly_empty());
    }

    #[test]
    fn a_constant_delay_is_an_empty_queue() {
        assert!(seen(&[(1000, 80), (2000, 80), (3000, 80)]).is_nearly_empty());
    }
}
