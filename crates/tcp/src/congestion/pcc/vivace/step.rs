//! The step of the rate along the utility's gradient (Dong et al.): amplified with confidence,
//! bounded relative to the rate.

/// Step in Mbit/s for a gradient of 1, at first (θ0).
const CONVERSION: f64 = 1.0;
/// The boundary of a first step, relative to the rate (ω0).
const BOUNDARY: f64 = 0.05;
/// By how much the boundary grows with each step beyond it (δ).
const INCREMENT: f64 = 0.1;

/// The memory of past steps.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// Whether the last step was upwards; `None` before the first.
    upwards: Option<bool>,
    /// Number of steps in this direction (τ).
    same: u32,
    /// Number of increments of the boundary (k).
    increments: u32,
}

impl Steps {
    /// The step, in Mbit/s, of a rate of `rate` Mbit/s with this gradient of the utility.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a quotient within the boundary, which is a small number of increments"
    )]
    pub fn next(&mut self, gradient: f64, rate: f64) -> f64 {
        let upwards = gradient > 0.0;
        if self.upwards != Some(upwards) {
            *self = Self {
                upwards: Some(upwards),
                ..Self::default()
            };
        }
        self.same = self.same.saturating_add(1);
        let step = CONVERSION * self.confidence() * gradient;
        let boundary = rate * (BOUNDARY + f64::from(self.increments) * INCREMENT);
        if step.abs() > boundary {
            self.increments = self.increments.saturating_add(1);
            return if upwards { boundary } else { -boundary };
        }
        // The smallest boundary that the step is within.
        let above = (step.abs() / rate - BOUNDARY) / INCREMENT;
        self.increments = if above > 0.0 {
            libm::ceil(above) as u32
        } else {
            0
        };
        step
    }

    /// The confidence amplifier m(τ): the number of steps in one direction, and from the fourth on
    /// twice as fast.
    fn confidence(&self) -> f64 {
        let same = f64::from(self.same);
        if self.same <= 3 {
            same
        } else {
            2.0 * same - 3.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (one, other) in found.iter().zip(expected) {
            assert!((one - other).abs() < 1e-9, "{found:?}");
        }
    }

    /// The amplifier is τ up to three, then 2τ − 3; a change of direction begins again.
    #[test]
    fn confidence_amplifies_steps_in_one_direction() {
        let mut steps = Steps::default();
        let up: Vec<_> = (0..5).map(|_| steps.next(0.5, 1000.0)).collect();
        near(&up, &[0.5, 1.0, 1.5, 2.5, 3.5]);
        let down: Vec<_> = (0..2).map(|_| steps.next(-0.5, 1000.0)).collect();
        near(&down, &[-0.5, -1.0]);
        near(&[steps.next(0.5, 1000.0)], &[0.5]);
    }

    /// 5 % of the rate, then 15, 25, … while steps exceed it.
    #[test]
    fn the_boundary_grows_while_steps_exceed_it() {
        let mut steps = Steps::default();
        let down: Vec<_> = (0..4).map(|_| steps.next(-1000.0, 100.0)).collect();
        near(&down, &[-5.0, -15.0, -25.0, -35.0]);
        near(&[steps.next(1000.0, 100.0)], &[5.0]);
    }

    /// Then the smallest boundary that holds the step counts: a step of 12 Mbit/s of 100 is
    /// within 15 %, so that the next may be 15.
    #[test]
    fn the_boundary_shrinks_to_the_step() {
        let mut steps = Steps::default();
        for _ in 0..4 {
            steps.next(1000.0, 100.0);
        }
        near(&[steps.next(12.0 / 7.0, 100.0)], &[12.0]);
        near(&[steps.next(1000.0, 100.0)], &[15.0]);
        let mut steps = Steps::default();
        near(
            &[steps.next(1000.0, 100.0), steps.next(1.0, 100.0)],
            &[5.0, 2.0],
        );
        near(&[steps.next(1000.0, 100.0)], &[5.0]);
    }
}
