//! The choices about what the link itself reports.

use airtcp_units::Duration;

/// What WSC-TCP makes of the link's own reports (Srinivasan §3); nothing without a link that
/// reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LinkFeedbackConfig {
    /// Round trips are corrected by so much for each time the link sent the segment again
    /// (§3.1, `LL_RTO`).
    pub corrected_rtt: Option<Duration>,
    /// The duplicate-ACK threshold grows while the link still retransmits an earlier segment
    /// (§3.2).
    pub dynamic_threshold: Option<DynamicThreshold>,
    /// Round trips are grouped, and groups apart by about so much are link retransmissions
    /// (§3.4).
    pub rtt_clusters: Option<Duration>,
}

impl LinkFeedbackConfig {
    /// The link says that it retransmits after `timeout`: the parts there are go by that (§3.1,
    /// step 1).
    pub fn take_retry_timeout(&mut self, timeout: Duration) {
        for part in [&mut self.corrected_rtt, &mut self.rtt_clusters] {
            *part = part.map(|_| timeout);
        }
    }
}

/// How the duplicate-ACK threshold follows the link's reports (Srinivasan §3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DynamicThreshold {
    /// What is added to the usual threshold.
    pub count: GapCount,
    /// Its bound.
    pub cap: ThresholdCap,
}

/// What a dynamic threshold adds while the link still owes a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum GapCount {
    /// At any time the segments above the first one that the link still owes, up to the highest
    /// delivered one: the pseudocode's `L_ack_max − indx`.
    #[default]
    AboveFirstGap,
    /// As the pseudocode is printed: that number when the first gap closes, and one more for each
    /// delivery above all earlier ones.
    AsPrinted,
}

/// The bound of a dynamic threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThresholdCap {
    /// None, as in the thesis: where the link gives a segment up, a window may hold too few
    /// segments to make that many duplicates, and the loss waits for the timer.
    None,
    /// The congestion window less this many segments, but never below the usual threshold: with one
    /// segment, what the others in the window can make (RFC 4653 §3).
    BelowWindow(u32),
}

impl Default for ThresholdCap {
    fn default() -> Self {
        Self::BelowWindow(1)
    }
}
