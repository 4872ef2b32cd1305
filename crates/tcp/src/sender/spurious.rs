//! Detection and undoing of needless recoveries.

use airtcp_units::Instant;

use super::loss::End;
use super::{Acknowledgment, Before, Sender};
use crate::config::{SpuriousResponse, TimerScope};
use crate::observer::{Event, Evidence, Observer};
use crate::recovery::Phase;
use crate::rtt::Echo;

impl Sender {
    /// The evidence, if any, that the current or just completed recovery was needless.
    pub(super) fn evidence(&self, echo: Option<Echo>) -> Option<Evidence> {
        let detection = self.choices.spurious_detection;
        if detection.dsack_undo && self.repair.is_disproved_by_duplicates() {
            Some(Evidence::Duplicates)
        } else if self.echoes_original(echo) {
            Some(Evidence::Echo)
        } else {
            None
        }
    }

    /// Whether an echoed timestamp shows that the retransmitted data had only been late.
    fn echoes_original(&self, echo: Option<Echo>) -> bool {
        self.choices.spurious_detection.eifel
            && self
                .repair
                .is_disproved_by_echo(echo, self.timeout.config().timestamp_tick)
    }

    /// Undoes the reduction of the window. `unmark`: data presumed lost is back in flight.
    fn take_back(
        &mut self,
        now: Instant,
        evidence: Evidence,
        unmark: bool,
        observer: &mut impl Observer,
    ) {
        if unmark {
            self.unmark_lost(now);
        }
        if let Some(kept) = self.repair.take_kept() {
            self.show_external(now);
            self.congestion.restore(kept);
        }
        if let Some(recovery) = self.repair.fast_mut() {
            recovery.taken_back = true;
        }
        self.detection.look_again();
        self.counters.recoveries_taken_back.add();
        observer.event(now, Event::RecoveryTakenBack { evidence });
    }

    /// Puts data presumed lost back in flight, with running timers.
    fn unmark_lost(&mut self, now: Instant) {
        let (scope, timeout) = (self.choices.scope, &self.timeout);
        self.board.unmark_lost(|expiries| match scope {
            TimerScope::Connection => Instant::FAR_FUTURE,
            TimerScope::Segment => now + timeout.backed_off(u32::from(expiries)),
        });
        self.detection.watch_again(&self.board);
        self.repair.forget_first();
    }

    /// Undoes a recovery if every retransmission of it was reported as a duplicate.
    pub(super) fn try_undo_by_duplicates(&mut self, now: Instant, observer: &mut impl Observer) {
        if !self.repair.is_disproved_by_duplicates()
            || !self.choices.spurious_detection.dsack_undo
            || self.repair.is_after_timeout()
        {
            return;
        }
        self.take_back(now, Evidence::Duplicates, false, observer);
        if self.repair.is_fast() && self.board.lost() == 0 {
            self.end_repair(now, End::TakenBack, observer);
        }
    }

    /// Ends the fast recovery, or undoes it: everything outstanding is acknowledged.
    pub(super) fn leave_recovery(
        &mut self,
        now: Instant,
        echo: Option<Echo>,
        observer: &mut impl Observer,
    ) {
        let evidence = self
            .evidence(echo)
            .filter(|_| self.choices.spurious_response != SpuriousResponse::None);
        let end = match evidence {
            Some(evidence) => {
                self.take_back(now, evidence, false, observer);
                End::TakenBack
            }
            None => End::Repaired,
        };
        if !self.is_repair_held() {
            self.end_repair(now, end, observer);
        }
    }

    /// Handles the acknowledgment of `acked` bytes, part of the outstanding data. If they were sent
    /// before the first retransmission, they were late and not lost: that is reordering, whether or
    /// not the recovery can be undone (Linux, `tcp_try_undo_partial`).
    pub(super) fn on_partial_acknowledgment(
        &mut self,
        now: Instant,
        acked: u64,
        echo: Option<Echo>,
        observer: &mut impl Observer,
    ) {
        if self.choices.spurious_response == SpuriousResponse::None {
            return;
        }
        if self.echoes_original(echo) {
            let una = self.space.una();
            let behind = self.board.highest_sacked().max(una) - una;
            self.detection
                .on_reordering(acked + behind, self.congestion.mss());
        }
        if self.evidence(echo) == Some(Evidence::Echo) {
            // The retransmissions are still in flight: the window waits for them.
            if self.board.resent() == 0 {
                self.take_back(now, Evidence::Echo, true, observer);
                self.end_repair(now, End::TakenBack, observer);
            }
        } else {
            self.try_undo_by_duplicates(now, observer);
        }
    }

