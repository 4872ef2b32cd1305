//! The keys of a scenario file, each with its type and range. The JSON Schema and the table
//! of keys in `docs/scenarios.md` come from here.
//!
//! A key that is left out is `None`; [`super::resolve`] fills in what it then is.

#[macro_use]
pub(crate) mod keys;

mod aqm;
mod arq;
mod cell;
mod flows;
mod link;
mod radio;
mod selective_repeat;
mod traffic;
mod variation;
mod wired;
mod wlan;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::keys::Keys;
use super::names::Topology;
pub use airtcp_tcp::config::TcpTable;
use airtcp_units::bounded::{Bytes, DAY, HOUR, SECOND, Span, Whole};
pub use aqm::AqmTable;
pub use arq::ArqTable;
pub use cell::CellTable;
pub use flows::{Directions, FlowsTable, Kinds, PingTable, UdpTable};
pub use link::{
    LinkTable, LossTable, PolicerTable, QueueTable, RttLogTable, RttModelTable, SuspensionTable,
    TraceTable,
};
pub use radio::{Distances, RadioTable};
pub use selective_repeat::SelectiveRepeatTable;
pub use traffic::{EmailTable, FtpTable, HttpTable, MixTable, TrafficTable};
pub use variation::{JitterTable, LateTable, LostPacketsTable, RecordedTable, StopsTable};
pub use wired::{RoundTripTable, WiredTable};
pub use wlan::{AggregationTable, AirtimeTable, CategoryTable, EdcaTable, WlanTable};

/// A packet's delay on a line, each way: none to an hour.
pub(crate) type LineDelay = Span<0, HOUR>;
/// A number of packets in a queue or a block of losses.
pub(crate) type Packets = Whole<1, 1_000_000_000>;
/// Bytes of a transfer or a buffer, up to 1 PB.
pub(crate) type Amount = Bytes<1, 1_000_000_000_000_000>;

/// A scenario: the link, the flows over it, and the TCP at their ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "airtcp scenario")]
pub struct Document {
    /// Name, in tables and file names. Without it, the file's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Purpose of the scenario, in a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Simulated time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span<1, { 30 * DAY }>>,
    /// The path between the endpoints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology: Option<Topology>,
    /// Remedies to apply, each as in `airtcp compare --remedy`: `"rto-factor:factor=10"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedies: Option<Vec<String>>,
    /// The link: the direction that data takes, and the other unless `[link.reverse]` differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkTable>,
    /// An IEEE 802.11 channel (`wlan`, `wlan-wired-wlan`), in place of `[link]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wlan: Option<WlanTable>,
    /// A stop-and-wait link (`arq`), in place of `[link]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arq: Option<ArqTable>,
    /// A selective-repeat link (`selective-repeat`, `selective-repeat-both-ends`), in place of
    /// `[link]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selective_repeat: Option<SelectiveRepeatTable>,
    /// A cellular downlink (`cell`), in place of `[link]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<CellTable>,
    /// The path between the access point and the wired hosts (not for `dumbbell`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wired: Option<WiredTable>,
    /// The flows over the link.
    #[serde(default)]
    pub flows: FlowsTable,
    /// Behaviour of applications on the flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic: Option<TrafficTable>,
    /// The TCP endpoints.
    #[serde(default)]
    pub tcp: TcpTable,
}

impl Document {
    /// The dotted names of the keys whose values are files: all are of `[link]`.
    pub fn file_keys() -> Vec<String> {
        let mut found = Vec::new();
        LinkTable::file_keys("link", &mut found);
        found
    }

    /// Calls `visit` with the name of each file that is given.
    pub fn each_file(&mut self, visit: &mut dyn FnMut(&mut String)) {
        if let Some(link) = &mut self.link {
            link.each_file(visit);
        }
    }
}
