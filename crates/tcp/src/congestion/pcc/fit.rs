//! The round trips of a monitor interval: their trend, by linear regression over the times at which
//! the segments were sent, and their deviation.

use airtcp_units::Duration;

/// Exact sums over the round trips, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Fit {
    count: u64,
    sent: u128,
    rtt: u128,
    sent_squared: u128,
    rtt_squared: u128,
    product: u128,
}

impl Fit {
    /// Adds the round trip of a segment sent `sent` after the interval began.
    pub fn add(&mut self, sent: Duration, rtt: Duration) {
        let (x, y) = (u128::from(sent.as_nanos()), u128::from(rtt.as_nanos()));
        self.count += 1;
        self.sent = self.sent.saturating_add(x);
        self.rtt = self.rtt.saturating_add(y);
        self.sent_squared = self.sent_squared.saturating_add(x.saturating_mul(x));
        self.rtt_squared = self.rtt_squared.saturating_add(y.saturating_mul(y));
        self.product = self.product.saturating_add(x.saturating_mul(y));
    }

    /// Number of round trips.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The mean round trip in nanoseconds, for formulas; zero without any.
    #[expect(clippy::cast_precision_loss, reason = "a ratio for a formula")]
    pub fn mean(&self) -> f64 {
        self.rtt as f64 / self.count.max(1) as f64
    }

    /// Their standard deviation in nanoseconds.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn deviation(&self) -> f64 {
        libm::sqrt(self.of_rtt().max(0.0)) / self.count.max(1) as f64
    }

    /// The root of the mean squared residual of the regression, in nanoseconds.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn residual(&self) -> f64 {
        let slope = self.slope();
        let explained = slope * slope * self.of_sent();
        libm::sqrt((self.of_rtt() - explained).max(0.0)) / self.count.max(1) as f64
    }

    /// The count squared times the covariance of two series, from their sums.
    #[expect(clippy::cast_precision_loss, reason = "the difference is exact")]
    fn covariance(&self, product: u128, one: u128, other: u128) -> f64 {
        let (total, squares) = (
            u128::from(self.count).saturating_mul(product),
            one.saturating_mul(other),
        );
        if total >= squares {
            (total - squares) as f64
        } else {
            -((squares - total) as f64)
        }
    }

    fn of_sent(&self) -> f64 {
        self.covariance(self.sent_squared, self.sent, self.sent)
    }

    fn of_rtt(&self) -> f64 {
        self.covariance(self.rtt_squared, self.rtt, self.rtt)
    }

    /// The slope d(RTT)/dT; zero if the segments were not sent at different times.
    pub fn slope(&self) -> f64 {
        let spread = self.of_sent();
        if spread <= 0.0 {
            return 0.0;
        }
        self.covariance(self.product, self.sent, self.rtt) / spread
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn milliseconds(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    fn fitted(points: &[(u64, u64)]) -> Fit {
        let mut fit = Fit::default();
        for &(sent, rtt) in points {
            fit.add(milliseconds(sent), milliseconds(rtt));
        }
        fit
    }

    /// Points on a line, and the textbook's four points (0, 1), (1, 3), (2, 2), (3, 5): slope 1.1.
    #[test]
    fn the_slope_is_that_of_least_squares() {
        assert_eq!(fitted(&[(0, 30), (10, 31), (20, 32)]).slope(), 0.1);
        assert_eq!(fitted(&[(0, 32), (10, 31), (20, 30)]).slope(), -0.1);
        assert_eq!(fitted(&[(0, 1), (1, 3), (2, 2), (3, 5)]).slope(), 1.1);
    }

    /// The same four points: mean 2.75, variance 2.1875; the slope explains 1.1² × 1.25 of it.
    #[test]
    fn deviation_and_residual_are_those_of_the_textbook() {
        let fit = fitted(&[(0, 1), (1, 3), (2, 2), (3, 5)]);
        let near = |found: f64, expected: f64| assert!((found / 1e6 - expected).abs() < 1e-9);
        near(fit.mean(), 2.75);
        near(fit.deviation(), libm::sqrt(2.1875));
        near(fit.residual(), libm::sqrt(2.1875 - 1.21 * 1.25));
    }

    #[test]
    fn one_time_has_no_slope() {
        assert_eq!(fitted(&[]).slope(), 0.0);
        assert_eq!(fitted(&[(5, 30)]).slope(), 0.0);
        assert_eq!(fitted(&[(5, 30), (5, 40)]).slope(), 0.0);
        assert_eq!(fitted(&[(5, 30), (5, 40)]).count(), 2);
    }
}
