//! The path's rate as a distribution: its changes, and the arrivals that it makes likely (Winstein,
//! Sivaraman & Balakrishnan, NSDI 2013, §3.1, §3.2). Where the text leaves a choice, it is that
//! of the authors' code (`process.cc`).

use alloc::vec;
use alloc::vec::Vec;
use core::f64::consts::SQRT_2;

/// Length of a tick, in seconds.
pub const TICK_SECONDS: f64 = 0.02;
/// The rates that are distinguished: zero, and 256 steps above it (§3.1).
pub const RATES: usize = 257;
/// Size of a step, in segments a second: the 256 end at 1000.
const STEP: f64 = 1000.0 / 256.0;
/// The most segments in a tick that are distinguished (`MAX_ARRIVALS_PER_TICK`).
pub const MOST: usize = 30;
/// Standard deviations beyond which the rate does not move in a tick.
const REACH: f64 = 5.0;

/// The rate in the middle of step `index`, in segments a second; the first is an outage.
#[expect(clippy::cast_precision_loss, reason = "of 257 rates")]
pub fn rate(index: usize) -> f64 {
    match index {
        0 => 0.0,
        _ => (index as f64 + 0.5) * STEP,
    }
}

/// The lower end of step `index`, which of the first is below every number.
#[expect(clippy::cast_precision_loss, reason = "of 257 rates")]
fn lower(index: usize) -> f64 {
    match index {
        0 => f64::NEG_INFINITY,
        RATES.. => f64::INFINITY,
        _ => index as f64 * STEP,
    }
}

/// The step that `rate` is in.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, and is bounded by the number of steps"
)]
fn step_of(rate: f64) -> usize {
    ((rate / STEP) as usize).min(RATES - 1)
}

/// Where a rate is a tick later.
#[derive(Clone, Debug)]
struct Row {
    /// The first step that it may be in, and the weights from there on.
    first: usize,
    weights: Vec<f64>,
}

/// The changes of a rate in a tick: Brownian motion, and outages that end seldom.
#[derive(Clone, Debug)]
pub struct Motion(Vec<Row>);

impl Motion {
    /// `noise` is the standard deviation of the change in a second, in segments a second; outages
    /// end at a rate of `escape` a second.
    pub fn new(noise: f64, escape: f64) -> Self {
        let deviation = noise * libm::sqrt(TICK_SECONDS);
        let below = |distance: f64| 0.5 * libm::erfc(-distance / (deviation * SQRT_2));
        let stays = libm::exp(-escape * TICK_SECONDS);
        let row = |from: usize| {
            let middle = rate(from);
            let first = step_of(middle - REACH * deviation);
            let last = step_of(middle + REACH * deviation);
            let weight = |to: usize| {
                let share = match (from, to) {
                    (0, 0) => stays,
                    (0, _) => 1.0 - stays,
                    _ => 1.0,
                };
                share * (below(lower(to + 1) - middle) - below(lower(to) - middle))
            };
            Row {
                first,
                weights: (first..=last).map(weight).collect(),
            }
        };
        Self((0..RATES).map(row).collect())
    }

    /// The distribution a tick after `probabilities`, not normalized.
    pub fn after(&self, probabilities: &[f64]) -> Vec<f64> {
        let mut moved = vec![0.0; RATES];
        for (row, probability) in self.0.iter().zip(probabilities) {
            for (to, weight) in moved[row.first..].iter_mut().zip(&row.weights) {
                *to += probability * weight;
            }
        }
        moved
    }

    /// For each rate, the mean of `values` at the rates a tick later, not normalized.
    pub fn before(&self, values: impl Fn(usize) -> f64) -> Vec<f64> {
        let mean = |row: &Row| {
            let weighted = row.weights.iter().enumerate();
            weighted
                .map(|(place, weight)| weight * values(row.first + place))
                .sum()
        };
        self.0.iter().map(mean).collect()
    }
}

/// For each rate, the probabilities of 0 to [`MOST`] arrivals in a tick: Poisson's, and of the last
/// that of as many or more.
#[expect(clippy::cast_precision_loss, reason = "a few arrivals")]
pub fn arrivals() -> Vec<[f64; MOST + 1]> {
    let of_rate = |index: usize| {
        let mean = rate(index) * TICK_SECONDS;
        let mut probabilities = [0.0; MOST + 1];
        let mut probability = libm::exp(-mean);
        let mut rest = 1.0;
        for (count, place) in probabilities[..MOST].iter_mut().enumerate() {
            *place = probability;
            rest -= probability;
            probability *= mean / (count + 1) as f64;
        }
        probabilities[MOST] = rest.max(0.0);
        probabilities
    };
    (0..RATES).map(of_rate).collect()
}

/// Scales `probabilities` to a sum of 1; those without any stay as they are.
pub fn normalize(probabilities: &mut [f64]) {
    let sum: f64 = probabilities.iter().sum();
    if sum > 0.0 {
        probabilities.iter_mut().for_each(|value| *value /= sum);
    }
}
