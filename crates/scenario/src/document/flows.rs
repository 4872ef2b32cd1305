//! `[flows]`: how many connections, and what each sends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::traffic::Interval;
use super::{Amount, DAY, LineDelay, TcpTable};
use crate::names::{FlowDirection, FlowKind};
use airtcp_units::bounded::{Bytes, Limit, Rate, Span, Whole};

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
    /// Transport: "tcp", "udp" or "ping"; or a list, used in turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kinds>,
    /// Datagrams of the flows of kind "udp".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub udp: Option<UdpTable>,
    /// Echo requests of the flows of kind "ping".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ping: Option<PingTable>,
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

/// One transport for all flows, or several used in turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected \"tcp\", \"udp\", \"ping\", or a list of them"
)]
pub enum Kinds {
    /// The same for all.
    One(FlowKind),
    /// One after the other.
    Several(Vec<FlowKind>),
}

/// Datagrams one way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UdpTable {
    /// Payload a second; "unlimited" sends whenever there is room in the first queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Limit<Rate>>,
    /// Payload of a datagram; headers of IPv4 and UDP are 28 bytes more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes<1, 65_507>>,
    /// Mean time of sending before a silence, exponential; without it there is no silence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<Interval>,
    /// Mean time of a silence, exponential.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off: Option<Interval>,
}

/// Echo requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PingTable {
    /// Time from one request to the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// Payload of a request and of its answer; headers of IPv4 and ICMP are 28 bytes more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes<1, 65_507>>,
}
