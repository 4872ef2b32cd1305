//! Corrected round trips (Srinivasan §3.1): the round trip less the time of the link's
//! retransmissions, RTT − n × LL_RTO, so that the estimator sees the path and not the radio.

use alloc::collections::VecDeque;

use airtcp_units::Duration;

/// Number of segments remembered: more than any window on the papers' links.
const REMEMBERED: usize = 1024;

/// Link retransmissions of recent segments, keyed by the end of their range, in the order of the
/// link's reports.
#[derive(Clone, Debug)]
pub struct CorrectedRtt {
    link_rto: Duration,
    recent: VecDeque<(u64, u32)>,
}

impl CorrectedRtt {
    /// Creates the correction without reports; a link retransmission takes `link_rto`.
    pub const fn new(link_rto: Duration) -> Self {
        Self {
            link_rto,
            recent: VecDeque::new(),
        }
    }

    /// Sets the time that a link retransmission takes.
    pub const fn set_link_rto(&mut self, link_rto: Duration) {
        self.link_rto = link_rto;
    }

    /// Records that the link delivered the segment that ends at `end`.
    pub fn on_delivered(&mut self, end: u64, retransmissions: u32) {
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back((end, retransmissions));
    }

    /// Corrects the round trip `rtt` of an acknowledgment up to `una`, to no less than `least`, by
    /// the retransmissions of the covered segment that the link delivered last. That segment's
    /// arrival caused the acknowledgment: on a link that preserves order it is the newest segment,
    /// otherwise the one that was overtaken.
    pub fn correct(&mut self, una: u64, rtt: Duration, least: Duration) -> Duration {
        let answered = self
            .recent
            .iter()
            .rfind(|(end, _)| *end <= una)
            .map_or(0, |(_, retransmissions)| *retransmissions);
        self.recent.retain(|(end, _)| *end > una);
        let link = self.link_rto * u64::from(answered);
        let corrected = rtt.as_nanos().saturating_sub(link.as_nanos());
        Duration::from_nanos(corrected).max(least.min(rtt))
    }
}
