//! Attenuation of a signal between an access point and a station.
//!
//! ```text
//!   SNR = transmit power − path loss − shadowing + fading − noise          (all in dB)
//!             fixed         distance  station, time  time or transmission
//! ```
//!
//! A [`Radio`] is one station's channel, the same in both directions. It is a pure function
//! of the time and the transmission's number, independent of earlier queries.

mod jakes;
mod placement;
mod shadow;
mod slotted;

use airtcp_units::Instant;

use crate::random::Stream;
use jakes::Jakes;
pub use placement::{Placement, PlacementError};
use shadow::Shadow;
pub use slotted::SlottedRadio;

/// Metres a second (exact by the definition of the metre).
const SPEED_OF_LIGHT: f64 = 299_792_458.0;

/// The propagation of a signal, for all stations of an access point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadioConfig {
    /// Carrier frequency in Hz.
    pub carrier_hz: f64,
    /// Power of a sender in dBm, antennas included.
    pub transmit_power_dbm: f64,
    /// Noise at a receiver in dBm, its noise figure included.
    pub noise_dbm: f64,
    /// Path-loss exponent.
    pub path_loss_exponent: f64,
    /// Loss at 1 m in dB; that of free space when `None`.
    pub loss_at_1_m_db: Option<f64>,
    /// Standard deviation of log-normal shadowing in dB.
    pub shadowing_db: f64,
    /// The way on which the correlation of the shadowing falls to 1/e, for stations that move by
    /// Jakes' model. One draw for each station when `None`.
    pub shadowing_distance_m: Option<f64>,
    /// Fading of the signal.
    pub fading: Fading,
}

/// Fading of a signal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Fading {
    /// No fading.
    #[default]
    None,
    /// Rayleigh, redrawn for every transmission: its power is exponential with mean 1.
    Independent,
    /// Rayleigh, correlated in time by Jakes' model.
    Jakes {
        /// Speed of the station; with the carrier it makes the largest Doppler frequency.
        speed_m_per_s: f64,
    },
}

/// An invalid radio configuration.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RadioError {
    /// No carrier.
    #[error("a carrier of {0} Hz; expected more than 0")]
    Carrier(f64),
    /// The distance is not positive and finite.
    #[error("a distance of {0} m; expected more than 0")]
    Distance(f64),
    /// The standard deviation is negative or not finite.
    #[error("shadowing of {0} dB; expected 0 or more")]
    Shadowing(f64),
    /// The way is not positive and finite.
    #[error("shadowing that changes in {0} m; expected more than 0")]
    ShadowingDistance(f64),
    /// The speed is negative or not finite.
    #[error("a speed of {0} m/s; expected 0 or more")]
    Speed(f64),
    /// A level that is not a number.
    #[error("a power, noise, loss or exponent that is no finite number")]
    Level,
}

impl RadioConfig {
    /// Validates the configuration.
    ///
    /// # Errors
    /// See [`RadioError`].
    pub fn check(&self) -> Result<(), RadioError> {
        if !(self.carrier_hz > 0.0 && self.carrier_hz.is_finite()) {
            return Err(RadioError::Carrier(self.carrier_hz));
        }
        if !(self.shadowing_db >= 0.0 && self.shadowing_db.is_finite()) {
            return Err(RadioError::Shadowing(self.shadowing_db));
        }
        if let Some(way) = self.shadowing_distance_m
            && !(way > 0.0 && way.is_finite())
        {
            return Err(RadioError::ShadowingDistance(way));
        }
        if let Fading::Jakes { speed_m_per_s } = self.fading
            && !(speed_m_per_s >= 0.0 && speed_m_per_s.is_finite())
        {
            return Err(RadioError::Speed(speed_m_per_s));
        }
        let levels = [
            self.transmit_power_dbm,
            self.noise_dbm,
            self.path_loss_exponent,
            self.loss_at_1_m_db.unwrap_or(0.0),
        ];
        if levels.iter().all(|level| level.is_finite()) {
            Ok(())
        } else {
            Err(RadioError::Level)
        }
    }

