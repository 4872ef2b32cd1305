//! Differences of means with confidence intervals.

use airtcp_statistics::student_t_quantile;
use serde::Serialize;

/// Quantile for a two-sided level of 95 %.
const UPPER_QUANTILE: f64 = 0.975;

/// Running count, mean and sum of squared deviations (Welford, Technometrics 4, 1962).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        let distance = value - self.mean;
        self.mean += distance / self.count as f64;
        self.squares += distance * (value - self.mean);
    }

    /// Number of values.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The mean, if there is a value.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// The squared standard error of the mean.
    fn squared_error(&self) -> f64 {
        self.squares / (self.count - 1) as f64 / self.count as f64
    }
}

/// The treated group's difference to the control group, with its 95 % interval.
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

    /// Welch's interval between two independent groups (Biometrika 34, 1947). `None` with fewer
    /// than two values in a group.
    pub fn welch(treated: Moments, control: Moments) -> Option<Self> {
        if treated.count < 2 || control.count < 2 {
            return None;
        }
        let (one, other) = (treated.squared_error(), control.squared_error());
        let both = one + other;
        // Welch and Satterthwaite's degrees of freedom.
        let freedom = both * both
            / (one * one / (treated.count - 1) as f64 + other * other / (control.count - 1) as f64);
        Self::student(treated.mean - control.mean, both, freedom)
    }

    /// Student's interval of the mean of paired differences (Biometrika 6, 1908). `None` with fewer
    /// than two pairs.
    pub fn paired(pairs: Moments) -> Option<Self> {
        if pairs.count < 2 {
            return None;
        }
        Self::student(pairs.mean, pairs.squared_error(), (pairs.count - 1) as f64)
    }

    /// Student's interval around a mean difference with this squared error.
    fn student(difference: f64, squared_error: f64, freedom: f64) -> Option<Self> {
        let half = if squared_error == 0.0 {
            0.0
        } else {
            student_t_quantile(freedom, UPPER_QUANTILE) * squared_error.sqrt()
        };
        Some(Self {
            difference,
            low: difference - half,
            high: difference + half,
        })
    }

    /// A difference of natural logarithms as a ratio less one.
    pub fn as_ratio(self) -> Self {
        let ratio = |logarithm: f64| logarithm.exp() - 1.0;
        Self {
            difference: ratio(self.difference),
            low: ratio(self.low),
            high: ratio(self.high),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(values: &[f64]) -> Moments {
        let mut moments = Moments::default();
        for value in values {
            moments.add(*value);
        }
        moments
    }

    fn assert_near(found: Difference, low: f64, high: f64) {
        let near = |one: f64, other: f64| (one - other).abs() < 1e-5;
        assert!(near(found.low, low) && near(found.high, high), "{found:?}");
    }

    /// scipy.stats.ttest_ind of these logarithms with equal_var=False: 6.768 degrees of freedom,
    /// 0.356495 to 0.765348.
    #[test]
    fn welchs_interval_is_that_of_scipy() {
        let logarithms = |rates: &[f64]| moments(&rates.iter().map(|r| r.ln()).collect::<Vec<_>>());
        let treated = logarithms(&[100.0, 120.0, 90.0, 110.0]);
        let control = logarithms(&[50.0, 70.0, 55.0, 60.0, 65.0]);
        let found = Difference::welch(treated, control).unwrap();
        assert_near(found, 0.356_495, 0.765_348);
        assert!(found.is_shown());
        assert_eq!(Difference::welch(treated, logarithms(&[1.0])), None);
    }

    /// The mean 2.5 of 1, 2, 3 and 4, with the standard error 0.645497 and 3.182446, the 0.975
    /// quantile of Student's t with 3 degrees of freedom.
    #[test]
    fn the_interval_of_pairs_is_students() {
        let found = Difference::paired(moments(&[1.0, 2.0, 3.0, 4.0])).unwrap();
        assert_near(found, 0.445_740, 4.554_260);
        assert_eq!(Difference::paired(moments(&[1.0])), None);
        assert!(!Difference::paired(moments(&[0.0, 0.0])).unwrap().is_shown());
    }
}
