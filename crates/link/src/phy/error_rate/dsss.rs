//! Direct sequence and complementary code keying: 802.11b.

use super::tail;
use crate::phy::mode::Mode;

/// Bandwidth of the noise in the channel (IEEE 802.11-2016 §16.3.8.2: the main lobe).
const NOISE_HZ: f64 = 22e6;
/// CCK symbols a second (§16.3.6.6): 8 chips at 11 MHz.
const CCK_SYMBOLS: f64 = 1.375e6;

/// The chance that a bit is wrong at a signal-to-noise *ratio* (not in decibels).
pub(super) fn bit_error_rate(mode: Mode, snr: f64) -> f64 {
    let per_bit = snr * NOISE_HZ / mode.bit_rate().as_bps() as f64;
    let per_symbol = snr * NOISE_HZ / CCK_SYMBOLS;
    match mode {
        Mode::Dsss1 => dbpsk(per_bit),
        Mode::Dsss2 => dqpsk(per_bit),
        // One of 16 symbols for 4 bits: a wrong one has half of its bits wrong, 8/15 exactly.
        Mode::Cck5_5 => 8.0 / 15.0 * biorthogonal_symbol_error(8, per_symbol),
        // Two such symbols of half the energy for 8 bits: 128/255.
        _ => {
            let right = 1.0 - biorthogonal_symbol_error(8, per_symbol / 2.0);
            128.0 / 255.0 * (1.0 - right * right)
        }
    }
}

/// Differential BPSK: exp(-Eb/N0)/2 (J. Proakis, Digital Communications, 4th edition, eq. 5.2-69).
pub(super) fn dbpsk(energy: f64) -> f64 {
    0.5 * libm::exp(-energy)
}

/// Differential QPSK with Gray coding, in the approximation of G. Ferrari & G. Corazza, "Tight
/// bounds and accurate approximations for DQPSK transmission bit error rate", Electronics Letters
/// 40(20), 2004: the dominant term of the exact expression with Marcum's Q.
pub(super) fn dqpsk(energy: f64) -> f64 {
    use std::f64::consts::{PI, SQRT_2};
    if energy < 0.1 {
        return 0.5;
    }
    let factor = (SQRT_2 + 1.0) / libm::sqrt(8.0 * PI * SQRT_2);
    factor / libm::sqrt(energy) * libm::exp(-(2.0 - SQRT_2) * energy)
}

/// Coherent detection of one of 2·`half` biorthogonal signals of symbol energy `energy` over N0
/// (Proakis, eq. 5.2-34; M. Pursley & T. Royster, "Properties and performance of the IEEE 802.11b
/// complementary-code-key signal sets", IEEE Trans. Comm. 57(2), 2009, use it as a bound for CCK).
fn biorthogonal_symbol_error(half: i32, energy: f64) -> f64 {
    let shift = libm::sqrt(2.0 * energy);
    // 1 - P = integral over x > -shift of (1 - 2Q(x + shift))^(half - 1) φ(x): Simpson's rule over
    // the part where φ is not negligible.
    const STEPS: u32 = 64;
    let (low, high) = ((-shift).max(-8.0), 8.0);
    let width = (high - low) / f64::from(STEPS);
    let density = |x: f64| {
        let others = libm::pow(1.0 - 2.0 * tail(x + shift), f64::from(half - 1));
        others * libm::exp(-x * x / 2.0) / libm::sqrt(2.0 * std::f64::consts::PI)
    };
    let weighted = |step: u32| {
        let weight = match step {
            0 | STEPS => 1.0,
            _ if step % 2 == 1 => 4.0,
            _ => 2.0,
        };
        weight * density(low + width * f64::from(step))
    };
    let right = (0..=STEPS).map(weighted).sum::<f64>() * width / 3.0;
    (1.0 - right).clamp(0.0, 1.0)
}
