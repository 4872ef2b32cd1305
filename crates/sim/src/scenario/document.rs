//! What a scenario file may say: every key with its type and range. The JSON Schema and the table
//! of keys in `docs/scenarios.md` come from here.
//!
//! A key that is left out is `None`; [`super::resolve`] fills in what it then is.

use airtcp_units::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bounded::{Bytes, Limit, Rate, Real, Span, Whole};
use super::names::{
    DelayOrder, DeviationFromName, LogStart, LossDirection, LossModel, ProfileName, RecoveryName,
    RetransmissionName, RttSamplingName, TimerName, Topology, TraceDirection, WindowGrowthName,
};

const MICROSECOND: u64 = 1_000;
const MILLISECOND: u64 = 1_000 * MICROSECOND;
const MINUTE: u64 = 60_000 * MILLISECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// A packet's delay on a line, each way: none to an hour.
pub(crate) type LineDelay = Span<0, HOUR>;
/// A retransmission timeout: 1 µs to a day.
pub(crate) type Timeout = Span<MICROSECOND, DAY>;
/// A number of segments.
pub(crate) type Segments = Whole<1, 1_000_000_000>;
/// A number of packets in a queue or a block of losses.
pub(crate) type Packets = Whole<1, 1_000_000_000>;
/// Bytes of a transfer or a buffer, up to 1 PB.
pub(crate) type Amount = Bytes<1, 1_000_000_000_000_000>;
/// A smoothing gain, up to 1.
pub(crate) type Gain = Real<1, 1_000_000>;

/// A scenario: the link, the flows over it, and the TCP at their ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "airtcp scenario")]
pub struct Document {
    /// Name, in tables and file names. Without it, the file's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the scenario is for, in a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Simulated time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span<1, { 30 * DAY }>>,
    /// What lies between the endpoints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology: Option<Topology>,
    /// Remedies to apply, each as in `airtcp compare --remedy`: `"rto-factor:factor=10"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedies: Option<Vec<String>>,
    /// The link: the direction that data takes, and the other unless `[link.reverse]` differs.
    #[serde(default)]
    pub link: LinkTable,
    /// The flows over the link.
    #[serde(default)]
    pub flows: FlowsTable,
    /// The TCP endpoints.
    #[serde(default)]
    pub tcp: TcpTable,
}

/// The link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkTable {
    /// How fast packets are put on the link, counted on whole IP packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Limit<Rate>>,
    /// How long a packet is under way, each way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<LineDelay>,
    /// What may wait for the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueTable>,
    /// Packets that the link loses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossTable>,
    /// A link that stops now and then, in both directions, and resumes what it was sending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspension: Option<SuspensionTable>,
    /// A recorded link: delivery opportunities in mahimahi's format, in place of `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceTable>,
    /// A recorded series of round-trip times, in place of rate, delay and queue: the k-th data
    /// packet sent takes the k-th of them, acknowledgments take none (Miyim §V).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_log: Option<RttLogTable>,
    /// Where the direction that acknowledgments take differs. What is left out is as it is on
    /// the way there, but for losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverse: Option<ReverseTable>,
}

/// What may wait for the link: so many packets, or so many bytes. The packet being sent does not
/// wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueTable {
    /// Packets that may wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<Packets>,
    /// Bytes that may wait, in place of `packets`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Amount>,
}

/// Packets that the link loses after they were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossTable {
    /// How losses are drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<LossModel>,
    /// Chance that a packet is lost (`iid`) or a bit wrong (`bit-error`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Probability>,
    /// Packets lost (`block`): the last so many of every `of`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<Whole<0, 1_000_000_000>>,
    /// Length of a block in packets (`block`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<Packets>,
    /// Chance at each packet to go from the good state to the bad (`gilbert-elliott`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub good_to_bad: Option<Probability>,
    /// Chance at each packet to go from the bad state to the good (`gilbert-elliott`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bad_to_good: Option<Probability>,
    /// Chance that a packet is lost in the good state (`gilbert-elliott`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_in_good: Option<Probability>,
    /// Chance that a packet is lost in the bad state (`gilbert-elliott`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_in_bad: Option<Probability>,
    /// Which direction loses packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<LossDirection>,
}

/// A link that stops for `length` every `every`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuspensionTable {
    /// From the start of one stop to the start of the next; the first comes after this time.
    pub every: Span<1, { 30 * DAY }>,
    /// How long a stop lasts.
    pub length: Span<1, { 30 * DAY }>,
}

