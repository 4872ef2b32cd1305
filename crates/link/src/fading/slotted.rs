//! A channel sampled in consecutive slots of equal length, as a scheduler does: sinusoids
//! are then rotated by known angles, without a cosine for each.
//!
//! A phasor at slot n is that at the start of a block of 64 slots, taken exactly, times two turns:
//! to the start of a group of 8, and within it. Turns are tabled once for a channel, and every
//! product starts from the block's beginning: errors do not accumulate, and the value of a slot
//! does not depend on earlier queries.

use airtcp_units::{Duration, Instant};

use super::jakes::{Jakes, SINUSOIDS};
use super::shadow::SlottedShadow;
use super::{Process, Radio, ratio};
use crate::random::Stream;

/// Slots in a group, and groups in a block.
const GROUP: u64 = 8;
const BLOCK: u64 = GROUP * GROUP;

/// Phasors of all sinusoids, cosines and sines in separate arrays, for vectorization.
type Phasors = [[f64; SINUSOIDS]; 2];

/// One station's channel, in slots.
#[derive(Clone, Debug)]
pub struct SlottedRadio {
    mean_snr: f64,
    shadow: Option<SlottedShadow>,
    fading: Slotted,
}

#[derive(Clone, Debug)]
enum Slotted {
    None,
    Independent(Stream),
    Turned(Box<Turned>),
}

impl SlottedRadio {
    /// Samples `radio` at the starts of slots of length `slot`, the first at time zero.
    #[must_use]
    pub fn new(radio: &Radio, slot: Duration) -> Self {
        Self {
            mean_snr: ratio(radio.mean_snr_db),
            shadow: radio
                .shadow
                .as_ref()
                .map(|shadow| SlottedShadow::new(shadow, slot)),
            fading: match &radio.fading {
                Process::None => Slotted::None,
                Process::Independent(stream) => Slotted::Independent(*stream),
                Process::Jakes(jakes) => Slotted::Turned(Box::new(Turned::new(jakes, slot))),
            },
        }
    }

    /// Signal-to-noise ratio in `slot`, as a ratio of powers and not in decibels.
    pub fn snr(&mut self, slot: u64) -> f64 {
        let gain = match &mut self.fading {
            Slotted::None => 1.0,
            Slotted::Independent(stream) => stream.exponential(slot),
            Slotted::Turned(turned) => turned.power(slot),
        };
        let mean = match &mut self.shadow {
            None => self.mean_snr,
            Some(shadow) => self.mean_snr * shadow.gain(slot),
        };
        mean * gain
    }
}

/// Jakes' sinusoids, turned from slot to slot.
#[derive(Clone, Debug)]
struct Turned {
    jakes: Jakes,
    slot: Duration,
    /// The turns of 0 to 7 slots, and of 0 to 7 groups.
    by_slots: [Phasors; GROUP as usize],
    by_groups: [Phasors; GROUP as usize],
    /// At the start of the block, and of the group, last queried.
    block: (u64, Phasors),
    group: (u64, Phasors),
}

impl Turned {
    fn new(jakes: &Jakes, slot: Duration) -> Self {
        let seconds = slot.as_secs_f64();
        let turns = |slots: u64| jakes.turns_in(seconds * slots as f64);
        let start = jakes.phasors(Instant::ZERO);
        Self {
            by_slots: std::array::from_fn(|slots| turns(slots as u64)),
            by_groups: std::array::from_fn(|groups| turns(groups as u64 * GROUP)),
            block: (0, start),
            group: (0, start),
            jakes: jakes.clone(),
            slot,
        }
    }

    fn power(&mut self, slot: u64) -> f64 {
        if self.group.0 != slot / GROUP {
            self.move_to_group(slot / GROUP);
        }
        let turn = &self.by_slots[(slot % GROUP) as usize];
        let phasors = &self.group.1;
        let mut waves = [0.0; SINUSOIDS];
        for (index, wave) in waves.iter_mut().enumerate() {
            *wave = phasors[0][index] * turn[0][index] - phasors[1][index] * turn[1][index];
        }
        self.jakes.power_of(&waves)
    }

