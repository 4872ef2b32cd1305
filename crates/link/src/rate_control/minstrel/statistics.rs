//! Statistics of a mode: attempts, successes, and a filtered probability of success.

/// Probabilities are in units of 1/4096, as in Linux.
pub(super) const ONE: i32 = 1 << 12;

/// Coefficients of a low-pass filter of second order with a period of 16 updates, in units of
/// 1/4096 (`rc80211_minstrel_ht.h` of Linux 6: a = exp(-π√2/16), 2a·cos(2π√2/16) and -a²).
const SECOND: i32 = 0x1499;
const THIRD: i32 = -0x092e;
const FIRST: i32 = ONE - SECOND - THIRD;

/// A part of [`ONE`].
pub(super) const fn fraction(numerator: u32, denominator: u32) -> i32 {
    ((numerator as i64 * ONE as i64) / denominator as i64) as i32
}

/// Statistics of a mode.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Statistics {
    /// Attempts since the last update.
    pub attempts: u32,
    pub successes: u32,
    /// Whether it was ever tried.
    pub was_tried: bool,
    /// Filtered probability of success, and the one before.
    pub probability: i32,
    before: i32,
}

impl Statistics {
    /// Updates the probability with the outcomes since the last update.
    pub(super) fn update(&mut self) {
        if self.attempts > 0 {
            self.was_tried = true;
            self.filter(fraction(self.successes, self.attempts));
        }
        self.attempts = 0;
        self.successes = 0;
    }

    fn filter(&mut self, input: i32) {
        let input = input.max(1);
        let (first, second) = (self.probability, self.before);
        if first == 0 {
            self.before = input;
            self.probability = input;
            return;
        }
        let sum = FIRST * input + SECOND * first + THIRD * second;
        let filtered = sum >> 12;
        self.before = first;
        self.probability = if filtered < 0 { 1 } else { filtered.min(ONE) };
    }

    /// Whether too few of many attempts succeeded to wait for the next update.
    pub(super) const fn fails_suddenly(&self) -> bool {
        self.attempts > 30 && self.successes < self.attempts / 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The filter passes a constant unchanged: its coefficients add up to one.
    #[test]
    fn a_constant_passes() {
        assert_eq!(FIRST + SECOND + THIRD, ONE);
        let mut statistics = Statistics::default();
        for _ in 0..100 {
            statistics.attempts = 100;
            statistics.successes = 70;
            statistics.update();
        }
        assert!((statistics.probability - fraction(7, 10)).abs() < 8);
    }

    /// Its coefficients match the comment.
    #[test]
    fn coefficients_are_those_of_a_period_of_sixteen() {
        use std::f64::consts::{PI, SQRT_2};
        let a = (-PI * SQRT_2 / 16.0).exp();
        let second = 2.0 * a * (SQRT_2 * 2.0 * PI / 16.0).cos();
        assert!(
            (f64::from(SECOND) / 4096.0 - second).abs() < 2e-3,
            "{second}"
        );
        assert!((f64::from(THIRD) / 4096.0 + a * a).abs() < 2e-3);
    }

    #[test]
    fn nothing_tried_changes_nothing() {
        let mut statistics = Statistics::default();
        statistics.update();
        assert_eq!((statistics.probability, statistics.was_tried), (0, false));
    }

    #[test]
    fn failure_is_noticed_at_once() {
        let seen = |attempts, successes| Statistics {
            attempts,
            successes,
            ..Statistics::default()
        };
        assert!(seen(32, 7).fails_suddenly());
        assert!(!seen(30, 0).fails_suddenly() && !seen(32, 8).fails_suddenly());
    }
}
