//! The utility of an interval, which the rate maximizes.

use super::interval::Measured;
use super::megabits;
use crate::config::Config;

/// The coefficients of the utility functions, for rates in Mbit/s.
#[derive(Clone, Copy, Debug)]
pub struct Utility {
    /// Exponent of the rate (t).
    exponent: f64,
    /// Coefficient of the trend of round trips (b).
    latency: f64,
    /// Coefficient of their deviation, a second.
    deviation: f64,
    /// Coefficient of the loss rate (c).
    loss: f64,
    /// The largest loss rate with a coefficient of 1 in its place.
    mild: f64,
}

impl Utility {
    /// The coefficients of a configuration.
    pub const fn new(config: &Config) -> Self {
        Self {
            exponent: config.pcc_exponent,
            latency: config.pcc_latency,
            deviation: config.pcc_deviation,
            loss: config.pcc_loss,
            mild: config.pcc_mild_loss,
        }
    }

    /// x^t − b·x·d(RTT)/dT − c·x·L (Dong et al.), with the trend and the loss rate that
    /// count for the sender.
    pub fn of(&self, measured: &Measured, gradient: f64, loss_rate: f64) -> f64 {
        let rate = megabits(measured.sent_rate);
        let loss = if loss_rate <= self.mild {
            1.0
        } else {
            self.loss
        };
        libm::pow(rate, self.exponent) - rate * (self.latency * gradient + loss * loss_rate)
    }

    /// A scavenger's penalty: d·x·σ(RTT), with a deviation in nanoseconds (Meng et al.).
    pub fn of_deviation(&self, measured: &Measured, deviation: f64) -> f64 {
        self.deviation * megabits(measured.sent_rate) * deviation / 1e9
    }
}

#[cfg(test)]
mod tests {
    use airtcp_units::BitRate;

    use super::super::fit::Fit;
    use super::*;

    fn at(megabits: u64) -> Measured {
        Measured {
            rate: BitRate::from_bps(megabits * 1_000_000),
            sent_rate: BitRate::from_bps(megabits * 1_000_000),
            span: airtcp_units::Duration::from_millis(30),
            sent: 1000,
            lost: 0,
            round_trips: Fit::default(),
            application_limited: false,
        }
    }

    /// Eq. 1 by hand: 100^0.9 = 63.096, 900 × 100 × 0.01 = 900, 11.35 × 100 × 0.02 = 22.7.
    #[test]
    fn the_utility_is_that_of_the_paper() {
        let utility = Utility::new(&Config::default());
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-3, "{found}");
        near(utility.of(&at(100), 0.0, 0.0), 63.0957);
        near(utility.of(&at(100), 0.01, 0.0), 63.0957 - 900.0);
        near(utility.of(&at(100), 0.0, 0.02), 63.0957 - 22.7);
        let config = Config {
            pcc_mild_loss: 0.03,
            ..Config::default()
        };
        near(Utility::new(&config).of(&at(100), 0.0, 0.02), 63.0957 - 2.0);
    }

    /// A millisecond of deviation costs 1500 × 100 × 0.001 at 100 Mbit/s: more than the rate is
    /// worth, so that a scavenger yields to whatever moves the queue.
    #[test]
    fn a_deviation_of_a_millisecond_outweighs_100_mbits() {
        let penalty = Utility::new(&Config::default()).of_deviation(&at(100), 1e6);
        assert!((penalty - 150.0).abs() < 1e-9, "{penalty}");
    }

    /// With losses that do not depend on the rate the utility is largest where 0.9·x^−0.1 is
    /// 11.35·L: at 101 Mbit/s for 5 %, so that up to 5 % is tolerated at 100 Mbit/s.
    #[test]
    fn five_per_cent_are_tolerated_at_100_mbits() {
        let utility = Utility::new(&Config::default());
        let best = libm::pow(0.9 / (11.35 * 0.05), 10.0);
        assert!((100.0..102.0).contains(&best), "{best}");
        let of = |megabits, loss| utility.of(&at(megabits), 0.0, loss);
        assert!(of(100, 0.05) > of(90, 0.05));
        assert!(of(115, 0.05) < of(101, 0.05));
        assert!(of(105, 0.03) > of(95, 0.03));
        assert!(of(105, 0.06) < of(95, 0.06));
    }
}