/// A recorded link in mahimahi's format: a line is a millisecond in which 1500 bytes may cross.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceTable {
    /// File for the direction to the mobile, beside the scenario unless absolute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down: Option<String>,
    /// File for the direction from the mobile. A direction without a file has no rate limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<String>,
    /// The direction that carries the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<TraceDirection>,
}

/// A recorded series of round-trip times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RttLogTable {
    /// Output of `ping`, with or without `-D`, or CSV; beside the scenario unless absolute.
    pub path: String,
    /// Whether packets may overtake each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<DelayOrder>,
    /// Where in the recording a run begins: seeds differ by this alone where nothing is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<LogStart>,
}

/// Where the direction that acknowledgments take differs from the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReverseTable {
    /// How fast packets are put on the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Limit<Rate>>,
    /// How long a packet is under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<LineDelay>,
    /// What may wait for the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueTable>,
    /// Packets that the link loses. Its `direction` may not be given here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossTable>,
}

/// The flows over the link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowsTable {
    /// How many there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<Whole<1, 1_000_000>>,
    /// Time over which they start: flow i at i/count of it, plus up to 1/count of it at random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_spread: Option<Span<0, { 30 * DAY }>>,
    /// What each sends; "unlimited" is as much as it can until the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Limit<Amount>>,
    /// Delay each way of each flow's access line (`dumbbell`), used in turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_delay: Option<Vec<LineDelay>>,
}

/// The TCP endpoints: a profile, and what differs from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TcpTable {
    /// The stack that the other keys change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileName>,
    /// How losses are repaired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryName>,
    /// Selective acknowledgments (RFC 2018, RFC 6675).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sack: Option<bool>,
    /// Reports of duplicates (RFC 2883); only with `sack`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dsack: Option<bool>,
    /// Timestamps (RFC 7323).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// One tick of the timestamp clock (RFC 7323 §5.4: 1 ms to 1 s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp_tick: Option<Span<MICROSECOND, MINUTE>>,
    /// Payload of a full segment in bytes, options not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mss: Option<Whole<1, 65_495>>,
    /// Congestion window at the start, in segments (RFC 6928: 10).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<Whole<1, 1_000_000>>,
    /// Slow-start threshold at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<Limit<Amount>>,
    /// Largest congestion window, in segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_window: Option<Limit<Segments>>,
    /// What the receiver can hold, in bytes; up to 1 GiB, the largest window (RFC 7323 §2.3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_buffer: Option<Bytes<1, { 1 << 30 }>>,
    /// Duplicate acknowledgments that mean a loss (RFC 5681 §3.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate_ack_threshold: Option<Whole<1, 1_000_000>>,
    /// New data on the first duplicate acknowledgments (RFC 3042).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// What is resent after a timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmission: Option<RetransmissionName>,
    /// How many retransmission timers there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer: Option<TimerName>,
    /// What opens the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_growth: Option<WindowGrowthName>,
    /// Most segments that one acknowledgment opens slow start by (RFC 3465 §2.3, L).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start_limit: Option<Whole<1, 1_000_000>>,
    /// Shortest retransmission timeout (RFC 6298 §2.4: 1 s; common stacks: 200 ms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rto: Option<Timeout>,
    /// Longest retransmission timeout, back-off included (RFC 6298 §2.5: at least 60 s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rto: Option<Timeout>,
    /// Retransmission timeout before the first sample (RFC 6298 §2.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_rto: Option<Timeout>,
    /// m in RTO = smoothed RTT + m × smoothed deviation (RFC 6298 §2.3: 4; Miyim §III: 10).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_factor: Option<Real<1_000, 1_000_000_000_000>>,
    /// Clock granularity G, the least the deviation term can be (RFC 6298 §2.3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_granularity: Option<Span<0, MINUTE>>,
    /// Whether the timeout doubles each time it expires (RFC 6298 §5.5).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_back_off: Option<bool>,
    /// Which round trips are measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_sampling: Option<RttSamplingName>,
    /// Which mean a sample's deviation is taken from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation_from: Option<DeviationFromName>,
    /// Gain of the smoothed RTT (RFC 6298 §2.3: 1/8).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_mean_gain: Option<Gain>,
    /// Gain of the smoothed deviation (RFC 6298 §2.3: 1/4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_deviation_gain: Option<Gain>,
    /// When the receiver acknowledges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<DelayedAckTable>,
}

/// When the receiver acknowledges (RFC 1122 §4.2.3.2, RFC 5681 §4.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelayedAckTable {
    /// Full segments until an acknowledgment must go out; 1 acknowledges each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<Whole<1, 1_000_000>>,
    /// The longest an acknowledgment waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span<MICROSECOND, MINUTE>>,
}
