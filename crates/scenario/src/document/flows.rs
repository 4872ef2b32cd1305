//! `[flows]`: how many connections, and the data of each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::alternatives::name;
use super::keys::Rule;
use super::traffic::Interval;
use super::{Amount, DAY, LineDelay, TcpTable};
use crate::error::Problem;
use crate::names::{CodePoint, Companion, FlowDirection, FlowKind};
use airtcp_units::bounded::{Bytes, Limit, Rate, Span, Whole};
use airtcp_units::{BitRate, Duration};

keys! {
    /// The flows over the link.
    #[derive(Clone, Default)]
    pub struct FlowsTable under KindTables takes {
        /// Their number.
        count: u32 = 1, as Whole<1, 100_000>;
        /// Time over which they start: flow i at i/count of it, plus up to 1/count of it at random.
        start_spread: Duration = Duration::ZERO, as Span<0, { 30 * DAY }>;
        /// Bytes that each sends; "unlimited" is as much as it can until the end.
        bytes: Option<u64> = None, as Limit<Amount>;
        /// Size of the request with which the receiver of the data opens the connection: the
        /// sender answers it by its data. Without it the sender opens the connection.
        request: Bytes<1, 1_000_000>;
        /// Which way the data goes: "up" from the mobile, "down" to it; or a list, used in turn.
        direction: Directions;
        /// Delay each way of each flow's access line (`dumbbell`), used in turn.
        access_delay: Vec<LineDelay>;
        /// Number of flows, counted from the last, to which no remedy of the sender or the receiver
        /// is applied.
        unchanged: Whole<0, 100_000>;
        /// Transport: "tcp", "udp", "ping" or "scream"; or a list, used in turn.
        kind: Kinds;
        /// Probes that the first flow's mobile runs under load, to measure the link as others see
        /// it: "ping", "exchange", "call", "short-flow", "page". No remedy is applied to their TCP.
        under_load: Vec<Companion>;
        /// Code point of each flow's packets, taken in turn, both ways: it chooses CAKE's tin
        /// (`aqm.tins`), and on 802.11n, ac and ax the access category (RFC 8325), in place of
        /// `wlan.categories`.
        dscp: Vec<CodePoint>;
        /// Datagrams of the flows of kind "udp".
        udp: UdpTable, holding keys;
        /// Echo requests of the flows of kind "ping".
        ping: PingTable, holding keys;
        /// Media of the flows of kind "scream".
        scream: ScreamTable, holding keys;
        /// Differences from `[tcp]` for each flow: a list of tables with the keys of `[tcp]`, used
        /// in turn.
        tcp: Vec<TcpTable>;
    }
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
    expecting = "expected \"tcp\", \"udp\", \"ping\", \"scream\", or a list of them"
)]
pub enum Kinds {
    /// The same for all.
    One(FlowKind),
    /// One after the other.
    Several(Vec<FlowKind>),
}

/// A kind's table is there with flows of that kind only.
pub struct KindTables;

impl FlowsTable {
    /// The transports, used in turn; empty if all are TCP.
    pub fn kinds(&self) -> &[FlowKind] {
        match &self.kind {
            None => &[],
            Some(Kinds::One(kind)) => std::slice::from_ref(kind),
            Some(Kinds::Several(kinds)) => kinds,
        }
    }
}

impl Rule<FlowsTable> for KindTables {
    fn completed(table: &FlowsTable) -> FlowsTable {
        let kinds = table.kinds();
        FlowsTable {
            udp: or_usual(table.udp, kinds.contains(&FlowKind::Udp)),
            ping: or_usual(table.ping, kinds.contains(&FlowKind::Ping)),
            scream: or_usual(table.scream, kinds.contains(&FlowKind::Scream)),
            ..table.clone()
        }
    }

    fn check(table: &FlowsTable, path: &str) -> Result<(), Problem> {
        let kinds = table.kinds();
        for (kind, key, is_given) in [
            (FlowKind::Udp, key_of!(path, table.udp), table.udp.is_some()),
            (
                FlowKind::Ping,
                key_of!(path, table.ping),
                table.ping.is_some(),
            ),
            (
                FlowKind::Scream,
                key_of!(path, table.scream),
                table.scream.is_some(),
            ),
        ] {
            if is_given && !kinds.contains(&kind) {
                let kind = name(&kind);
                let why = format!("belongs to {path}.kind = {kind}; remove it, or choose that");
                return Err(Problem::at(key, why));
            }
        }
        Ok(())
    }
}

fn or_usual<T: Default>(given: Option<T>, is_used: bool) -> Option<T> {
    match given {
        None if is_used => Some(T::default()),
        given => given,
    }
}

keys! {
    /// Datagrams one way.
    #[derive(Clone, Copy, Default)]
    pub struct UdpTable takes {
        /// Payload a second; "unlimited" sends whenever there is room in the first queue.
        rate: Option<BitRate> = None, as Limit<Rate>;
        /// Payload of a datagram; headers of IPv4 and UDP are 28 bytes more.
        // Payload of a datagram that fills an Ethernet frame.
        size: u32 = 1_472, as Bytes<1, 65_507>;
        /// Mean time of sending before a silence, exponential; without it there is no silence.
        on: Interval;
        /// Mean time of a silence, exponential.
        off: Interval;
    }
}

keys! {
    /// Echo requests.
    #[derive(Clone, Copy, Default)]
    pub struct PingTable takes {
        /// Time from one request to the next.
        // Payload and interval of `ping`, but ten times as often.
        interval: Duration = Duration::from_millis(100), as Interval;
        /// Payload of a request and of its answer; headers of IPv4 and ICMP are 28 bytes more.
        size: u32 = 56, as Bytes<1, 65_507>;
    }
}

keys! {
    /// Real-time media with SCReAM (RFC 8298).
    #[derive(Clone, Copy, Default)]
    pub struct ScreamTable takes {
        /// Rate of the encoder at the start.
        start: BitRate = BitRate::from_bps(300_000), as Rate;
        /// Its least rate (TARGET_BITRATE_MIN).
        least: BitRate = BitRate::from_bps(150_000), as Rate;
        /// Its largest rate (TARGET_BITRATE_MAX).
        most: BitRate = BitRate::from_bps(5_000_000), as Rate;
        /// Time from one frame to the next.
        frame: Duration = Duration::from_millis(40), as Interval;
        /// Largest payload of a packet; headers of IPv4, UDP and RTP are 40 bytes more.
        size: u32 = 1_000, as Bytes<100, 1_460>;
    }
}
