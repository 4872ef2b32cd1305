//! `[wlan.radio]` and `[cell.radio]`: places of the mobiles, and the loss of signals on the air.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::keys::Rule;
use crate::error::Problem;
use crate::names::FadingName;
use airtcp_units::bounded::Real;
use airtcp_units::written::completed;

/// A distance in metres: a millimetre to 1000 km.
pub(crate) type Metres = Real<1_000, 1_000_000_000_000>;
/// A level or a ratio in decibels.
pub(crate) type Decibels = Real<-400_000_000, 400_000_000>;

keys! {
    /// The way of a signal between an access point and its mobiles. The same in both directions.
    #[derive(Clone, Default)]
    pub struct RadioTable under Speeds, Places takes {
        /// Carrier frequency in MHz.
        carrier_mhz: Real<1_000_000, 1_000_000_000_000>;
        /// Power of a sender, antennas included, in dBm.
        // 100 mW, what Europe allows at 2.4 GHz (ETSI EN 300 328).
        transmit_power_dbm: f64 = 20.0, as Decibels;
        /// Noise at a receiver in dBm, its noise figure included.
        // Thermal noise in 20 MHz, -101 dBm, and a noise figure of 7 dB.
        noise_dbm: f64 = -94.0, as Decibels;
        /// Path-loss exponent: 2 in free space, 3 to 4 indoors and in towns.
        path_loss_exponent: f64 = 3.0, as Real<0, 10_000_000>;
        /// Loss at 1 m in dB. That of free space at the carrier when left out.
        loss_at_1_m_db: Decibels;
        /// Standard deviation of log-normal shadowing in dB, drawn once for each mobile, or
        /// changing by `shadowing_distance_m`.
        shadowing_db: f64 = 0.0, as Real<0, 100_000_000>;
        /// Way in m on which the correlation of the shadowing falls to 1/e at `speed_m_per_s`
        /// (`fading = "jakes"`); the shadowing does not change when left out.
        shadowing_distance_m: Metres;
        /// Fading of the signal.
        fading: FadingName = FadingName::default();
        /// Speed of the mobiles in m/s (`fading = "jakes"`): with the carrier it makes the Doppler
        /// frequency. It does not change the distance.
        speed_m_per_s: Real<0, 1_000_000_000>;
        /// Distance of every mobile from the access point in m; or in place of it one for each,
        /// used in turn.
        distance_m: Distances;
        /// Nearest and farthest distance in m, in place of `distance_m`: each mobile's is drawn
        /// uniformly between them.
        distance_between_m: [Metres; 2];
    }
}

/// One distance for all mobiles, or several used in turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a distance in metres above 0, or a list of them"
)]
pub enum Distances {
    /// The same for all.
    One(Metres),
    /// One after the other.
    Several(Vec<Metres>),
}

alternatives! {
    /// The fading, and the motion that it depends on.
    #[derive(Copy)]
    pub enum Speeds of RadioTable by fading: FadingName {
        /// No motion: the signal does not fade, or by draws that are independent.
        Still: None | Independent;
        /// Correlated in time by the speed. The default is walking, 3 km/h.
        Moving: Jakes
            takes { speed_m_per_s: f64 = 0.833_333 }
            allows { shadowing_distance_m: Metres };
    }
}

/// Mobiles are at one distance, or between two.
pub struct Places;

const USUAL_DISTANCE_M: f64 = 10.0;

impl Rule<RadioTable> for Places {
    fn completed(table: &RadioTable) -> RadioTable {
        let usual = || Distances::One(Real::clamped(USUAL_DISTANCE_M));
        let given = &table.distance_m;
        RadioTable {
            distance_m: match table.distance_between_m {
                None => Some(given.clone().unwrap_or_else(usual)),
                Some(_) => given.clone(),
            },
            ..table.clone()
        }
    }

    fn check(table: &RadioTable, path: &str) -> Result<(), Problem> {
        if table.distance_m.is_some() {
            let why =
                format!("{path}.distance_m says already where the mobiles are; give one of them");
            refuse_keys!(table, path, why; distance_between_m);
        }
        Ok(())
    }
}

impl RadioTable {
    /// The same radio, at `usual_mhz` if no carrier is given.
    pub fn at_carrier(self, usual_mhz: f64) -> Self {
        Self {
            carrier_mhz: completed(&self.carrier_mhz, &usual_mhz),
            ..self
        }
    }
}
