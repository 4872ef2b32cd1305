//! A natural cubic spline through the averages of a delay profile.

use alloc::vec::Vec;

/// A knot: a window in segments, the mean delay there in milliseconds, and the second derivative.
#[derive(Clone, Copy, Debug)]
struct Knot {
    window: f64,
    delay: f64,
    bend: f64,
}

/// The delay as a function of the window; beyond its ends a straight line.
#[derive(Clone, Debug, Default)]
pub struct Curve(Vec<Knot>);

impl Curve {
    /// A spline through points of rising windows: at least two.
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        if points.len() < 2 {
            return None;
        }
        let mut knots: Vec<Knot> = points
            .iter()
            .map(|&(window, delay)| Knot {
                window,
                delay,
                bend: 0.0,
            })
            .collect();
        bend(&mut knots);
        Some(Self(knots))
    }

    /// The first window, in whole segments from 2 on, at which the delay is longer than `delay`
    /// milliseconds; `None` if no window up to `most` is.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "windows are far below 2^53, and at least 2"
    )]
    pub fn first_longer(&self, delay: f64, most: u64) -> Option<u64> {
        let end = (self.0.last()?.window as u64).min(most);
        let longer = (2..=end).find(|&window| self.delay(window as f64) > delay);
        if longer.is_some() {
            return longer;
        }
        // A straight line from here on.
        let begin = (end + 1).max(2);
        let (first, second) = (self.delay(begin as f64), self.delay((begin + 1) as f64));
        let slope = second - first;
        if first > delay {
            return Some(begin);
        }
        let further = (slope > 0.0).then(|| ((delay - first) / slope) as u64)?;
        Some(begin.saturating_add(further).saturating_add(1)).filter(|&window| window <= most)
    }

    /// The delay, in milliseconds, at a window in segments.
    pub fn delay(&self, window: f64) -> f64 {
        let knots = &self.0;
        let place = knots.partition_point(|knot| knot.window <= window);
        let left = place.clamp(1, knots.len() - 1) - 1;
        let (one, other) = (knots[left], knots[left + 1]);
        let width = other.window - one.window;
        let slope = (other.delay - one.delay) / width;
        if place == 0 {
            let slope = slope - width * (2.0 * one.bend + other.bend) / 6.0;
            return one.delay + slope * (window - one.window);
        }
        if place == knots.len() {
            let slope = slope + width * (one.bend + 2.0 * other.bend) / 6.0;
            return other.delay + slope * (window - other.window);
        }
        let (a, b) = (
            (other.window - window) / width,
            (window - one.window) / width,
        );
        a * one.delay
            + b * other.delay
            + ((a * a * a - a) * one.bend + (b * b * b - b) * other.bend) * width * width / 6.0
    }
}

/// Sets the second derivatives, zero at the ends: a tridiagonal system, by Thomas' algorithm.
fn bend(knots: &mut [Knot]) {
    let count = knots.len();
    let mut reduced = Vec::with_capacity(count);
    reduced.push((0.0, 0.0));
    for place in 1..count - 1 {
        let (before, here, after) = (knots[place - 1], knots[place], knots[place + 1]);
        let left = here.window - before.window;
        let right = after.window - here.window;
        let bent = 6.0 * ((after.delay - here.delay) / right - (here.delay - before.delay) / left);
        let (upper, value) = reduced[place - 1];
        let pivot = 2.0 * (left + right) - left * upper;
        reduced.push((right / pivot, (bent - left * value) / pivot));
    }
    for place in (1..count - 1).rev() {
        let (upper, value) = reduced[place];
        knots[place].bend = value - upper * knots[place + 1].bend;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
    }

    #[test]
    fn points_on_a_line_give_the_line() {
        let curve = Curve::through(&[(10.0, 50.0), (20.0, 60.0), (50.0, 90.0)]).expect("points");
        for window in [0.0, 10.0, 13.0, 20.0, 41.0, 50.0, 100.0] {
            near(curve.delay(window), 40.0 + window);
        }
        assert!(Curve::through(&[(10.0, 50.0)]).is_none());
    }

    #[test]
    fn the_first_longer_delay_is_searched_and_extrapolated() {
        let curve = Curve::through(&[(10.0, 50.0), (20.0, 60.0), (50.0, 90.0)]).expect("points");
        assert_eq!(curve.first_longer(30.0, 1000), Some(2));
        assert_eq!(curve.first_longer(65.5, 1000), Some(26));
        assert_eq!(curve.first_longer(65.0, 1000), Some(26));
        assert_eq!(curve.first_longer(140.5, 1000), Some(101));
        assert_eq!(curve.first_longer(1200.5, 1000), None);
        let flat = Curve::through(&[(10.0, 50.0), (20.0, 50.0)]).expect("points");
        assert_eq!(flat.first_longer(50.0, 1000), None);
        assert_eq!(flat.first_longer(49.0, 1000), Some(2));
    }

    /// Three points (0, 0), (1, 1), (2, 0): the bend in the middle is −3, so that at a half the
    /// spline is 0.5 + 3/16 = 11/16.
    #[test]
    fn a_hump_is_the_textbooks() {
        let curve = Curve::through(&[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)]).expect("points");
        near(curve.delay(1.0), 1.0);
        near(curve.delay(0.5), 11.0 / 16.0);
        near(curve.delay(1.5), 11.0 / 16.0);
        near(curve.delay(3.0), -1.5);
    }
}
