//! The recovery period of RFC 9002 §7.3.2: one reduction of the window for all data sent before
//! it, and no growth. It ends with the first delivery of a segment sent since, while the
//! repair of what was lost goes on.

use airtcp_units::Instant;

use super::{Before, Sender};
use crate::config::Recovery;
use crate::recovery::Phase;

impl Sender {
    #[inline]
    pub(super) const fn has_recovery_period(&self) -> bool {
        matches!(self.choices.recovery, Recovery::RecoveryPeriod)
    }

    /// Whether the loss of a segment sent at `latest` is no longer that of the last reduction.
    pub(super) fn is_another_event(&self, latest: Option<Instant>) -> bool {
        match self.repair.phase() {
            Phase::FastRecovery(recovery) => {
                self.has_recovery_period()
                    && latest.is_some_and(|sent_at| recovery.is_after_reduction(sent_at))
            }
            _ => true,
        }
    }

    /// Opens the window by what has been delivered, also while losses are being repaired.
    pub(super) fn grow_by_period(&mut self, before: &Before, delivered: u64, marked: bool) {
        if !self.has_recovery_period() {
            return;
        }
        let latest = self.board.delivery().and_then(|delivery| delivery.latest);
        if let Some(recovery) = self.repair.fast_mut() {
            if !latest.is_some_and(|latest| recovery.is_after_reduction(latest.sent_at)) {
                return;
            }
            let pace = recovery.end_reduction();
            self.settle_window(&pace);
        }
        self.grow(delivered, before.in_flight, marked);
    }
}
