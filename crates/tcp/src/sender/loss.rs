//! From the first sign of a loss to the end of its repair.

use airtcp_units::{Duration, Instant};

use super::{Before, Sender};
use crate::config::{LossDetection, Recovery, Reduction, TimerScope};
use crate::loss_detection::Detected;
use crate::loss_differentiation::{Cause, LossEvent};
use crate::observer::{Event, Observer};
use crate::recovery::proportional_rate::Progress;
use crate::recovery::{FastRecovery, Pace, Phase, ProportionalRate};

impl Sender {
    pub(super) fn on_duplicate(&mut self, now: Instant, observer: &mut impl Observer) {
        let reached = self.duplicates.on_duplicate();
        match &mut self.phase {
            Phase::FastRecovery(recovery) => {
                if !self.choices.sack {
                    recovery.on_duplicate(self.mss);
                }
            }
            Phase::Open if self.rack.is_none() => {
                let fresh =
                    self.choices.sack || self.recover.is_none_or(|recover| self.una > recover);
                if (reached && fresh) || (self.choices.sack && self.front_is_lost()) {
                    self.enter_recovery(now, observer);
                }
            }
            // RFC 6582 §3.2 step 4, RFC 6675 §5.1: not before the timeout is recovered from. With
            // RACK it is time that tells.
            Phase::Open | Phase::Timeout { .. } => {}
        }
    }

    pub(super) fn front_is_lost(&self) -> bool {
        self.board
            .front()
            .is_some_and(|front| front.is_lost() && front.transmissions == 1)
    }

    /// Marks what the last report shows to be lost.
    pub(super) fn detect_by_reports(&mut self) {
        let threshold = self.duplicates.threshold();
        match self.choices.loss_detection {
            LossDetection::DuplicateAcks => {
                self.board.detect_losses(threshold, self.mss);
            }
            LossDetection::ForwardAcknowledgment => {
                let reach = u64::from(threshold) * self.mss;
                let edge = self.board.highest_sacked().saturating_sub(reach);
                self.board.mark_lost_below(edge);
            }
            LossDetection::Rack => {}
        }
    }

    /// Marks what time shows to be lost (RFC 8985 §6.2 step 5). `forced` by the reordering timer.
    pub(super) fn detect_by_time(&mut self, now: Instant, forced: bool) -> Detected {
        let estimator = self.timeout.estimator();
        let (minimum, srtt) = (
            estimator.minimum().unwrap_or(Duration::ZERO),
            estimator.srtt().unwrap_or(Duration::ZERO),
        );
        let Some(rack) = &mut self.rack else {
            return Detected::default();
        };
        let enough = u64::from(rack.reordering()) * self.mss;
        let evident = !matches!(self.phase, Phase::Open) || self.board.sacked() >= enough;
        let window = rack.window(evident, minimum, srtt);
        let detected = rack.detect(now, &mut self.board, window, forced);
        self.lost_in_all += detected.lost;
        if let Some(rate) = &mut self.rate {
            rate.on_lost(detected.lost);
        }
        detected
    }

    /// The reordering window of something is over (RFC 8985 §6.3).
    pub(super) fn on_reordering_timer(&mut self, now: Instant, observer: &mut impl Observer) {
        let before = self.before();
        let detected = self.detect_by_time(now, true);
        if detected.lost > 0 {
            if !matches!(self.phase, Phase::FastRecovery(_)) {
                self.enter_recovery(now, observer);
            }
            self.set_recovery_window(&before, self.mss);
        }
        match detected.wait {
            Some(wait) => self.arm_reordering(now, wait),
            None => self.restart_retransmission_timer(now),
        }
    }

    pub(super) fn enter_recovery(&mut self, now: Instant, observer: &mut impl Observer) {
        let outstanding = self.board.outstanding();
        self.counters.fast_retransmits += 1;
        observer.event(now, Event::FastRetransmit { offset: self.una });
        let cause = self.classify(now, observer);
        self.keep_windows();
        let cwnd = self.congestion.cwnd();
        self.congestion
            .on_loss(outstanding - self.limited.min(outstanding), cause);
        self.recover = Some(self.nxt);
        self.tail_probe = None;
        if self.choices.recovery == Recovery::Tahoe {
            self.congestion.restart();
            self.board.mark_lost_from(self.una);
            self.phase = Phase::Timeout {
                recover: self.nxt,
                tests_new_data: false,
            };
        } else {
            // Time tells which segments are lost, and the first need not be one of them.
            if self.rack.is_none() {
                self.board.mark_lost(0);
            }
            let mut recovery = FastRecovery::enter(
                self.nxt,
                self.duplicates.count(),
                self.mss,
                self.choices.sack,
            );
            recovery.pace = match self.choices.reduction {
                Reduction::AtOnce => Pace::AtOnce,
                Reduction::Proportional => Pace::Proportional(ProportionalRate::new(cwnd)),
                Reduction::RateHalving => Pace::Halving { one: false },
            };
            self.phase = Phase::FastRecovery(recovery);
        }
        self.repair_now = self.rack.is_none().then_some(self.una);
        // The repair has a whole timeout to be acknowledged: the one that runs was set for data
        // sent a round trip ago (RFC 6675 §6 allows it; Linux and ns-2 do it without SACK too).
        if self.choices.scope == TimerScope::Connection {
            self.pending = super::Pending::Retransmission;
            self.deadline = now + self.timeout.rto();
        }
    }

