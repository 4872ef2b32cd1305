//! `[selective_repeat]`: a wireless link on which frames overtake one that is retransmitted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::wlan::Attempts;
use super::{LineDelay, LossTable, QueueTable, SECOND, SuspensionTable};
use crate::names::{DelayOrder, WindowCount};
use airtcp_units::bounded::{Bytes, Limit, MINUTE, Rate, Span, Whole};

/// A selective-repeat link between a mobile, whose flows all are, and an access point: frames
/// follow one another, and those that were damaged are retransmitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelectiveRepeatTable {
    /// Rate of frames, each direction its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Propagation delay of a signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<LineDelay>,
    /// From a frame's last bit to its retransmission (LL_RTO), at least what an acknowledgment of
    /// the link takes to come back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_timeout: Option<Span<0, MINUTE>>,
    /// Whether TCP is told `retry_timeout` at the start of a connection (Srinivasan §3.1, step 1).
    /// Without, senders that correct for it take their remedy's `link-rto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tell_retry_timeout: Option<bool>,
    /// Most transmissions of a frame, the first included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_limit: Option<Limit<Attempts>>,
    /// Frames that may be in flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Limit<Whole<1, 65_536>>>,
    /// Unit of the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_counts: Option<WindowCount>,
    /// Whether packets overtake one that is retransmitted, or wait for it in a reordering buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<DelayOrder>,
    /// Bytes that each frame adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Bytes<0, 1_000>>,
    /// Time to send an acknowledgment of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_time: Option<Span<0, SECOND>>,
    /// The queues at the mobile and at the access point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueTable>,
    /// Frames that the link damages: each attempt counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossTable>,
    /// A link that goes away now and then: every frame is damaged meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outage: Option<SuspensionTable>,
}
