//! From a signal-to-noise ratio to the chance that a frame is damaged.
//!
//! Noise is white, and the errors that are left in a frame's bits are taken as independent. The
//! signal-to-noise ratio is that of the channel: over 22 MHz for direct sequence, 20 MHz for OFDM.
//! A wider channel takes in more noise, and spatial streams share the transmitted power; they are
//! received separately, each with an antenna's worth of noise.

mod dsss;
mod ldpc;
mod ofdm;

use airtcp_units::Probability;

use super::mode::{Coding, Mode};
use super::signal::Signal;

/// The chance that a bit is wrong.
#[must_use]
pub fn bit_error_rate(mode: Mode, snr_db: f64) -> f64 {
    let snr = libm::pow(10.0, snr_db / 10.0);
    let energy_of_bit = || dsss::energy_of_bit(mode.bit_rate().as_bps() as f64, snr);
    let rate = match mode.signal() {
        Signal::Dbpsk => dsss::dbpsk(energy_of_bit()),
        Signal::Dqpsk => dsss::dqpsk(energy_of_bit()),
        Signal::Cck { symbols } => dsss::cck(symbols, snr),
        Signal::Ofdm(constellation, code) => {
            let share = f64::from(mode.width().mhz() / 20 * u32::from(mode.streams()));
            match mode.coding() {
                Coding::Bcc => ofdm::bit_error_rate(constellation, code, snr / share),
                Coding::Ldpc => ldpc::bit_error_rate(mode.index(), snr / share),
            }
        }
    };
    // More than one in two would be a better channel, upside down.
    rate.clamp(0.0, 0.5)
}

/// Probability that a frame of this many bytes is damaged, that is, has a bit error.
#[must_use]
pub fn frame_error_rate(mode: Mode, snr_db: f64, bytes: u32) -> Probability {
    let right = libm::log1p(-bit_error_rate(mode, snr_db));
    let damaged = -libm::expm1(8.0 * f64::from(bytes) * right);
    Probability::new(damaged.clamp(0.0, 1.0)).unwrap_or(Probability::ALWAYS)
}

/// The Gaussian tail function Q(x).
fn tail(x: f64) -> f64 {
    0.5 * libm::erfc(x / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests;
