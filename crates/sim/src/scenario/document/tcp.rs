//! `[tcp]`: both endpoints of every connection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Amount, Gain, MICROSECOND, MINUTE, Segments, Timeout};
use crate::scenario::bounded::{Bytes, Limit, Real, Span, Whole};
use crate::scenario::names::{
    CongestionControlName, DeviationFromName, GrowthCreditName, LateReportsName, LossDetectionName,
    PartialAckTimerName, ProfileName, RecoveryName, ReductionBaseName, ReductionName, RenegingName,
    ReportedRttName, RetransmissionName, RttEstimationName, RttSamplingName, SlowStartName,
    SpuriousResponseName, TimerName, TimerRestartName, WindowGrowthName, WindowValidationName,
};

/// The TCP endpoints: a profile, and what differs from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TcpTable {
    /// The stack that the other keys change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileName>,
    /// How large the congestion window is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<CongestionControlName>,
    /// How slow start ends before a loss ends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start: Option<SlowStartName>,
    /// What makes a segment believed lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_detection: Option<LossDetectionName>,
    /// A silent tail is probed before the timer expires (TLP, RFC 8985 §7); only with `sack`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail_loss_probe: Option<bool>,
    /// How the window gets to where a loss puts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduction: Option<ReductionName>,
    /// What a reduction of the window is taken from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduction_base: Option<ReductionBaseName>,
    /// When a window counts as used, so that it may grow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_validation: Option<WindowValidationName>,
    /// The window starts anew after a pause of more than a timeout (RFC 5681 §4.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_after_idle: Option<bool>,
    /// A small segment waits while another is not acknowledged (Nagle's algorithm, RFC 9293 §3.7.4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nagle: Option<bool>,
    /// Segments leave at a pace and not as acknowledgments come. BBR always paces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing: Option<bool>,
    /// Needless recoveries are found by echoed timestamps (Eifel detection, RFC 3522).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eifel: Option<bool>,
    /// Needless timeouts are found by trying new data (F-RTO, RFC 5682).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub f_rto: Option<bool>,
    /// Needless recoveries are found by reports of duplicates (RFC 3708).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dsack_undo: Option<bool>,
    /// What is done about a recovery that was needless.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spurious_response: Option<SpuriousResponseName>,
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
    /// What an acknowledgment counts towards growth of the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth_credit: Option<GrowthCreditName>,
    /// Most segments that one acknowledgment opens slow start by (RFC 3465 §2.3, L).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start_limit: Option<Whole<1, 1_000_000>>,
    /// The same while what a timeout gave up is repaired (RFC 3465 §2.3: 1; Linux has no such limit).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start_limit_after_timeout: Option<Whole<1, 1_000_000>>,
    /// Which partial acknowledgments restart the retransmission timer, without `sack` (RFC 6582 §4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial_ack_timer: Option<PartialAckTimerName>,
    /// What restarts the retransmission timer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer_restart: Option<TimerRestartName>,
    /// Whether a segment reported for the first time gives a round-trip sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_rtt: Option<ReportedRttName>,
    /// What is made of the reports in an acknowledgment older than one before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_reports: Option<LateReportsName>,
    /// When a receiver is taken to have dropped what it had reported (RFC 2018 §8).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reneging: Option<RenegingName>,
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
    /// Which estimator turns round trips into a timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_estimation: Option<RttEstimationName>,
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
    /// So many segments at the start and after a pause are acknowledged at once (Linux: 16).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quick: Option<Whole<0, 1_000_000>>,
}
