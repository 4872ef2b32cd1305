//! Variations of a link: stops, jitter, packets that come late, recorded delays and losses.

use airtcp_units::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DAY, HOUR, LineDelay};
use crate::names::{
    DelayOrder, JitterName, LossDirection, StopLengthName, StopProcess, StoppedPackets,
};
use airtcp_units::bounded::{MILLISECOND, Span};

/// Stops of a link: at regular intervals, at random, or as recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopsTable {
    /// When the link stops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<StopProcess>,
    /// From the start of one stop to the start of the next; the first comes after this time
    /// (`periodic`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<Span<1, { 30 * DAY }>>,
    /// Mean time from the end of one stop to the start of the next, exponential (`random`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working: Option<Span<MILLISECOND, { 30 * DAY }>>,
    /// Duration of a stop (`periodic`); its mean (`random`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<Span<1, { 30 * DAY }>>,
    /// Distribution of the lengths (`random`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lengths: Option<StopLengthName>,
    /// CSV with the columns `start_ms` and `length_ms`, beside the scenario unless absolute
    /// (`recorded`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The fate of packets meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<StoppedPackets>,
    /// Which direction stops; both do at the same times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<LossDirection>,
}

/// A delay that is drawn for each packet, in addition to `delay`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JitterTable {
    /// Its mean.
    pub mean: Span<1, HOUR>,
    /// The shape of the distribution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<JitterName>,
    /// Whether packets may overtake each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<DelayOrder>,
}

/// Packets that come late, so that others overtake them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LateTable {
    /// Chance that a packet is one of them.
    pub share: Probability,
    /// Time by which it arrives later.
    pub by: LineDelay,
}

/// Delays and losses, as both changed with time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordedTable {
    /// CSV with the columns `time_ms`, `delay_ms` (one way) and `loss` (0 to 1), beside the
    /// scenario unless absolute. A row holds until the next.
    pub path: String,
}

/// Packets that are lost by their numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LostPacketsTable {
    /// CSV with the column `packet` and, for more than one flow, `flow`, both counted from 0,
    /// beside the scenario unless absolute.
    pub path: String,
}
