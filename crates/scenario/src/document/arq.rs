//! `[arq]`: a wireless link of one sender that repeats frames until they are acknowledged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::wlan::Attempts;
use super::{LineDelay, LossTable, QueueTable, SECOND, SuspensionTable};
use airtcp_units::bounded::{Bytes, Limit, Rate, Span};

/// A stop-and-wait link, the direction that data takes. Acknowledgments of TCP come back over a
/// line with the same delay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArqTable {
    /// Rate of frames and of the link's acknowledgments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Propagation delay of a signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<LineDelay>,
    /// Bytes of a packet that a frame carries at most; larger packets are cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<Limit<Bytes<1, 65_535>>>,
    /// Bytes that each frame adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Bytes<0, 1_000>>,
    /// Time to send an acknowledgment of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_time: Option<Span<0, SECOND>>,
    /// Most transmissions of a frame, the first included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_limit: Option<Limit<Attempts>>,
    /// The queue in front of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueTable>,
    /// Frames that the link damages: each attempt counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossTable>,
    /// A link that goes away now and then: every frame is damaged meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outage: Option<SuspensionTable>,
}
