//! The keys of a scenario file, each with its type and range. The JSON Schema and the table
//! of keys in `docs/reference/keys-*.md` come from here.
//!
//! A key that is left out is `None`. [`keys::Keys::completed`] gives the defaults that a table
//! knows, and [`super::defaults`] adds defaults from other tables.

#[macro_use]
pub(crate) mod keys;
#[macro_use]
mod alternatives;
#[macro_use]
mod line;

mod aqm;
mod arq;
mod cell;
mod flows;
pub(crate) mod forms;
mod link;
mod loss;
mod radio;
mod ran;
mod selective_repeat;
mod traffic;
mod variation;
mod wired;
mod wlan;

use super::names::Topology;
pub use airtcp_tcp::config::TcpTable;
use airtcp_units::bounded::{Bytes, DAY, HOUR, SECOND, Span, Whole};
use airtcp_units::{Duration, Probability};
pub use aqm::{AqmTable, Disciplines};
pub use arq::ArqTable;
pub(crate) use cell::USUAL_GAP_DB;
pub use cell::{CellTable, Duplexes, Generations, RateLaws, Schedulers};
pub use flows::{Directions, FlowsTable, PingTable, ScreamTable, UdpTable};
pub(crate) use link::USUAL_QUEUE;
pub use link::{LinkTable, PolicerTable, QueueTable, ReverseTable, RttModelTable, RttShapes};
pub(crate) use loss::error_model;
pub use loss::{LossModel, LossTable};
pub use radio::{Distances, RadioTable, Speeds};
pub use ran::{DrxTable, HarqTable, PdcpTable, Rlc, RlcTable};
pub use selective_repeat::SelectiveRepeatTable;
pub use traffic::{Applications, EmailTable, FtpTable, HttpTable, MixTable, TrafficTable};
pub use variation::{
    JitterTable, LateTable, LinkStops, LostPacketsTable, OutageTable, RecordedTable, RepeatTable,
    StopsTable,
};
pub use wired::{RoundTripTable, RoundTrips, WiredTable};
pub(crate) use wlan::Attempts;
pub use wlan::{
    AggregationTable, AirtimeTable, CategoryTable, Channels, EdcaTable,
    Schedulers as StationSchedulers, WlanTable,
};

/// A packet's delay on a line, each way, from 0 to an hour.
pub(crate) type LineDelay = Span<0, HOUR>;
/// A number of packets in a queue or a block of losses.
pub(crate) type Packets = Whole<1, 1_000_000_000>;
/// Bytes of a transfer or a buffer, up to 1 PB.
pub(crate) type Amount = Bytes<1, 1_000_000_000_000_000>;

keys! {
    /// A scenario: the link, the flows over it, and the TCP at their ends.
    #[derive(Clone, Default)]
    #[schemars(title = "airtcp scenario")]
    pub struct Document under Media takes {
        /// Name, in tables and file names. Without it, the file's name.
        name: String;
        /// Purpose of the scenario, in a line.
        description: String;
        /// Simulated time.
        duration: Duration = Duration::from_secs(60), as Span<1, { 30 * DAY }>;
        /// Share, up to 10 %, by which each seed changes every pipe's rate, delay, policer and
        /// queue limit in bytes at most, and of 20 s by which it delays each flow's start at most.
        /// `airtcp compare`, `diagnose` and `study` set 0.5 % where nothing else is random.
        perturb: Probability = Probability::NEVER;
        /// The path between the endpoints.
        topology: Topology = Topology::default();
        /// Remedies to apply, each as in `airtcp compare --remedy`: `"rto-factor:factor=10"`.
        remedies: Vec<String>;
        /// The link: the direction that data takes, and the other unless `[link.reverse]` differs.
        link: LinkTable, holding keys;
        /// An IEEE 802.11 channel (`wlan`, `wlan-wired-wlan`), in place of `[link]`.
        wlan: WlanTable, holding keys;
        /// A stop-and-wait link (`arq`), in place of `[link]`.
        arq: ArqTable, holding keys;
        /// A selective-repeat link (`selective-repeat`, `selective-repeat-both-ends`), in place of
        /// `[link]`.
        selective_repeat: SelectiveRepeatTable, holding keys;
        /// A cellular base station (`cell`), in place of `[link]`.
        cell: CellTable, holding keys;
        /// The path between the access point and the wired hosts (not for `dumbbell`).
        wired: WiredTable, holding keys;
        /// The flows over the link.
        flows: FlowsTable, always holding keys;
        /// Behaviour of applications on the flows.
        traffic: TrafficTable, holding keys;
        /// The TCP endpoints.
        tcp: TcpTable, always holding keys;
    }
}

alternatives! {
    /// The table of the link, by the path between the endpoints.
    pub enum Media of Document by topology: Topology {
        /// A pipe each way.
        Pipe: Pipe | Dumbbell takes { link: LinkTable = LinkTable::default() };
        /// IEEE 802.11.
        Wlan: Wlan | WlanWiredWlan takes { wlan: WlanTable = WlanTable::default() };
        /// Stop-and-wait.
        Arq: Arq takes { arq: ArqTable = ArqTable::default() };
        /// Selective repeat.
        SelectiveRepeat: SelectiveRepeat | SelectiveRepeatBothEnds
            takes { selective_repeat: SelectiveRepeatTable = SelectiveRepeatTable::default() };
        /// A base station.
        Cell: Cell takes { cell: CellTable = CellTable::default() };
    }
}

impl Document {
    /// The dotted names of the keys whose values are files.
    pub fn file_keys() -> Vec<String> {
        let mut found = Vec::new();
        <Self as keys::Keys>::file_keys("", &mut found);
        found
    }
}
