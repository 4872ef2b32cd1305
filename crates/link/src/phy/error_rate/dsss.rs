//! Direct sequence and complementary code keying: 802.11b.

use super::tail;

/// Bandwidth of the noise in the channel (IEEE 802.11-2016 §16.3.8.2: the main lobe).
const NOISE_HZ: f64 = 22e6;
/// CCK symbols a second (§16.3.6.6): 8 chips at 11 MHz.
const CCK_SYMBOLS: f64 = 1.375e6;

/// Energy of a bit over that of the noise, at a signal-to-noise *ratio* (not in decibels).
pub(super) fn energy_of_bit(bits_per_second: f64, snr: f64) -> f64 {
    snr * NOISE_HZ / bits_per_second
}

/// The chance that a bit of complementary code keying is wrong at a signal-to-noise *ratio*, with
/// one symbol of 16 or two of half the energy.
pub(super) fn cck(symbols: u8, snr: f64) -> f64 {
    let energy = snr * NOISE_HZ / CCK_SYMBOLS / f64::from(symbols);
    let right = 1.0 - biorthogonal_symbol_error(8, energy);
    // Of n words one is sent; each other is as likely, and half of all bits differ: (n/2)/(n - 1).
    let words = libm::pow(16.0, f64::from(symbols));
    words / 2.0 / (words - 1.0) * (1.0 - libm::pow(right, f64::from(symbols)))
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
