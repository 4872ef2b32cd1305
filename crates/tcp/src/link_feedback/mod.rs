//! A sender's use of its link's reports: WSC-TCP (Srinivasan, "Efficient TCP enhancements for
//! hybrid networks", §3). The parts are independent; they have no effect on a link without reports.

mod corrected_rtt;
mod gap_threshold;
mod rtt_clusters;

use airtcp_units::Duration;

use crate::config::LinkFeedbackConfig;
use corrected_rtt::CorrectedRtt;
use gap_threshold::GapThreshold;
use rtt_clusters::{Filtered, RttClusters};

/// A sender's parts.
#[derive(Clone, Debug)]
pub struct LinkReports {
    corrected: Option<CorrectedRtt>,
    gaps: Option<GapThreshold>,
    clusters: Option<RttClusters>,
}

impl LinkReports {
    /// Creates the parts selected by `config`; `None` if `config` selects nothing.
    #[must_use]
    pub fn new(config: &LinkFeedbackConfig) -> Option<Self> {
        (*config != LinkFeedbackConfig::default()).then(|| Self {
            corrected: config.corrected_rtt.map(CorrectedRtt::new),
            gaps: config.dynamic_threshold.map(GapThreshold::new),
            clusters: config.rtt_clusters.map(RttClusters::new),
        })
    }

    /// Sets the link's retransmission timeout (§3.1, step 1), for the clusters too.
    pub fn on_retry_timeout(&mut self, timeout: Duration) {
        if let Some(corrected) = &mut self.corrected {
            corrected.set_link_rto(timeout);
        }
        if let Some(clusters) = &mut self.clusters {
            clusters.set_link_delay(timeout);
        }
    }

    /// Records that the link has delivered the segment from `start` to `end` after this many
    /// retransmissions. `mss` is the size of a full segment.
    pub fn on_delivered(&mut self, start: u64, end: u64, retransmissions: u32, mss: u64) {
        if let Some(corrected) = &mut self.corrected {
            corrected.on_delivered(end, retransmissions);
        }
        if let Some(gaps) = &mut self.gaps {
            gaps.on_delivered(start, end, mss);
        }
    }

    /// Records that everything below `una` is acknowledged; `mss` is the size of a full segment.
    pub fn on_acknowledged(&mut self, una: u64, mss: u64) {
        if let Some(gaps) = &mut self.gaps {
            gaps.on_acknowledged(una, mss);
        }
    }

    /// Returns the round trip to use in place of `rtt`, measured by an acknowledgment up to `una`,
    /// where `least` is the minimum so far; `None` to discard the sample.
    pub fn filter(&mut self, una: u64, rtt: Duration, least: Duration) -> Option<Duration> {
        let rtt = match &mut self.corrected {
            Some(corrected) => corrected.correct(una, rtt, least),
            None => rtt,
        };
        match &mut self.clusters {
            Some(clusters) => match clusters.filter(rtt) {
                Filtered::Sample(rtt) => Some(rtt),
                Filtered::Transient => None,
            },
            None => Some(rtt),
        }
    }

    /// Number of duplicate acknowledgments that mean a loss with a window of `cwnd` bytes: `base`
    /// without a gap in the link's deliveries.
    #[must_use]
    pub fn threshold(&self, base: u32, cwnd: u64, mss: u64) -> u32 {
        self.gaps
            .as_ref()
            .map_or(base, |gaps| gaps.threshold(base, cwnd, mss))
    }
}

#[cfg(test)]
mod tests;
