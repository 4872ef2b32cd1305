//! RFC 6298's averages in whole ticks of a coarse clock (Jacobson 1988, appendix A, as in 4.3BSD
//! and ns-2's `TcpAgent::rtt_update`).

use airtcp_units::Duration;

/// Eight times the mean and four times the mean deviation, in ticks.
#[derive(Clone, Debug)]
pub struct TickEstimator {
    tick: u64,
    mean_8: i64,
    deviation_4: i64,
}

impl TickEstimator {
    /// Creates an estimator without samples, on a clock with ticks of `tick`.
    pub fn new(tick: Duration) -> Self {
        Self {
            tick: tick.as_nanos().max(1),
            mean_8: 0,
            deviation_4: 0,
        }
    }

    /// Returns the mean and the mean deviation after one more sample, rounded to nearest ticks.
    #[expect(
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        reason = "a round trip in ticks is far below 2^60, and no average is negative"
    )]
    pub fn on_sample(&mut self, rtt: Duration) -> (Duration, Duration) {
        let sample = ((rtt.as_nanos() + self.tick / 2) / self.tick) as i64;
        if self.mean_8 == 0 {
            self.mean_8 = sample << 3;
            self.deviation_4 = sample << 1;
        } else {
            let mut error = sample - (self.mean_8 >> 3);
            self.mean_8 = (self.mean_8 + error).max(1);
            error = error.abs() - (self.deviation_4 >> 2);
            self.deviation_4 = (self.deviation_4 + error).max(1);
        }
        (
            Duration::from_nanos((self.mean_8 as u64 * self.tick) >> 3),
            Duration::from_nanos((self.deviation_4 as u64 * self.tick) >> 2),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn milliseconds(value: u64) -> Duration {
        Duration::from_millis(value)
    }

    /// In ticks of 10 ms: 104 ms is 10, so 80/8 and 20/4; 146 ms is 15: error 5, mean 85/8,
    /// deviation 20 + (5 − 5) = 20; 86 ms is 9: error 9 − 10 = −1, mean 84/8, deviation 20 + (1
    /// − 5) = 16.
    #[test]
    fn counts_in_whole_ticks() {
        let mut estimator = TickEstimator::new(milliseconds(10));
        let mut take = |rtt| {
            let (mean, deviation) = estimator.on_sample(milliseconds(rtt));
            (mean.as_nanos() / 1000, deviation.as_nanos() / 1000)
        };
        assert_eq!(take(104), (100_000, 50_000));
        assert_eq!(take(146), (106_250, 50_000));
        assert_eq!(take(86), (105_000, 40_000));
    }
}
