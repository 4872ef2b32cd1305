//! Finding out that a recovery was needless, and taking it back.

use airtcp_units::Instant;

use super::{Acknowledgment, Before, Echo, Sender};
use crate::config::SpuriousResponse;
use crate::observer::{Event, Observer};
use crate::recovery::Phase;

/// How a recovery was found to be needless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// An echoed timestamp older than the first retransmission (RFC 3522).
    Echo,
    /// Every retransmission was reported as a duplicate (RFC 3708).
    Duplicates,
    /// After a timeout, acknowledgments of data that was not sent again (RFC 5682).
    NewData,
}

impl Evidence {
    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Echo => "an old timestamp was echoed",
            Self::Duplicates => "every retransmission was a duplicate",
            Self::NewData => "new data was acknowledged in its place",
        }
    }
}

impl Sender {
    /// Whether what arrived proves that the recovery under way, or just over, was needless.
    pub(super) fn evidence(&self, echo: Option<Echo>) -> Option<Evidence> {
        let detection = self.choices.spurious_detection;
        let undo = self.undo.as_ref()?;
        if detection.dsack && undo.is_proved_by_duplicates() {
            Some(Evidence::Duplicates)
        } else if detection.eifel && undo.is_proved_by_echo(echo, self.choices.timestamp_tick) {
            Some(Evidence::Echo)
        } else {
            None
        }
    }

    /// Takes the reduction of the window back. `unmark`: what is presumed lost is on its way again.
    pub(super) fn take_back(
        &mut self,
        now: Instant,
        evidence: Evidence,
        unmark: bool,
        observer: &mut impl Observer,
    ) {
        if unmark {
            self.board.unmark_lost();
            self.repair_now = None;
        }
        if let Some(saved) = self.undo.as_mut().and_then(|undo| undo.take()) {
            self.congestion.restore(saved);
        }
        if let Some(rack) = &mut self.rack {
            rack.look_again();
        }
        self.counters.recoveries_taken_back += 1;
        observer.event(now, Event::RecoveryTakenBack { evidence });
    }

    /// An acknowledgment while a timeout is repaired. Returns whether the timeout was spurious
    /// or what it gave up is repaired, so that the sender is open again.
    pub(super) fn on_acknowledgment_after_timeout(
        &mut self,
        now: Instant,
        acknowledgment: &Acknowledgment<'_>,
        before: &Before,
        newly_reported: u64,
        observer: &mut impl Observer,
    ) -> bool {
        let Phase::Timeout {
            recover,
            tests_new_data,
        } = self.phase
        else {
            return false;
        };
        let advances = self.una > before.una;
        let evidence = self.evidence(acknowledgment.echo);
        if advances && let Some(evidence) = evidence {
            self.undo_timeout(now, evidence, before, observer);
            return true;
        }
        if tests_new_data {
            // RFC 5682 §3.1 step 3b: data sent before the timeout, and not since, has arrived.
            if self
                .board
                .delivery()
                .is_some_and(|delivery| delivery.original_below)
            {
                self.undo_timeout(now, Evidence::NewData, before, observer);
                return true;
            }
            self.test_new_data(recover, advances, newly_reported > 0 || !advances);
        }
        if self.una >= recover {
            self.phase = Phase::Open;
            self.on_open();
            observer.event(now, Event::RecoveryExit);
            return true;
        }
        false
    }

    /// RFC 5682 §2.1 and §3.1, steps 2 and 3.
    fn test_new_data(&mut self, recover: u64, advances: bool, reports: bool) {
        let (mut at, mut tests) = (recover, true);
        if self.nxt > recover {
            // Step 3a: a duplicate of new data: the loss was real.
            tests = !reports;
        } else if advances && self.una < recover {
            // Step 2b: new data goes out in place of what was given up; without any, the
            // conventional recovery.
            at = self.nxt;
            let end = self.written + u64::from(self.closed);
            tests = self.nxt < end && self.right_edge > self.nxt;
            self.new_data_first = tests;
        }
        self.phase = Phase::Timeout {
            recover: at,
            tests_new_data: tests,
        };
    }

    fn undo_timeout(
        &mut self,
        now: Instant,
        evidence: Evidence,
        before: &Before,
        observer: &mut impl Observer,
    ) {
        if !self.timeout_judged {
            self.timeout_judged = true;
            self.counters.timeouts_judged_spurious += 1;
            observer.event(now, Event::TimeoutJudgedSpurious);
        }
        match self.choices.spurious_response {
            // What is known stays; only the repair of what was not lost ends.
            SpuriousResponse::None => {}
            SpuriousResponse::Restore => {
                self.take_back(now, evidence, true, observer);
                self.timeout.forget_expiries();
            }
            SpuriousResponse::Eifel => {
                self.board.unmark_lost();
                self.repair_now = None;
                let acked = self.una - before.una;
                if let Some(saved) = self.undo.as_mut().and_then(|undo| undo.take()) {
                    let in_flight = self.board.in_flight();
                    self.congestion.resume(saved, in_flight, acked);
                }
                if let Some(rtt) = self.timeout.estimator().latest() {
                    self.timeout.on_spurious(rtt);
                }
                self.counters.recoveries_taken_back += 1;
                observer.event(now, Event::RecoveryTakenBack { evidence });
            }
        }
        self.phase = Phase::Open;
        self.on_open();
        observer.event(now, Event::RecoveryExit);
    }
}
