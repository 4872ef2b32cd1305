//! The number of segments that the path will have delivered by the end of each tick: for each rate
//! at present its distribution, which is computed once (Winstein, Sivaraman & Balakrishnan, NSDI
//! 2013, §3.3).
//!
//! As in the authors' code (`processforecaster.cc`), the ticks' numbers count as independent once
//! the rate at present is given.

use alloc::vec;
use alloc::vec::Vec;
use core::array;

use airtcp_packet::Forecast;

use super::rates::{MOST, Motion, RATES};

/// For each tick and each number of segments, the probability, for every rate, that no more have
/// been delivered by its end.
#[derive(Clone, Debug)]
pub struct Deliveries([Vec<f32>; Forecast::TICKS]);

impl Deliveries {
    /// The table for rates that move like this, with these `arrivals` in a tick.
    pub fn new(motion: &Motion, arrivals: &[[f64; MOST + 1]]) -> Self {
        let mut of_tick = arrivals.to_vec();
        // The motion does not preserve the sum: this is the rest of it.
        let mut mass = vec![1.0; RATES];
        let mut totals = vec![vec![1.0]; RATES];
        Self(array::from_fn(|_| {
            for ((total, tick), mass) in totals.iter_mut().zip(&of_tick).zip(&mass) {
                *total = convolved(total, tick, *mass);
            }
            let table = cumulative(&totals);
            let columns: Vec<Vec<f64>> = (0..=MOST)
                .map(|count| motion.before(|rate| of_tick[rate][count]))
                .collect();
            for (rate, tick) in of_tick.iter_mut().enumerate() {
                *tick = array::from_fn(|count| columns[count][rate]);
            }
            mass = motion.before(|rate| mass[rate]);
            table
        }))
    }

    /// The forecast for rates with these `probabilities`: by the end of each tick at least as many
    /// are delivered, but for the `risk`.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "at most 30 segments in each of eight ticks"
    )]
    pub fn forecast(&self, probabilities: &[f64], risk: f64) -> Forecast {
        Forecast::of_totals(array::from_fn(|tick| {
            let table = &self.0[tick];
            let is_too_few = |count: usize| {
                let row = &table[count * RATES..][..RATES];
                let products = row.iter().zip(probabilities);
                let at_most: f64 = products
                    .map(|(share, probability)| f64::from(*share) * probability)
                    .sum();
                at_most < risk
            };
            let (mut low, mut high) = (0, table.len() / RATES - 1);
            while low < high {
                let middle = usize::midpoint(low, high);
                if is_too_few(middle) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low as u32
        }))
    }
}

/// The distribution of the sum of two numbers, of the second's weights only `1/mass`.
fn convolved(first: &[f64], second: &[f64; MOST + 1], mass: f64) -> Vec<f64> {
    let mut sum = vec![0.0; first.len() + MOST];
    for (offset, weight) in first.iter().enumerate() {
        for (place, other) in sum[offset..].iter_mut().zip(second) {
            *place += weight * other / mass;
        }
    }
    sum
}

/// The probabilities of at most 0, 1 and more, for every rate.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a probability needs no more than 24 bits"
)]
fn cumulative(totals: &[Vec<f64>]) -> Vec<f32> {
    let counts = totals.first().map_or(0, Vec::len);
    let mut sums = vec![0.0; RATES];
    let mut table = Vec::with_capacity(counts * RATES);
    for count in 0..counts {
        for (sum, total) in sums.iter_mut().zip(totals) {
            *sum += total[count];
            table.push(*sum as f32);
        }
    }
    table
}
