//! Names of the cell.

use airtcp_link::mac::ran::config::RlcMode;
use airtcp_link::mac::ran::transport_block::McsTable;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A generation of cellular networks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum CellStandard {
    /// CDMA2000 1xEV-DO, or a cell of another rate law: one user a slot, and a delay as the uplink.
    #[default]
    #[serde(rename = "1xev-do")]
    EvDo,
    /// LTE, 4G.
    #[serde(rename = "lte")]
    Lte,
    /// New Radio, 5G.
    #[serde(rename = "nr")]
    Nr,
}

/// Who is served in a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulerName {
    /// The user with the best current rate relative to its average.
    #[default]
    ProportionalFair,
    /// One after the other.
    RoundRobin,
    /// The user with the best current rate.
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

/// Subcarrier spacing of NR.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SubcarrierSpacing {
    /// Slots of 1 ms.
    #[serde(rename = "15 kHz")]
    Khz15,
    /// Slots of 0.5 ms.
    #[default]
    #[serde(rename = "30 kHz")]
    Khz30,
    /// Slots of 0.25 ms.
    #[serde(rename = "60 kHz")]
    Khz60,
    /// Slots of 0.125 ms, above 24 GHz.
    #[serde(rename = "120 kHz")]
    Khz120,
}

/// How both directions share the spectrum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DuplexName {
    /// A carrier for each.
    #[default]
    Fdd,
    /// In turn.
    Tdd,
}

/// A table of modulation and coding schemes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum McsTableName {
    /// Up to 64QAM.
    #[default]
    #[serde(rename = "64qam")]
    Qam64,
    /// Up to 256QAM.
    #[serde(rename = "256qam")]
    Qam256,
}

impl From<McsTableName> for McsTable {
    fn from(name: McsTableName) -> Self {
        match name {
            McsTableName::Qam64 => Self::Qam64,
            McsTableName::Qam256 => Self::Qam256,
        }
    }
}

/// A mode of RLC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RlcModeName {
    /// Acknowledged: it retransmits, and delivers everything in order.
    #[default]
    Am,
    /// Unacknowledged: losses that HARQ leaves are skipped.
    Um,
}

impl From<RlcModeName> for RlcMode {
    fn from(name: RlcModeName) -> Self {
        match name {
            RlcModeName::Am => Self::Acknowledged,
            RlcModeName::Um => Self::Unacknowledged,
        }
    }
}
