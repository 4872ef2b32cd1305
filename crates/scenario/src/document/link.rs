//! `[link]`: a pipe, a recorded link or recorded round-trip times.

use airtcp_units::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Amount, AqmTable, DAY, HOUR, JitterTable, LateTable, LineDelay, LostPacketsTable, Packets,
    RecordedTable, StopsTable,
};
use crate::names::{
    Counted, DelayOrder, LogStart, LossDirection, LossModel, RttShapeName, TraceDirection,
};
use airtcp_units::bounded::{Limit, Rate, Real, Span, Whole};

/// The link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkTable {
    /// Rate at which packets are put on the link, counted on whole IP packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Limit<Rate>>,
    /// One-way delay of a packet, the same in each direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<LineDelay>,
    /// The queue in front of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueTable>,
    /// Packets that the link loses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossTable>,
    /// Which of the packets that wait is served, dropped or marked; the oldest is served, and what
    /// finds no room is dropped, when this is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aqm: Option<AqmTable>,
    /// Packets that the link loses by their numbers, in place of `loss`: what a recorded run lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_packets: Option<LostPacketsTable>,
    /// A link that stops at regular intervals, in both directions, and resumes what it was sending:
    /// short for `stops` with `process = "periodic"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspension: Option<SuspensionTable>,
    /// A link that stops: at random, at regular intervals, or as recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stops: Option<StopsTable>,
    /// A delay that is drawn for each packet, in addition to `delay`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<JitterTable>,
    /// Packets that come late, so that others overtake them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<LateTable>,
    /// Delays and losses as they were recorded, in place of `delay` and `loss`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedTable>,
    /// A recorded link: delivery opportunities in mahimahi's format, in place of `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceTable>,
    /// A recorded series of round-trip times, in place of rate, delay and queue: the k-th data
    /// packet sent takes the k-th of them, acknowledgments take none (Miyim §V).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_log: Option<RttLogTable>,
    /// Round-trip times drawn from a distribution, in the model of `rtt_log`: for a link of which
    /// only a few facts are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_model: Option<RttModelTable>,
    /// Where the direction that acknowledgments take differs. What is left out is as it is on
    /// the way there, but for losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverse: Option<ReverseTable>,
}

/// The queue in front of the link: a number of packets, of bytes, or both. The packet being sent is
/// not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueTable {
    /// Packets that may wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<Packets>,
    /// Bytes that may wait. With `packets` both limits hold; alone it stands in their place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Amount>,
}

/// Packets that the link loses after they were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossTable {
    /// Model of the losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<LossModel>,
    /// Chance that a packet is lost (`iid`) or a bit wrong (`bit-error`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Probability>,
    /// Packets lost (`block`): the last ones of every `of`.
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
    /// Whose transmissions are counted (`wlan.loss` alone).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<Counted>,
}

/// A link that stops for `length` every `every`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuspensionTable {
    /// From the start of one stop to the start of the next; the first comes after this time.
    pub every: Span<1, { 30 * DAY }>,
    /// Duration of a stop.
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
    /// Output of `ping`, with or without `-D`, or CSV; beside the scenario unless absolute. The
    /// share of its probes without an answer is the link's loss, unless `link.loss` gives another.
    pub path: String,
    /// Whether packets may overtake each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<DelayOrder>,
    /// Where in the recording a run begins: seeds differ by this alone where nothing is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<LogStart>,
}

/// Round-trip times drawn from a stationary process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RttModelTable {
    /// The shape of the distribution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<RttShapeName>,
    /// Mean round trip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<Span<1_000, HOUR>>,
    /// Correlation of one round trip with the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autocorrelation: Option<Real<0, 990_000>>,
    /// Standard deviation over mean (`log-normal`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variation: Option<Real<0, 10_000_000>>,
    /// Share of the round trips in a spike (`spikes`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spike_share: Option<Real<1_000, 990_000>>,
    /// Delay of a spike, in multiples of the base delay (`spikes`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spike_height: Option<Real<1_000_000, 1_000_000_000>>,
    /// Whether packets may overtake each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<DelayOrder>,
}

/// Where the direction that acknowledgments take differs from the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReverseTable {
    /// Rate at which packets are put on the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Limit<Rate>>,
    /// One-way delay of a packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<LineDelay>,
    /// The queue in front of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueTable>,
    /// Packets that the link loses. Its `direction` may not be given here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossTable>,
    /// Which of the packets that wait is served, dropped or marked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aqm: Option<AqmTable>,
    /// Packets that are lost by their numbers, in place of `loss`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_packets: Option<LostPacketsTable>,
    /// A delay that is drawn for each packet, in addition to `delay`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<JitterTable>,
    /// Packets that come late, so that others overtake them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<LateTable>,
    /// Delays and losses as they were recorded, in place of `delay` and `loss`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedTable>,
}
