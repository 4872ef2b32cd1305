//! Shadowing that changes with the way of a station: log-normal, and correlated over a distance
//! (M. Gudmundson, "Correlation model for shadow fading in mobile radio systems", Electronics
//! Letters 27(23), 1991), as a sum of sinusoids: a function of the time, whatever was asked before.
//!
//! The correlation over a time τ, exp(−|τ|/T), is the mean of cos(ωτ) if ω is of Cauchy's
//! distribution with scale 1/T.

use airtcp_units::{Duration, Instant};

use super::ratio;
use crate::random::Stream;

const SINUSOIDS: usize = 32;

/// A station's shadowing as a function of time.
#[derive(Clone, Debug)]
pub(super) struct Shadow {
    /// Standard deviation of each sinusoid in dB, times the root of 2.
    amplitude_db: f64,
    /// Radians a second, and the phase at time zero.
    sinusoids: Box<[(f64, f64); SINUSOIDS]>,
}

impl Shadow {
    /// Shadowing with this standard deviation; its correlation falls to 1/e in 1/`rate` seconds.
    pub(super) fn new(deviation_db: f64, rate: f64, stream: Stream) -> Self {
        use std::f64::consts::PI;
        let count = SINUSOIDS as f64;
        let sinusoid = |n: usize| {
            let draw = 2 * n as u64;
            // A frequency from each of as many equally likely ranges.
            let share = (n as f64 + stream.uniform(draw)) / count;
            let frequency = rate * libm::tan(PI * (share - 0.5));
            (frequency, 2.0 * PI * stream.uniform(draw + 1))
        };
        Self {
            amplitude_db: deviation_db * libm::sqrt(2.0 / count),
            sinusoids: Box::new(std::array::from_fn(sinusoid)),
        }
    }

    /// The loss at `at` in dB: mean 0.
    pub(super) fn loss_db(&self, at: Instant) -> f64 {
        let seconds = at.as_secs_f64();
        let wave = |&(frequency, phase): &(f64, f64)| libm::cos(frequency * seconds + phase);
        self.amplitude_db * self.sinusoids.iter().map(wave).sum::<f64>()
    }
}

/// Slots from one computed value to the next; between them the power changes evenly.
const BLOCK: u64 = 64;

/// A station's shadowing, sampled in slots.
#[derive(Clone, Debug)]
pub(super) struct SlottedShadow {
    shadow: Shadow,
    slot: Duration,
    /// The block queried last, and the power over its mean at its start and at its end.
    block: u64,
    gains: [f64; 2],
}

impl SlottedShadow {
    pub(super) fn new(shadow: &Shadow, slot: Duration) -> Self {
        let mut slotted = Self {
            shadow: shadow.clone(),
            slot,
            block: 0,
            gains: [1.0; 2],
        };
        slotted.gains = [0, 1].map(|block| slotted.gain_at(block));
        slotted
    }

    /// The power in `slot` over that without shadowing.
    pub(super) fn gain(&mut self, slot: u64) -> f64 {
        let block = slot / BLOCK;
        if block != self.block {
            let first = if block == self.block + 1 {
                self.gains[1]
            } else {
                self.gain_at(block)
            };
            self.gains = [first, self.gain_at(block + 1)];
            self.block = block;
        }
        let [first, next] = self.gains;
        first + (next - first) * (slot % BLOCK) as f64 / BLOCK as f64
    }

    fn gain_at(&self, block: u64) -> f64 {
        let at = Instant::ZERO + self.slot * (block * BLOCK);
        ratio(-self.shadow.loss_db(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 4000 stations: a deviation of 6 dB, and a correlation over a time of exp(−τ/T). The
    /// standard error of a mean of products of normal variables is at most √(2/4000).
    #[test]
    fn it_is_correlated_as_gudmundsons() {
        let stations: Vec<_> = (0..4000)
            .map(|n| Shadow::new(6.0, 0.1, Stream::new(7, "shadows").substream(n)))
            .collect();
        let start = Instant::ZERO + Duration::from_secs(1000);
        for (seconds, correlation) in [(0.0, 1.0), (1.0, 0.905), (10.0, 0.368), (30.0, 0.050)] {
            let later = start + Duration::from_secs_f64(seconds).unwrap();
            let products = stations.iter().map(|one| {
                let (now, then) = (one.loss_db(start), one.loss_db(later));
                now * then / 36.0
            });
            let mean = products.sum::<f64>() / 4000.0;
            assert!((mean - correlation).abs() < 0.06, "{seconds} s: {mean}");
        }
        let beyond = stations
            .iter()
            .filter(|one| one.loss_db(start).abs() > 12.0);
        // Of a normal variable 4.55 % are beyond two deviations.
        assert!((beyond.count() as f64 / 4000.0 - 0.0455).abs() < 0.01);
    }

    /// The value of a slot does not depend on earlier queries, and is the computed one at the start
    /// of a block.
    #[test]
    fn slots_in_any_order_have_the_same_value() {
        let slot = Duration::from_millis(1);
        let shadow = Shadow::new(6.0, 1.0, Stream::new(3, "shadow"));
        let mut slotted = SlottedShadow::new(&shadow, slot);
        let slots = [0, 1, 63, 64, 65, 128, 1000, 999_999, 0, 64];
        let found = slots.map(|one| slotted.gain(one));
        for (one, gain) in slots.into_iter().zip(found).rev() {
            let mut fresh = SlottedShadow::new(&shadow, slot);
            assert_eq!(fresh.gain(one).to_bits(), gain.to_bits(), "slot {one}");
            if one % BLOCK == 0 {
                let exact = ratio(-shadow.loss_db(Instant::ZERO + slot * one));
                assert_eq!(gain.to_bits(), exact.to_bits(), "slot {one}");
            }
        }
    }
}