    /// Handles an acknowledgment during the repair of a timeout.
    pub(super) fn on_acknowledgment_after_timeout(
        &mut self,
        now: Instant,
        acknowledgment: &Acknowledgment<'_>,
        before: &Before,
        newly_reported: u64,
        observer: &mut impl Observer,
    ) {
        let &Phase::Timeout {
            recover,
            tests_new_data,
        } = self.repair.phase()
        else {
            return;
        };
        let advances = self.space.una() > before.una;
        let evidence = self.evidence(acknowledgment.echo);
        let marked = acknowledgment.marked;
        if advances && let Some(evidence) = evidence {
            self.undo_timeout(now, evidence, (before, marked), observer);
            return;
        }
        if tests_new_data {
            // RFC 5682 §3.1 step 3b: data sent before the timeout, and not since, has arrived.
            // Without SACK the acknowledgment of a retransmission also covers data that had arrived
            // after it before the timeout, and proves nothing (Linux, `tcp_clean_rtx_queue`).
            if self.board.delivery().is_some_and(|delivery| {
                delivery.original_below && (self.choices.sack || !delivery.resent_acknowledged)
            }) {
                self.undo_timeout(now, Evidence::NewData, (before, marked), observer);
                return;
            }
            self.test_new_data(recover, advances, newly_reported > 0 || !advances);
        }
        if self.space.una() >= recover && !self.is_repair_held() {
            self.end_repair(now, End::Repaired, observer);
        }
    }

    /// RFC 5682 §2.1 and §3.1, steps 2 and 3.
    fn test_new_data(&mut self, recover: u64, advances: bool, reports: bool) {
        if self.space.nxt() > recover {
            // Step 3a: a duplicate of new data: the loss was real.
            self.repair.test_new_data(recover, !reports, false);
        } else if advances && self.space.una() < recover {
            // Step 2b: new data is sent in place of the data given up; without new data,
            // conventional recovery.
            let tests = self.space.has_fresh();
            self.repair.test_new_data(self.space.nxt(), tests, tests);
        }
    }

    /// Undoes a timeout shown to be needless by an acknowledgment that found the sender in the
    /// state `before`, and echoes a congestion mark if `marked`.
    fn undo_timeout(
        &mut self,
        now: Instant,
        evidence: Evidence,
        (before, marked): (&Before, bool),
        observer: &mut impl Observer,
    ) {
        self.note_spurious_timeout(now, observer);
        match self.choices.spurious_response {
            // Windows and estimates stay; only the repair of data that was not lost ends.
            SpuriousResponse::None => {}
            SpuriousResponse::Restore => {
                self.take_back(now, evidence, true, observer);
                self.timeout.forget_expiries();
            }
            SpuriousResponse::Eifel => {
                self.unmark_lost(now);
                let acked = self.space.una() - before.una;
                // The network is congested whether or not the timeout was needed (RFC 4015 §3).
                if let Some(kept) = self.repair.take_kept().filter(|_| !marked) {
                    let in_flight = self.in_flight();
                    self.congestion.resume(kept, in_flight, acked);
                }
                if let Some(rtt) = self.timeout.estimator().latest() {
                    self.timeout.on_spurious(rtt);
                }
                self.counters.recoveries_taken_back.add();
                observer.event(now, Event::RecoveryTakenBack { evidence });
            }
        }
        // Segments that SACK shows to be lost are lost whether or not the timeout was needed.
        // Without this each hole waits for a separate timeout if no report brings news (Linux,
        // `tcp_fastretrans_alert`, which goes on to look for losses once `tcp_process_loss` has
        // undone one).
        if self.choices.sack && self.choices.spurious_response != SpuriousResponse::None {
            self.detection
                .detect_by_reports(&mut self.board, self.congestion.mss());
        }
        self.end_repair(now, End::TakenBack, observer);
    }

    /// RFC 3522 §3: if the first acknowledgment after a timeout echoes a timestamp older than the
    /// retransmission, the original had arrived.
    #[inline]
    pub(super) fn judge_timeout(
        &mut self,
        now: Instant,
        echo: Option<Echo>,
        observer: &mut impl Observer,
    ) {
        let Some(resent_at) = self.repair.take_resent_after_timeout() else {
            return;
        };
        if echo.is_some_and(|echo| echo.sent_at + self.timeout.config().timestamp_tick <= resent_at)
        {
            self.note_spurious_timeout(now, observer);
        }
    }

    fn note_spurious_timeout(&mut self, now: Instant, observer: &mut impl Observer) {
        if self.repair.judge_timeout() {
            self.counters.timeouts_judged_spurious.add();
            observer.event(now, Event::TimeoutJudgedSpurious);
        }
    }
}
