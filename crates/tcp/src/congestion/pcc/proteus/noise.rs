//! Which changes of the round trip are noise (Meng et al.; `pcc_utility_manager.cpp`): each
//! acknowledgment, each interval, and the trend over intervals are judged.

use airtcp_units::{Duration, Instant};

use crate::congestion::Ack;
use crate::congestion::pcc::fit::Fit;

/// Number of intervals of a trend (`kRttHistoryLen`).
const HISTORY: usize = 6;
/// Weight of the newest value in averages (`kAlpha`).
const NEWEST: f64 = 0.1;
/// Relation to the smallest trend seen, below which averages begin again (`kBeta`).
const TINY: f64 = 100.0;
/// Deviations from the average beyond which a trend counts (`kInflationToleranceGainHigh`).
const TREND_GAIN: f64 = 2.0;
/// The same for the deviation of round trips, and the least that counts, in nanoseconds.
const DEVIATION_GAIN: f64 = 4.0;
const MIN_DEVIATION: f64 = 1e6;
/// Share of recent intervals with a deviation that counts, from which on it is usual
/// (`kTrendingResetIntervalRatio`).
const USUAL: f64 = 0.95;
/// Ratio between the times of acknowledgments, relative to the average, that shows a burst.
const BURST: f64 = 50.0;

/// A filter for round trips of bursts of acknowledgments (`OnCongestionEvent`). The authors'
/// code judges a sample when the next one arrives, here at once.
#[derive(Clone, Debug, Default)]
pub struct AckFilter {
    last: Option<Instant>,
    interval: Duration,
    usual_ratio: Option<f64>,
    in_burst: bool,
}

impl AckFilter {
    /// Whether the round trip of this acknowledgment is a measurement: not from a burst on, until
    /// one is below the average.
    #[expect(clippy::cast_precision_loss, reason = "a ratio of times")]
    pub fn is_reliable(&mut self, ack: &Ack) -> bool {
        let Some(rtt) = ack.rtt else {
            return false;
        };
        let interval = self.last.map_or(Duration::ZERO, |last| ack.now - last);
        let before = core::mem::replace(&mut self.interval, interval);
        self.last = Some(ack.now);
        if before == Duration::ZERO || interval == Duration::ZERO {
            return !self.in_burst;
        }
        let ratio = before.as_nanos() as f64 / interval.as_nanos() as f64;
        let ratio = if ratio < 1.0 { 1.0 / ratio } else { ratio };
        let usual = *self.usual_ratio.get_or_insert(ratio);
        self.usual_ratio = Some(averaged(usual, ratio));
        if ratio > BURST * usual {
            self.in_burst = true;
        } else if self.in_burst && rtt < ack.srtt {
            self.in_burst = false;
        }
        !self.in_burst
    }
}

/// What counts of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// The slope of its round trips.
    pub gradient: bool,
    /// Their deviation.
    pub deviation: bool,
}

/// The averages that intervals are compared with. Times are in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Noise {
    means: Means,
    trend: Trend,
    deviations: Deviations,
}

impl Noise {
    /// Judges the round trips of an interval.
    pub fn judge(&mut self, fit: &Fit) -> Counts {
        // A slope below the regression's error is no slope.
        let is_clear = fit.residual() < fit.slope().abs() * fit.mean();
        let mut counts = Counts {
            gradient: is_clear,
            deviation: is_clear,
        };
        if fit.count() < 2 || !self.means.add(fit.mean()) {
            return counts;
        }
        let trend = self.means.slope();
        if self.trend.is_unusual(trend) {
            counts.gradient |= trend > 0.0;
            counts.deviation = true;
        }
        counts.deviation |= self.deviations.is_unusual(fit.deviation());
        counts
    }
}

/// The mean round trips of the last intervals.
#[derive(Clone, Debug, Default)]
struct Means {
    values: [f64; HISTORY],
    count: usize,
}

impl Means {
    /// Adds a mean. Returns whether there are enough.
    fn add(&mut self, mean: f64) -> bool {
        self.values.rotate_left(1);
        self.values[HISTORY - 1] = mean;
        self.count = (self.count + 1).min(HISTORY);
        self.count == HISTORY
    }

    /// The slope of their regression over the intervals, in nanoseconds an interval.
    fn slope(&self) -> f64 {
        let mean = self.values.iter().sum::<f64>() / 6.0;
        let mut product = 0.0;
        for (place, value) in [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5].iter().zip(self.values) {
            product += place * (value - mean);
        }
        // The sum of the places' squares.
        product / 17.5
    }
}

/// The usual trend of the mean round trips (`DetermineToleranceInflation`).
#[derive(Clone, Debug, Default)]
struct Trend {
    average: f64,
    deviation: f64,
    smallest: f64,
    last: f64,
}

