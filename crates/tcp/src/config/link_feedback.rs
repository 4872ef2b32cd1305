//! Choices about the link's reports.

use airtcp_units::Duration;

/// WSC-TCP's use of the link's reports (Srinivasan §3); without effect on a link that sends no
/// reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LinkFeedbackConfig {
    /// Subtracted from a round trip for each link-layer retransmission (§3.1, `LL_RTO`).
    pub corrected_rtt: Option<Duration>,
    /// The duplicate-ACK threshold grows while the link still retransmits an earlier segment
    /// (§3.2).
    pub dynamic_threshold: Option<DynamicThreshold>,
    /// Groups round trips (§3.4).
    pub rtt_clusters: Option<RttClustering>,
}

/// How round trips are grouped. The thesis names k-means, but neither k nor a rule for transients:
/// the defaults are ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttClustering {
    /// Groups about this far apart differ by link retransmissions.
    pub link_delay: Duration,
    /// The most groups; at least 1.
    pub most: u32,
    /// The round trips that are grouped, the last ones; at least 1. They are grouped anew after a
    /// quarter as many.
    pub samples: u32,
    /// The largest group that counts as a transient.
    pub transient: u32,
}

impl RttClustering {
    /// Groups by a link's delay, with our defaults for the rest.
    #[must_use]
    pub const fn by(link_delay: Duration) -> Self {
        Self {
            link_delay,
            most: 4,
            samples: 64,
            transient: 2,
        }
    }
}

impl LinkFeedbackConfig {
    /// Sets the link's retransmission timeout for the parts that use it (§3.1, step 1).
    pub fn take_retry_timeout(&mut self, timeout: Duration) {
        self.corrected_rtt = self.corrected_rtt.map(|_| timeout);
        if let Some(clusters) = &mut self.rtt_clusters {
            clusters.link_delay = timeout;
        }
    }
}

/// How the duplicate-ACK threshold follows the link's reports (Srinivasan §3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DynamicThreshold {
    /// The amount added to the usual threshold.
    pub count: GapCount,
    /// Its bound.
    pub cap: ThresholdCap,
}

/// The amount a dynamic threshold adds while the link still has segments outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum GapCount {
    /// The segments above the first one outstanding at the link, up to the highest delivered one:
    /// the pseudocode's `L_ack_max − indx`.
    #[default]
    AboveFirstGap,
    /// As printed in the pseudocode: that number when the first gap closes, and one more for each
    /// delivery above all earlier ones.
    AsPrinted,
}

/// Upper bound of a dynamic threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThresholdCap {
    /// None, as in the thesis: where the link gives up on a segment, the window may hold too few
    /// segments for that many duplicates, and the loss waits for the timer.
    None,
    /// The congestion window less this many segments, but never below the usual threshold: with one
    /// segment, the number of duplicates the others in the window can cause (RFC 4653 §3).
    BelowWindow(u32),
}

impl Default for ThresholdCap {
    fn default() -> Self {
        Self::BelowWindow(1)
    }
}