    /// Loss over `distance_m` in dB: the log-distance model (T. Rappaport, Wireless Communications,
    /// 2nd edition, §4.9.1).
    #[must_use]
    pub fn path_loss_db(&self, distance_m: f64) -> f64 {
        let at_1_m = self.loss_at_1_m_db.unwrap_or_else(|| {
            // Friis: (4π·f/c)².
            let ratio = 4.0 * std::f64::consts::PI * self.carrier_hz / SPEED_OF_LIGHT;
            decibels(ratio * ratio)
        });
        at_1_m + 10.0 * self.path_loss_exponent * libm::log10(distance_m)
    }
}

/// A power ratio in decibels.
#[must_use]
pub fn decibels(ratio: f64) -> f64 {
    10.0 * libm::log10(ratio)
}

/// The power ratio of a number of decibels.
#[must_use]
pub fn ratio(decibels: f64) -> f64 {
    libm::pow(10.0, decibels / 10.0)
}

/// One station's channel.
#[derive(Clone, Debug)]
pub struct Radio {
    mean_snr_db: f64,
    /// Shadowing that is not in the mean, as it changes.
    shadow: Option<Shadow>,
    fading: Process,
}

#[derive(Clone, Debug)]
enum Process {
    None,
    Independent(Stream),
    Jakes(Box<Jakes>),
}

impl Radio {
    /// The channel of a station `distance_m` away. `stream` is that station's.
    ///
    /// # Errors
    /// An invalid configuration or distance.
    pub fn new(config: &RadioConfig, distance_m: f64, stream: Stream) -> Result<Self, RadioError> {
        Self::in_subband(config, distance_m, stream, 0)
    }

    /// The same channel in a subband: with a separate fading of the same kind.
    ///
    /// # Errors
    /// An invalid configuration or distance.
    pub fn in_subband(
        config: &RadioConfig,
        distance_m: f64,
        stream: Stream,
        subband: u64,
    ) -> Result<Self, RadioError> {
        config.check()?;
        if !(distance_m > 0.0 && distance_m.is_finite()) {
            return Err(RadioError::Distance(distance_m));
        }
        let draws = stream.substream(0);
        let (shadowing, shadow) = match (config.shadowing_distance_m, config.fading) {
            (Some(way), Fading::Jakes { speed_m_per_s }) if config.shadowing_db > 0.0 => {
                let rate = speed_m_per_s / way;
                (0.0, Some(Shadow::new(config.shadowing_db, rate, draws)))
            }
            _ => (config.shadowing_db * draws.normal(0), None),
        };
        let received = config.transmit_power_dbm - config.path_loss_db(distance_m) - shadowing;
        let fading = match subband {
            0 => stream.substream(1),
            other => stream.substream(1).substream(other),
        };
        Ok(Self {
            mean_snr_db: received - config.noise_dbm,
            shadow,
            fading: match config.fading {
                Fading::None => Process::None,
                Fading::Independent => Process::Independent(fading),
                Fading::Jakes { speed_m_per_s } => {
                    let doppler_hz = speed_m_per_s * config.carrier_hz / SPEED_OF_LIGHT;
                    Process::Jakes(Box::new(Jakes::new(doppler_hz, fading)))
                }
            },
        })
    }

    /// Signal-to-noise ratio without fading and changing shadowing: transmit power, path loss,
    /// shadowing drawn once, noise.
    #[must_use]
    pub const fn mean_snr_db(&self) -> f64 {
        self.mean_snr_db
    }

    /// The power of the fading signal over its mean, at `at` for transmission number
    /// `transmission`: mean 1.
    #[must_use]
    pub fn power_gain(&self, at: Instant, transmission: u64) -> f64 {
        match &self.fading {
            Process::None => 1.0,
            Process::Independent(stream) => stream.exponential(transmission),
            Process::Jakes(jakes) => jakes.power(at),
        }
    }

    /// Signal-to-noise ratio at `at` for transmission number `transmission`.
    #[must_use]
    pub fn snr_db(&self, at: Instant, transmission: u64) -> f64 {
        let mean = match &self.shadow {
            None => self.mean_snr_db,
            Some(shadow) => self.mean_snr_db - shadow.loss_db(at),
        };
        match &self.fading {
            Process::None => mean,
            _ => mean + decibels(self.power_gain(at, transmission)),
        }
    }
}

#[cfg(test)]
mod tests;
