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
    pub dynamic_threshold: bool,
    /// Round trips are grouped, and groups apart by about so much are link retransmissions
    /// (§3.4).
    pub rtt_clusters: Option<Duration>,
}
