//! OFDM with convolutional coding: 802.11a and g, and the mandatory modes of 802.11n, ac and ax.
//!
//! Coherent detection of each subcarrier's symbols, then the union bound of hard-decision Viterbi
//! decoding, as G. Pei & T. Henderson derive it in "Validation of OFDM error rate model in ns-3"
//! (Boeing Research, 2010). Interleaving is taken as perfect.

use super::tail;
use crate::phy::signal::{CodeRate, Constellation};

/// A code: information bits a step, the distance of the first weight, and how many information bits
/// are wrong on all paths of that distance, of the next, and so on.
struct Code {
    bits: f64,
    free_distance: i32,
    weights: &'static [f64],
}

/// The code (133, 171) of constraint length 7 at rate 1/2: every second distance (J. Conan, "The
/// weight spectra of some short low-rate convolutional codes", IEEE Trans. Comm. 32(9), 1984).
const HALF: Code = Code {
    bits: 1.0,
    free_distance: 10,
    weights: &[
        36.0, 0.0, 211.0, 0.0, 1404.0, 0.0, 11633.0, 0.0, 77433.0, 0.0, 502_690.0,
    ],
};
/// Punctured to 2/3 and 3/4 (D. Haccoun & G. Bégin, "High-rate punctured convolutional codes for
/// Viterbi and sequential decoding", IEEE Trans. Comm. 37(11), 1989).
const TWO_THIRDS: Code = Code {
    bits: 2.0,
    free_distance: 6,
    weights: &[
        3.0, 70.0, 285.0, 1276.0, 6160.0, 27128.0, 117_019.0, 498_860.0,
    ],
};
const THREE_QUARTERS: Code = Code {
    bits: 3.0,
    free_distance: 5,
    weights: &[
        42.0,
        201.0,
        1492.0,
        10469.0,
        62935.0,
        379_644.0,
        2_253_373.0,
        13_073_811.0,
    ],
};

/// Punctured to 5/6 (the same).
const FIVE_SIXTHS: Code = Code {
    bits: 5.0,
    free_distance: 4,
    weights: &[
        92.0,
        528.0,
        8694.0,
        79453.0,
        792_114.0,
        7_375_573.0,
        67_884_974.0,
        610_875_423.0,
        5_427_275_376.0,
        47_664_215_639.0,
    ],
};

/// The chance that a bit is wrong at a signal-to-noise *ratio* (not in decibels).
pub(super) fn bit_error_rate(constellation: Constellation, rate: CodeRate, snr: f64) -> f64 {
    let uncoded = match constellation {
        Constellation::Bpsk => bpsk(snr),
        Constellation::Qpsk => qpsk(snr),
        Constellation::Qam16 => qam16(snr),
        Constellation::Qam64 => qam64(snr),
        Constellation::Qam256 => qam256(snr),
        Constellation::Qam1024 => qam1024(snr),
    };
    let code = match rate {
        CodeRate::Half => HALF,
        CodeRate::TwoThirds => TWO_THIRDS,
        CodeRate::ThreeQuarters => THREE_QUARTERS,
        CodeRate::FiveSixths => FIVE_SIXTHS,
    };
    decoded(uncoded, &code)
}

/// Q(√(2·SNR)).
fn bpsk(snr: f64) -> f64 {
    tail(libm::sqrt(2.0 * snr))
}

/// Q(√SNR).
fn qpsk(snr: f64) -> f64 {
    tail(libm::sqrt(snr))
}

/// Gray-coded square constellations: (4/log2 M)·(1 - 1/√M)·Q(√(3·SNR/(M - 1))).
fn qam16(snr: f64) -> f64 {
    0.75 * tail(libm::sqrt(snr / 5.0))
}

fn qam64(snr: f64) -> f64 {
    7.0 / 12.0 * tail(libm::sqrt(snr / 21.0))
}

fn qam256(snr: f64) -> f64 {
    15.0 / 32.0 * tail(libm::sqrt(snr / 85.0))
}

fn qam1024(snr: f64) -> f64 {
    31.0 / 80.0 * tail(libm::sqrt(snr / 341.0))
}

/// Bit errors left by the decoder: the union bound over error paths, each bounded by
/// Chernoff with (4p(1 - p))^(d/2). A polynomial, by Horner's scheme: a power for each term would
/// be half of the time that a fading channel takes.
fn decoded(uncoded: f64, code: &Code) -> f64 {
    let root = libm::sqrt(4.0 * uncoded * (1.0 - uncoded));
    let beyond = code
        .weights
        .iter()
        .rev()
        .fold(0.0, |sum, weight| sum * root + weight);
    let first = (0..code.free_distance).fold(1.0, |power, _| power * root);
    first * beyond / (2.0 * code.bits)
}
