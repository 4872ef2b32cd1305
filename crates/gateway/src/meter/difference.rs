//! Differences in goodput, round trips, retransmissions and duplicates.

use airtcp_host::difference::{Difference, Moments};
use serde::Serialize;

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
            goodput: Difference::welch(treated.log_goodput, control.log_goodput)
                .map(Difference::as_ratio),
            round_trip_ms: Difference::welch(treated.round_trip, control.round_trip),
            retransmissions_per_1000: Difference::welch(treated.again, control.again),
            dsacks_per_1000: Difference::welch(treated.duplicates, control.duplicates),
        }
    }

    /// From paired differences within units.
    pub(super) fn within(pairs: &Samples) -> Self {
        Self {
            goodput: Difference::paired(pairs.log_goodput).map(Difference::as_ratio),
            round_trip_ms: Difference::paired(pairs.round_trip),
            retransmissions_per_1000: Difference::paired(pairs.again),
            dsacks_per_1000: Difference::paired(pairs.duplicates),
        }
    }
}
