//! `[wired]`: the path between the access point and the wired hosts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AqmTable, LineDelay, LossTable, QueueTable};
use crate::names::Shape;
use airtcp_units::bounded::{Limit, Rate};

/// The path between the access point and the wired hosts, the same in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WiredTable {
    /// Rate of the line, which all flows share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Limit<Rate>>,
    /// One-way delay of a packet, the same in each direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<LineDelay>,
    /// The queue in front of the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueTable>,
    /// Which of the packets that wait is served, dropped or marked; the oldest is served, and what
    /// finds no room is dropped, when this is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aqm: Option<AqmTable>,
    /// Packets that get lost behind the access point, or in front of a receiver that refuses them.
    /// Where flows go both ways, acknowledgments that share the line with data are lost too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossTable>,
    /// A further delay for each flow, drawn once: half of this round trip each way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<RoundTripTable>,
}

/// Distribution of round-trip times over flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundTripTable {
    /// The shape of the distribution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// Shortest (`uniform`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<LineDelay>,
    /// Longest (`uniform`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<LineDelay>,
    /// Mean (`normal`, `exponential`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<LineDelay>,
    /// Standard deviation (`normal`). A draw below 0 counts as 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation: Option<LineDelay>,
}
