//! `[flows]`: how many connections, and what each sends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Amount, DAY, LineDelay, TcpTable};
use crate::names::FlowDirection;
use airtcp_units::bounded::{Limit, Span, Whole};

/// The flows over the link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowsTable {
    /// Their number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<Whole<1, 100_000>>,
    /// Time over which they start: flow i at i/count of it, plus up to 1/count of it at random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_spread: Option<Span<0, { 30 * DAY }>>,
    /// Bytes that each sends; "unlimited" is as much as it can until the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Limit<Amount>>,
    /// Which way the data goes: "up" from the mobile, "down" to it; or a list, used in turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Directions>,
    /// Delay each way of each flow's access line (`dumbbell`), used in turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_delay: Option<Vec<LineDelay>>,
    /// Number of flows, the last ones, that keep their TCP as `[tcp]` says: remedies of the sender
    /// and the receiver are for the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchanged: Option<Whole<0, 100_000>>,
    /// Differences from `[tcp]` for each flow: a list of tables with the keys of `[tcp]`, used in
    /// turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp: Option<Vec<TcpTable>>,
}

/// One direction for all flows, or several used in turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected \"up\", \"down\", or a list of them")]
pub enum Directions {
    /// The same for all.
    One(FlowDirection),
    /// One after the other.
    Several(Vec<FlowDirection>),
}