    /// Keeps the windows as they are before a reduction, where it may be taken back.
    pub(super) fn keep_windows(&mut self) {
        let resent = self.board.resent().div_ceil(self.mss);
        if let Some(undo) = &mut self.undo {
            let resent = u32::try_from(resent).unwrap_or(u32::MAX);
            undo.begin(self.una, Some(self.congestion.save()), resent);
        }
    }

    /// Nothing is repaired any more.
    pub(super) fn on_open(&mut self) {
        if let Some(undo) = &mut self.undo {
            undo.on_open();
        }
    }

    /// Asks what the loss was of. The number of losses n is that of the holes below the highest byte
    /// reported (Lien et al. §III.A), one without SACK.
    fn classify(&mut self, now: Instant, observer: &mut impl Observer) -> Option<Cause> {
        let holes = self
            .board
            .highest_sacked()
            .saturating_sub(self.una)
            .saturating_sub(self.board.sacked());
        let lost_segments = u32::try_from(holes.div_ceil(self.mss).max(1)).unwrap_or(u32::MAX);
        let event = LossEvent {
            now,
            lost_segments,
            cwnd: self.congestion.cwnd(),
            mss: self.mss,
            told: self
                .told
                .iter()
                .flat_map(|told| told.iter())
                .find_map(|&(lost, cause)| (lost == self.una).then_some(cause)),
        };
        let classifier = self.classifier.as_mut()?;
        let below_mean = classifier.is_below_mean();
        let cause = classifier.classify(&event);
        observer.event(
            now,
            Event::LossClassified {
                offset: self.una,
                cause,
                lost_segments,
                below_mean,
            },
        );
        Some(cause)
    }

    pub(super) fn exit_recovery(&mut self, now: Instant, observer: &mut impl Observer) {
        let phase = std::mem::take(&mut self.phase);
        if let Phase::FastRecovery(recovery) = phase {
            match recovery.pace {
                // RFC 6582 §3.2 step 3, first case: not more than is in flight and one segment, so
                // that no burst follows a long repair. With SACK the window was ssthresh all along.
                Pace::AtOnce => {
                    if !self.choices.sack {
                        self.congestion
                            .bound(self.board.outstanding().max(self.mss) + self.mss);
                    }
                }
                // RFC 9937 §6: cwnd = ssthresh.
                Pace::Proportional(_) => {
                    if !self.congestion.is_model_based() {
                        self.congestion.settle();
                    }
                }
                Pace::Halving { .. } => self.congestion.bound(self.congestion.ssthresh()),
            }
        }
        if let Some(rack) = &mut self.rack {
            rack.on_recovered();
        }
        self.on_open();
        observer.event(now, Event::RecoveryExit);
    }

    /// Moves the window in a recovery that brings it to the threshold step by step, when `delivered`
    /// more bytes have arrived.
    #[inline]
    pub(super) fn set_recovery_window(&mut self, before: &Before, delivered: u64) {
        let in_flight = self.board.in_flight();
        let Phase::FastRecovery(recovery) = &mut self.phase else {
            return;
        };
        // Without SACK, duplicates stand for what has left the network.
        let in_flight = in_flight.saturating_sub(recovery.inflation);
        let ssthresh = self.congestion.ssthresh();
        match &mut recovery.pace {
            Pace::AtOnce => {}
            Pace::Proportional(rate) => {
                if delivered > 0 {
                    let progress = Progress {
                        delivered,
                        in_flight,
                        safe: self.una > before.una && self.lost_in_all == before.lost_in_all,
                    };
                    let cwnd = rate.on_acknowledged(&progress, ssthresh, self.mss);
                    self.congestion.set_cwnd(cwnd);
                }
            }
            Pace::Halving { one } => {
                let mut cwnd = self.congestion.cwnd();
                if std::mem::replace(one, !*one) && cwnd > ssthresh / 2 {
                    cwnd -= self.mss;
                }
                self.congestion.set_cwnd(cwnd.min(in_flight + self.mss));
            }
        }
    }
}
