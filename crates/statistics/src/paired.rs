//! The paired difference on common random numbers, with its 95 % confidence interval.
//!
//! For one seed both sides meet the same channel, so differences are taken seed by seed: the
//! channel's luck cancels (Law, Simulation Modeling and Analysis, 5th ed., §11.2). The interval is
//! that of the ratio of the two means (Cochran, Sampling Techniques, 3rd ed., §6.4).

use super::student_t_quantile;

/// Probability that an interval misses.
const ERROR: f64 = 0.05;
/// Seeds without any difference after which it is taken to be zero: a difference on every second
/// seed would have shown with 97 %.
const ENOUGH_IDENTICAL: usize = 5;
/// Larger numbers of seeds are not a practical answer.
const MAX_SEEDS: usize = 10_000;
/// The smallest effect worth having, in per cent.
pub const SMALLEST_PERCENT: f64 = 1.0;

/// The side of zero on which the interval of a difference lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Above zero.
    Higher,
    /// Below zero.
    Lower,
    /// The interval contains zero.
    NoDifferenceShown,
    /// Every pair is equal.
    Identical,
    /// One pair, or identical pairs: the uncertainty of the difference is unknown.
    NoInterval,
}

/// Knowledge of an effect, given the smallest one worth having.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The interval excludes zero.
    Shown,
    /// The interval lies within the smallest effect worth having (Schuirmann, J. Pharmacokinetics
    /// and Biopharmaceutics 15, 1987).
    Excluded,
    /// More seeds would decide.
    Undecided,
}

/// The mean of treated minus baseline over pairs, in the unit of the measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedDifference {
    /// Number of pairs.
    pub n: usize,
    /// Mean of the baseline.
    pub baseline_mean: f64,
    /// Mean difference.
    pub mean: f64,
    /// Half the 95 % confidence interval of `mean`; `None` if the pairs do not determine one.
    pub half_width: Option<f64>,
    /// The side of zero on which the interval lies.
    pub outcome: Outcome,
    /// Variance of one pair's residual, the basis of `half_width`.
    variance: Option<f64>,
    /// Neither the baseline nor the treated varies over several pairs.
    is_constant: bool,
}

impl PairedDifference {
    /// The difference of measurements of the same seeds, in the same order; `None` if the two
    /// differ in length or are empty.
    #[must_use]
    pub fn of(baseline: &[f64], treated: &[f64]) -> Option<Self> {
        if baseline.len() != treated.len() || baseline.is_empty() {
            return None;
        }
        let n = baseline.len();
        let pairs = || baseline.iter().zip(treated);
        let differences: Vec<f64> = pairs().map(|(before, after)| after - before).collect();
        let (baseline_mean, mean) = (mean_of(baseline), mean_of(&differences));
        let is_constant = n > 1 && [baseline, treated].into_iter().all(is_same);
        let mut found = Self {
            n,
            baseline_mean,
            mean,
            half_width: None,
            outcome: Outcome::NoInterval,
            variance: None,
            is_constant,
        };
        if differences.iter().all(|difference| *difference == 0.0) {
            found.outcome = Outcome::Identical;
        } else if n > 1 && !is_constant {
            // About each baseline's part of the mean effect.
            let ratio = if baseline_mean == 0.0 {
                0.0
            } else {
                mean / baseline_mean
            };
            let residuals: Vec<f64> = differences
                .iter()
                .zip(baseline)
                .map(|(difference, before)| difference - ratio * before)
                .collect();
            let variance = variance_of(&residuals);
            let half_width = half_width(variance, n, (n - 1) as f64);
            found.variance = Some(variance);
            found.half_width = Some(half_width);
            found.outcome = match mean {
                _ if mean.abs() <= half_width => Outcome::NoDifferenceShown,
                _ if mean > 0.0 => Outcome::Higher,
                _ => Outcome::Lower,
            };
        }
        Some(found)
    }

    /// The mean in per cent of the baseline's; `None` if that is 0.
    #[must_use]
    pub fn mean_percent(&self) -> Option<f64> {
        self.percent(self.mean)
    }

    /// Half the interval of [`mean_percent`](Self::mean_percent).
    #[must_use]
    pub fn half_width_percent(&self) -> Option<f64> {
        self.half_width.and_then(|half| self.percent(half))
    }

    /// Whether the effect is shown, excluded, or undecided.
    #[must_use]
    pub fn state(&self) -> State {
        let Some(mean) = self.mean_percent() else {
            // Per cent of zero: only the sign can be judged.
            return match self.outcome {
                Outcome::Higher | Outcome::Lower => State::Shown,
                _ if !self.is_exact() => State::Undecided,
                _ if self.mean == 0.0 => State::Excluded,
                _ => State::Shown,
            };
        };
        let half = match self.half_width_percent() {
            Some(half) => half,
            None if self.is_exact() => 0.0,
            None => return State::Undecided,
        };
        let (low, high) = (mean - half, mean + half);
        if -SMALLEST_PERCENT < low && high < SMALLEST_PERCENT {
            State::Excluded
        } else if low > 0.0 || high < 0.0 {
            State::Shown
        } else {
            State::Undecided
        }
    }

    /// Estimate of the number of seeds by which an effect of this size and spread would be shown or
    /// excluded; `None` without a spread, or if more than 10 000 are needed.
    #[must_use]
    pub fn seeds_needed(&self) -> Option<usize> {
        if self.outcome == Outcome::Identical {
            return (self.n < ENOUGH_IDENTICAL).then_some(ENOUGH_IDENTICAL);
        }
        let variance = self.variance?;
        let size = self.mean.abs();
        let worth = SMALLEST_PERCENT / 100.0 * self.baseline_mean.abs();
        let target = size.max(worth - size);
        let is_enough = |n: usize| half_width(variance, n, (n - 1) as f64) < target;
        if !is_enough(MAX_SEEDS) {
            return None;
        }
        let (mut low, mut high) = (self.n, MAX_SEEDS);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if is_enough(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(high)
    }

    /// Whether the mean has no uncertainty: no randomness, or enough seeds without any difference.
    fn is_exact(&self) -> bool {
        self.is_constant || (self.outcome == Outcome::Identical && self.n >= ENOUGH_IDENTICAL)
    }

    fn percent(&self, value: f64) -> Option<f64> {
        (self.baseline_mean != 0.0).then(|| 100.0 * value / self.baseline_mean)
    }
}

/// Half the interval of the mean of `n` pairs by Student's t.
fn half_width(variance: f64, n: usize, degrees: f64) -> f64 {
    student_t_quantile(degrees, 1.0 - ERROR / 2.0) * (variance / n as f64).sqrt()
}

fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The unbiased estimate.
fn variance_of(values: &[f64]) -> f64 {
    let mean = mean_of(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    squares / (values.len() - 1) as f64
}

fn is_same(values: &[f64]) -> bool {
    values.windows(2).all(|pair| pair[0] == pair[1])
}
