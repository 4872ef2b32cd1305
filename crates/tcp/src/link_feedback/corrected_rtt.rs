//! Corrected round trips (Srinivasan §3.1): a round trip less what the link's own retransmissions
//! took, RTT − n × LL_RTO, so that the estimator sees the path and not the radio.

use std::collections::VecDeque;

use airtcp_units::Duration;

/// Segments remembered: more than any window of the papers' links.
const REMEMBERED: usize = 1024;

/// How often recent segments were retransmitted by the link, by the end of their range, in the
/// order of its reports.
#[derive(Clone, Debug)]
pub struct CorrectedRtt {
    link_rto: Duration,
    recent: VecDeque<(u64, u32)>,
}

impl CorrectedRtt {
    /// Nothing reported; a retransmission of the link takes `link_rto`.
    pub const fn new(link_rto: Duration) -> Self {
        Self {
            link_rto,
            recent: VecDeque::new(),
        }
    }

    /// A retransmission of the link takes `link_rto`.
    pub const fn set_link_rto(&mut self, link_rto: Duration) {
        self.link_rto = link_rto;
    }

    /// The link delivered the segment that ends at `end`.
    pub fn on_delivered(&mut self, end: u64, retransmissions: u32) {
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back((end, retransmissions));
    }

    /// The round trip `rtt` of an acknowledgment up to `una`, corrected by the retransmissions of
    /// that segment of those it covers which the link delivered last, at least `least`. Its
    /// arrival is what the acknowledgment answers: on a link that keeps the order the newest
    /// segment, on one that does not the one that was overtaken.
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
