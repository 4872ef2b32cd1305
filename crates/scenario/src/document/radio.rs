//! `[wlan.radio]` and `[cell.radio]`: where the mobiles are, and what the air does to a signal.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names::FadingName;
use airtcp_units::bounded::Real;

/// A distance in metres: a millimetre to 1000 km.
pub(crate) type Metres = Real<1_000, 1_000_000_000_000>;
/// A level or a ratio in decibels.
pub(crate) type Decibels = Real<-400_000_000, 400_000_000>;

/// The way of a signal between an access point and its mobiles. The same in both directions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RadioTable {
    /// Carrier frequency in MHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carrier_mhz: Option<Real<1_000_000, 1_000_000_000_000>>,
    /// Power of a sender, antennas included, in dBm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transmit_power_dbm: Option<Decibels>,
    /// Noise at a receiver in dBm, its noise figure included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_dbm: Option<Decibels>,
    /// Path-loss exponent: 2 in free space, 3 to 4 indoors and in towns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_loss_exponent: Option<Real<0, 10_000_000>>,
    /// Loss at 1 m in dB. That of free space at the carrier when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_at_1_m_db: Option<Decibels>,
    /// Standard deviation of log-normal shadowing in dB, drawn once for each mobile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadowing_db: Option<Real<0, 100_000_000>>,
    /// Fading of the signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fading: Option<FadingName>,
    /// Speed of the mobiles in m/s (`fading = "jakes"`): with the carrier it makes the Doppler
    /// frequency. It does not move them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_m_per_s: Option<Real<0, 1_000_000_000>>,
    /// Distance of every mobile from the access point in m; or in place of it one for each, used in
    /// turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance_m: Option<Distances>,
    /// Nearest and farthest distance in m, in place of `distance_m`: each mobile's is drawn
    /// uniformly between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance_between_m: Option<[Metres; 2]>,
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
