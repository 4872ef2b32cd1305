//! Comparison of treated connections with the control group, with confidence intervals.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::connection::Summary;

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

    /// The squared standard error of the mean.
    fn squared_error(&self) -> f64 {
        self.squares / (self.count - 1) as f64 / self.count as f64
    }
}

/// Connections of one group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    connections: u64,
    segments: u64,
    again: u64,
    duplicates: u64,
    /// Logarithms: rates span powers of ten.
    goodput: Moments,
    round_trip: Moments,
    again_share: Moments,
    duplicate_share: Moments,
}

/// A group in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GroupNumbers {
    /// Connections.
    pub connections: u64,
    /// The geometric mean of their goodputs, in bits a second.
    pub goodput_bps: Option<f64>,
    /// The mean of their smoothed round trips, in milliseconds.
    pub round_trip_ms: Option<f64>,
    /// Segments with data.
    pub segments: u64,
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Duplicates reported by receivers.
    pub dsacks: u64,
}

/// The treated group's difference, with the ends of the 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The difference of the means; for goodput, the ratio of the geometric means less one.
    pub difference: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The differences in all measurements. `None` with fewer than two in a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Differences {
    /// Of goodput, as a share of the control group's.
    pub goodput: Option<Difference>,
    /// Of round trips, in milliseconds.
    pub round_trip_ms: Option<Difference>,
    /// Of retransmitted segments, per thousand.
    pub retransmissions_per_1000: Option<Difference>,
    /// Of reported duplicates, per thousand segments.
    pub dsacks_per_1000: Option<Difference>,
}

impl Group {
    /// Adds a connection. Those without data do not count.
    pub(super) fn add(&mut self, one: &Summary) {
        if one.segments == 0 {
            return;
        }
        self.connections += 1;
        self.segments += one.segments;
        self.again += one.again;
        self.duplicates += one.duplicates;
        if let Some(goodput) = one.goodput_bps.filter(|&goodput| goodput > 0.0) {
            self.goodput.add(goodput.ln());
        }
        if let Some(round_trip) = one.round_trip_ms {
            self.round_trip.add(round_trip);
        }
        let thousands = one.segments as f64 / 1e3;
        self.again_share.add(one.again as f64 / thousands);
        self.duplicate_share.add(one.duplicates as f64 / thousands);
    }

    /// The group in numbers.
    pub fn numbers(&self) -> GroupNumbers {
        let mean = |of: Moments| (of.count > 0).then_some(of.mean);
        GroupNumbers {
            connections: self.connections,
            goodput_bps: mean(self.goodput).map(f64::exp),
            round_trip_ms: mean(self.round_trip),
            segments: self.segments,
            retransmissions: self.again,
            dsacks: self.duplicates,
        }
    }

    /// Compares this group with another.
    pub fn beside(&self, control: &Self) -> Differences {
        let ratio = difference(self.goodput, control.goodput).map(|logarithm| Difference {
            difference: logarithm.difference.exp() - 1.0,
            low: logarithm.low.exp() - 1.0,
            high: logarithm.high.exp() - 1.0,
        });
        Differences {
            goodput: ratio,
            round_trip_ms: difference(self.round_trip, control.round_trip),
            retransmissions_per_1000: difference(self.again_share, control.again_share),
            dsacks_per_1000: difference(self.duplicate_share, control.duplicate_share),
        }
    }
}

impl Difference {
    /// Whether the interval excludes zero.
    pub fn is_shown(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// Welch's interval (Biometrika 34, 1947).
fn difference(treated: Moments, control: Moments) -> Option<Difference> {
    if treated.count < 2 || control.count < 2 {
        return None;
    }
    let distance = treated.mean - control.mean;
    let (one, other) = (treated.squared_error(), control.squared_error());
    let both = one + other;
    let half = if both == 0.0 {
        0.0
    } else {
        // Welch and Satterthwaite's degrees of freedom.
        let freedom = both * both
            / (one * one / (treated.count - 1) as f64 + other * other / (control.count - 1) as f64);
        let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
        student.inverse_cdf(UPPER_QUANTILE) * both.sqrt()
    };
    Some(Difference {
        difference: distance,
        low: distance - half,
        high: distance + half,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(goodputs: &[f64]) -> Group {
        let mut group = Group::default();
        for &goodput_bps in goodputs {
            group.add(&Summary {
                goodput_bps: Some(goodput_bps),
                round_trip_ms: Some(goodput_bps / 10.0),
                segments: 1000,
                again: 3,
                duplicates: 1,
            });
        }
        group
    }

    /// scipy.stats.ttest_ind of the logarithms of these rates with equal_var=False: 0.356495 to
    /// 0.765348.
    #[test]
    fn the_interval_is_welchs() {
        let treated = group(&[100.0, 120.0, 90.0, 110.0]);
        let control = group(&[50.0, 70.0, 55.0, 60.0, 65.0]);
        let found = treated.beside(&control).goodput.unwrap();
        let near = |one: f64, other: f64| ((one + 1.0).ln() - other).abs() < 1e-5;
        assert!(
            near(found.low, 0.356_495) && near(found.high, 0.765_348),
            "{found:?}"
        );
        assert!(found.is_shown());
        let same = treated.beside(&control).retransmissions_per_1000.unwrap();
        assert_eq!((same.difference, same.low, same.high), (0.0, 0.0, 0.0));
        assert!(!same.is_shown());
    }

    #[test]
    fn too_few_are_not_compared() {
        assert_eq!(group(&[1.0]).beside(&group(&[1.0, 2.0])).goodput, None);
        let numbers = group(&[4.0, 9.0]).numbers();
        assert!((numbers.goodput_bps.unwrap() - 6.0).abs() < 1e-9);
        assert_eq!(
            (numbers.segments, numbers.retransmissions, numbers.dsacks),
            (2000, 6, 2)
        );
    }
}