    fn move_to_group(&mut self, group: u64) {
        let block = group * GROUP / BLOCK;
        if self.block.0 != block {
            let start = Instant::ZERO + self.slot * (block * BLOCK);
            self.block = (block, self.jakes.phasors(start));
        }
        let turn = &self.by_groups[(group % GROUP) as usize];
        let phasors = &self.block.1;
        let mut turned = [[0.0; SINUSOIDS]; 2];
        for index in 0..SINUSOIDS {
            let (cosine, sine) = (phasors[0][index], phasors[1][index]);
            turned[0][index] = cosine * turn[0][index] - sine * turn[1][index];
            turned[1][index] = cosine * turn[1][index] + sine * turn[0][index];
        }
        self.group = (group, turned);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: Duration = Duration::from_micros(1667);

    fn jakes(station: u64) -> Jakes {
        Jakes::new(10.0, Stream::new(5, "jakes").substream(station))
    }

    /// Turned phasors equal the directly computed ones, also in slots far from the start, and in
    /// whatever order slots are queried.
    #[test]
    fn turned_sinusoids_are_the_computed_ones() {
        for station in 0..20 {
            let jakes = jakes(station);
            let mut turned = Turned::new(&jakes, SLOT);
            let near = 0..500;
            let scattered = (0..500).map(|k| (k * 7919) % 100_003);
            let far = 50_000_000..50_000_200;
            let mut found = Vec::new();
            for slot in near.chain(scattered).chain(far) {
                let exact = jakes.power(Instant::ZERO + SLOT * slot);
                let power = turned.power(slot);
                assert!(
                    (power - exact).abs() < 1e-7,
                    "slot {slot}: {power}, {exact}"
                );
                found.push((slot, power));
            }
            let mut fresh = Turned::new(&jakes, SLOT);
            for (slot, power) in found.into_iter().rev() {
                assert_eq!(fresh.power(slot).to_bits(), power.to_bits(), "slot {slot}");
            }
        }
    }

    /// The power of a Rayleigh signal at two times has the correlation J0²(2π·f_d·τ) (Jakes 1974,
    /// §1.5: the squared envelope). Over 4000 stations, with powers of variance 1 and products of
    /// them of at most 9, the mean has a standard error below 0.048.
    #[test]
    fn the_autocorrelation_is_that_of_jakes() {
        let mut stations: Vec<_> = (0..4000).map(|n| Turned::new(&jakes(n), SLOT)).collect();
        for lag in [0, 3, 7, 12, 23, 40, 63, 64, 65, 150] {
            let mut sum = 0.0;
            for turned in &mut stations {
                let now = turned.power(120) - 1.0;
                sum += now * (turned.power(120 + lag) - 1.0);
            }
            let tau = SLOT.as_secs_f64() * lag as f64;
            let root = libm::j0(2.0 * std::f64::consts::PI * 10.0 * tau);
            let mean = sum / 4000.0;
            assert!(
                (mean - root * root).abs() < 0.2,
                "lag {lag}: {mean}, {}",
                root * root
            );
        }
    }

    #[test]
    fn channels_that_do_not_turn_are_the_same() {
        let config = |fading| super::super::RadioConfig {
            carrier_hz: 2e9,
            transmit_power_dbm: 20.0,
            noise_dbm: -100.0,
            path_loss_exponent: 3.0,
            loss_at_1_m_db: None,
            shadowing_db: 0.0,
            shadowing_distance_m: None,
            fading,
        };
        for fading in [
            super::super::Fading::None,
            super::super::Fading::Independent,
        ] {
            let radio = Radio::new(&config(fading), 50.0, Stream::new(1, "radio")).unwrap();
            let mut slotted = SlottedRadio::new(&radio, SLOT);
            for slot in 0..100 {
                let expected = ratio(radio.snr_db(Instant::ZERO + SLOT * slot, slot));
                assert!((slotted.snr(slot) / expected - 1.0).abs() < 1e-12);
            }
        }
    }
}
