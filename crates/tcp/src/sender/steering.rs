//! Decisions from outside, between acknowledgments: a window or pace chosen by a learning agent.

use airtcp_units::{BitRate, Instant};

use super::Sender;
use crate::recovery::Phase;

impl Sender {
    /// Multiplies the window by `factor`; the control continues from there. While losses found by
    /// acknowledgments are repaired it is the window after the repair, the threshold. Returns
    /// whether it does: a model of the path sets its window itself.
    pub fn scale_window(&mut self, factor: f64) -> bool {
        let repairs = matches!(self.repair.phase(), Phase::FastRecovery(_));
        self.congestion.scale(factor, repairs)
    }

    /// Sets the pacing rate of a control that is not compiled in, and lets it set the window for
    /// that rate. Returns whether it does: other controls set theirs themselves.
    pub fn set_pace(&mut self, now: Instant, rate: BitRate) -> bool {
        self.show_external(now);
        self.congestion.set_external_pace(rate)
    }

    /// The pacing rate, if segments are paced.
    #[must_use]
    pub fn pace(&self) -> Option<BitRate> {
        let srtt = self.timeout.estimator().srtt();
        let pace = self.congestion.pace(srtt, self.board.outstanding());
        pace.map(|(rate, _)| rate)
    }

    /// Bytes that have arrived by the sender's knowledge: acknowledged or reported by SACK.
    #[must_use]
    pub fn arrived(&self) -> u64 {
        self.space.una() + self.board.sacked()
    }

    /// Bytes presumed lost since the start.
    #[must_use]
    pub fn lost_in_all(&self) -> u64 {
        self.detection.lost_in_all()
    }
}
