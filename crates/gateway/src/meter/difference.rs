//! Differences of means with confidence intervals.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Quantile for a two-sided level of 95 %.
const UPPER_QUANTILE: f64 = 0.975;

/// Running count, mean and sum of squared deviations (Welford, Technometrics 4, 1962).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.count += 1;
        let distance = value - self.mean;
        self.mean += distance / self.count as f64;
        self.squares += distance * (value - self.mean);
    }

    fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// The squared standard error of the mean.
    fn squared_error(&self) -> f64 {
        self.squares / (self.count - 1) as f64 / self.count as f64
    }
}

/// Measurements of a connection, or of a station as the mean of its connections.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sample {
    /// The natural logarithm of its goodput: rates span powers of ten.
    pub log_goodput: Option<f64>,
    /// Its smoothed round trip, in milliseconds.
    pub round_trip_ms: Option<f64>,
    /// Retransmitted segments per thousand.
    pub again_per_1000: Option<f64>,
    /// Reported duplicates per thousand segments.
    pub duplicates_per_1000: Option<f64>,
}

impl Sample {
    /// The difference to `other`, where both are known.
    pub fn less(&self, other: &Self) -> Self {
        let less = |one: Option<f64>, other: Option<f64>| Some(one? - other?);
        Self {
            log_goodput: less(self.log_goodput, other.log_goodput),
            round_trip_ms: less(self.round_trip_ms, other.round_trip_ms),
            again_per_1000: less(self.again_per_1000, other.again_per_1000),
            duplicates_per_1000: less(self.duplicates_per_1000, other.duplicates_per_1000),
        }
    }
}

/// Moments of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Samples {
    log_goodput: Moments,
    round_trip: Moments,
    again: Moments,
    duplicates: Moments,
}

impl Samples {
    pub fn add(&mut self, sample: &Sample) {
        let rows = [
            (&mut self.log_goodput, sample.log_goodput),
            (&mut self.round_trip, sample.round_trip_ms),
            (&mut self.again, sample.again_per_1000),
            (&mut self.duplicates, sample.duplicates_per_1000),
        ];
        for (moments, value) in rows {
            if let Some(value) = value {
                moments.add(value);
            }
        }
    }

    /// The means.
    pub fn means(&self) -> Sample {
        Sample {
            log_goodput: self.log_goodput.mean(),
            round_trip_ms: self.round_trip.mean(),
            again_per_1000: self.again.mean(),
            duplicates_per_1000: self.duplicates.mean(),
        }
    }
}

/// The treated group's difference, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The difference of the means; for goodput, the ratio of the geometric means less one.
    pub difference: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl Difference {
    /// Whether the interval excludes zero.
    pub fn is_shown(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }

    /// Student's interval around a mean difference with this squared error.
    fn student(difference: f64, squared_error: f64, freedom: f64) -> Option<Self> {
        let half = if squared_error == 0.0 {
            0.0
        } else {
            let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
            student.inverse_cdf(UPPER_QUANTILE) * squared_error.sqrt()
        };
        Some(Self {
            difference,
            low: difference - half,
            high: difference + half,
        })
    }

    /// A difference of logarithms as a ratio less one.
    fn as_ratio(self) -> Self {
        let ratio = |logarithm: f64| logarithm.exp() - 1.0;
        Self {
            difference: ratio(self.difference),
            low: ratio(self.low),
            high: ratio(self.high),
        }
    }
}

/// The differences in all measurements. `None` with fewer than two samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Differences {
    /// Goodput, relative to the control group's.
    pub goodput: Option<Difference>,
    /// Round trips, in milliseconds.
    pub round_trip_ms: Option<Difference>,
    /// Retransmitted segments, per thousand.
    pub retransmissions_per_1000: Option<Difference>,
    /// Reported duplicates, per thousand segments.
    pub dsacks_per_1000: Option<Difference>,
}

impl Differences {
    /// Between two independent groups.
    pub(super) fn between(treated: &Samples, control: &Samples) -> Self {
        Self {
            goodput: welch(treated.log_goodput, control.log_goodput).map(Difference::as_ratio),
            round_trip_ms: welch(treated.round_trip, control.round_trip),
            retransmissions_per_1000: welch(treated.again, control.again),
            dsacks_per_1000: welch(treated.duplicates, control.duplicates),
        }
    }

    /// From paired differences within units.
    pub(super) fn within(pairs: &Samples) -> Self {
        Self {
            goodput: paired(pairs.log_goodput).map(Difference::as_ratio),
            round_trip_ms: paired(pairs.round_trip),
            retransmissions_per_1000: paired(pairs.again),
            dsacks_per_1000: paired(pairs.duplicates),
        }
    }
}

/// Welch's interval (Biometrika 34, 1947).
fn welch(treated: Moments, control: Moments) -> Option<Difference> {
    if treated.count < 2 || control.count < 2 {
        return None;
    }
    let (one, other) = (treated.squared_error(), control.squared_error());
    let both = one + other;
    // Welch and Satterthwaite's degrees of freedom.
    let freedom = both * both
        / (one * one / (treated.count - 1) as f64 + other * other / (control.count - 1) as f64);
    Difference::student(treated.mean - control.mean, both, freedom)
}

/// Student's interval of a mean (Biometrika 6, 1908).
fn paired(pairs: Moments) -> Option<Difference> {
    if pairs.count < 2 {
        return None;
    }
    Difference::student(pairs.mean, pairs.squared_error(), (pairs.count - 1) as f64)
}
