//! Names of the radio, of IEEE 802.11 and of the cell.

use airtcp_link::mac::damage;
use airtcp_link::phy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A physical layer of IEEE 802.11.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Standard {
    /// 2.4 GHz, direct sequence, 1 to 11 Mbit/s.
    #[default]
    #[serde(rename = "802.11b")]
    B,
    /// 2.4 GHz, OFDM, 6 to 54 Mbit/s, no older stations near.
    #[serde(rename = "802.11g")]
    G,
    /// 5 GHz, OFDM, 6 to 54 Mbit/s.
    #[serde(rename = "802.11a")]
    A,
}

/// A preamble of 802.11b.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preamble {
    /// 192 µs.
    #[default]
    Long,
    /// 96 µs.
    Short,
}

/// Fading of a signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FadingName {
    /// Not at all.
    #[default]
    None,
    /// Rayleigh, redrawn for every frame.
    Independent,
    /// Rayleigh, correlated in time as Jakes' model has it.
    Jakes,
}

/// Whose transmissions an error model counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// Each station's own: what it meets does not depend on the others.
    #[default]
    Station,
    /// All that the channel carries in that direction.
    Channel,
}

/// Unit of a selective-repeat link's window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WindowCount {
    /// Frame numbers from the oldest unacknowledged frame on, as IEEE 802.16, RLC and block ACK do.
    #[default]
    Numbers,
    /// Unacknowledged frames, as textbooks do.
    Outstanding,
}

/// Who is served in a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulerName {
    /// Whose rate now is best against its own average.
    #[default]
    ProportionalFair,
    /// One after the other.
    RoundRobin,
    /// Whose rate now is best.
    MaxRate,
}

/// Mapping from signal-to-noise ratio to rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CellRates {
    /// The rates of CDMA2000 1xEV-DO, 38.4 kbit/s to 2.4576 Mbit/s.
    #[default]
    Evdo,
    /// Shannon's formula, `gap_db` away from the limit.
    Shannon,
}

impl From<Standard> for phy::Standard {
    fn from(name: Standard) -> Self {
        match name {
            Standard::B => Self::B,
            Standard::G => Self::G,
            Standard::A => Self::A,
        }
    }
}

impl From<Preamble> for phy::Preamble {
    fn from(name: Preamble) -> Self {
        match name {
            Preamble::Long => Self::Long,
            Preamble::Short => Self::Short,
        }
    }
}

impl From<Counted> for damage::Counted {
    fn from(name: Counted) -> Self {
        match name {
            Counted::Station => Self::Station,
            Counted::Channel => Self::Channel,
        }
    }
}