impl Trend {
    /// Whether `trend` is beyond the usual ones; otherwise it joins them.
    fn is_unusual(&mut self, trend: f64) -> bool {
        let size = trend.abs();
        if self.smallest < 1e-3 || size < self.smallest / TINY {
            *self = Self {
                average: 0.0,
                deviation: size,
                smallest: size,
                last: trend,
            };
            return false;
        }
        let unusual = (trend - self.average).abs() > TREND_GAIN * self.deviation;
        if !unusual {
            self.deviation = averaged(self.deviation, (trend - self.last).abs());
            self.average = averaged(self.average, trend);
            self.last = trend;
        }
        self.smallest = self.smallest.min(size);
        unusual
    }
}

/// The usual deviation of the round trips (`DetermineToleranceDeviation`).
#[derive(Clone, Debug, Default)]
struct Deviations {
    /// The average, and the average distance from it.
    usual: Option<(f64, f64)>,
    /// Share of recent intervals beyond it.
    unusual: f64,
}

impl Deviations {
    /// Whether `deviation` is beyond the usual; otherwise it joins it.
    fn is_unusual(&mut self, deviation: f64) -> bool {
        self.unusual *= 1.0 - NEWEST;
        let Some((average, distance)) = self.usual.filter(|(average, _)| *average >= 1e-3) else {
            self.usual = Some((deviation, deviation / 2.0));
            return false;
        };
        let unusual = deviation > average + DEVIATION_GAIN * distance && deviation > MIN_DEVIATION;
        if unusual {
            self.unusual += NEWEST;
        } else {
            let off = (deviation - average).abs();
            self.usual = Some((averaged(average, deviation), averaged(distance, off)));
        }
        if self.unusual > USUAL {
            *self = Self::default();
        }
        unusual
    }
}

fn averaged(average: f64, newest: f64) -> f64 {
    average * (1.0 - NEWEST) + newest * NEWEST
}

#[cfg(test)]
mod tests {
    use super::super::super::testbed::ack;
    use super::*;

    const fn milliseconds(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    /// Round trips in microseconds, a millisecond apart.
    fn fitted(rtts: impl Iterator<Item = u64>) -> Fit {
        let mut fit = Fit::default();
        for (count, rtt) in (0..).zip(rtts) {
            fit.add(milliseconds(count), Duration::from_micros(rtt));
        }
        fit
    }

    /// A slope counts if it is larger than the regression's error relative to the round trip.
    #[test]
    fn a_slope_below_its_error_is_noise() {
        let steady = fitted((0..30).map(|count| 30_000 + 50 * count));
        assert!(Noise::default().judge(&steady).gradient);
        let jitter = fitted((0..30).map(|count| 30_000 + 3000 * (count % 2) + count));
        let counts = Noise::default().judge(&jitter);
        assert_eq!((counts.gradient, counts.deviation), (false, false));
    }

    /// The slope over six intervals: 10, 20, … 60 is 10 an interval.
    #[test]
    fn the_trend_is_that_of_least_squares() {
        let mut means = Means::default();
        let full = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0].map(|mean| means.add(mean));
        assert_eq!(full, [false, false, false, false, false, true]);
        assert!((means.slope() - 10.0).abs() < 1e-9);
    }

    /// A deviation of 5 ms among ones of a fifth of a millisecond counts, until it is usual.
    #[test]
    fn an_unusual_deviation_counts() {
        let mut noise = Deviations::default();
        for _ in 0..20 {
            assert!(!noise.is_unusual(2e5));
        }
        assert!(!noise.is_unusual(9e5), "less than a millisecond");
        let counted = (0..60).filter(|_| noise.is_unusual(5e6)).count();
        assert!((20..40).contains(&counted), "{counted}");
    }

    #[test]
    fn a_trend_beyond_two_deviations_counts() {
        let mut trend = Trend::default();
        for count in 0..20 {
            let one = if count % 2 == 0 { 1e4 } else { -1e4 };
            assert!(!trend.is_unusual(one), "{count}");
        }
        assert!(trend.is_unusual(1e6));
        assert!(trend.is_unusual(-1e6));
        assert!(!trend.is_unusual(1e4));
    }

    /// A burst of acknowledgments after a pause, and a round trip below the average that ends it.
    #[test]
    fn samples_of_a_burst_are_left_out() {
        let mut filter = AckFilter::default();
        let mut at = |microseconds, rtt| {
            let now = Instant::ZERO + Duration::from_micros(microseconds);
            filter.is_reliable(&ack(now, Some(milliseconds(rtt)), 0))
        };
        for count in 0..20 {
            assert!(at(1000 * count, 30));
        }
        assert!(!at(100_000, 100));
        assert!(!at(100_010, 99));
        assert!(!at(101_000, 98));
        assert!(at(102_000, 29));
    }
}
